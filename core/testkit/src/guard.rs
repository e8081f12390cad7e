//! Bytes around a buffer that nothing may touch.

const GUARD: usize = 32;
const MARK: u8 = 0xA5;

/// Calls `fill` on `len` bytes between guard bytes and returns the bytes that it says it wrote.
///
/// # Errors
/// Errors of `fill`.
///
/// # Panics
/// If a guard byte was written to.
pub fn guarded<E>(len: usize, fill: impl FnOnce(&mut [u8]) -> Result<usize, E>) -> Result<Vec<u8>, E> {
    let mut memory = vec![MARK; len + 2 * GUARD];
    let wrote = fill(&mut memory[GUARD..GUARD + len]);
    assert!(memory[..GUARD].iter().chain(&memory[GUARD + len..]).all(|&b| b == MARK), "wrote outside");
    wrote.map(|n| memory[GUARD..GUARD + n].to_vec())
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_was_written_comes_back() {
        let fill = |out: &mut [u8]| {
            out.fill(7);
            Ok::<_, ()>(3)
        };
        assert_eq!(super::guarded(5, fill), Ok(vec![7; 3]));
        assert_eq!(super::guarded(5, |_| Err("no")), Err("no"));
    }
}

//! The function that libFuzzer calls in place of its own mutations, if a program has it.

use crate::mutate;
use arbitrary::Unstructured;

/// Changes the `size` bytes at `data` as `seed` says, and returns how many there are then, at most `max_size`.
///
/// # Safety
/// `data` points to `max_size` bytes that may be written, of which the first `size`, no more than these, may be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn LLVMFuzzerCustomMutator(
    data: *mut u8,
    size: usize,
    max_size: usize,
    seed: u32,
) -> usize {
    if data.is_null() || size > max_size {
        return 0;
    }
    // SAFETY: the lines above and the caller's promise: `max_size` bytes that nothing else uses, `size` of them written.
    let mut input = unsafe { core::slice::from_raw_parts(data, size) }.to_vec();
    // Choices that differ for each seed; multiplication by an odd number spreads its bits.
    let mut state = u64::from(seed) << 1 | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    };
    let choices: Vec<u8> = (0..512).map(|_| next()).collect();
    // Where the choices do not suffice, some of the changes have been made.
    let _ = mutate(&mut Unstructured::new(&choices), &mut input);
    input.truncate(max_size);
    // SAFETY: `input` has at most `max_size` bytes, by the line above, and is memory of its own.
    unsafe { core::ptr::copy_nonoverlapping(input.as_ptr(), data, input.len()) };
    input.len()
}

//! How many cases a test runs.
//!
//! | environment | meaning |
//! |---|---|
//! | `BLOSC_LONG=1` | the full counts, everywhere |
//! | `BLOSC_TENTH=1` | a tenth of what `cargo test` runs, as `.ci/run` does |
//! | `BLOSC_EMULATED=1` | an emulator, 10 to 30 times slower: what does not depend on the CPU is left out |

fn set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| value == "1")
}

/// Whether the full counts were asked for.
pub fn long() -> bool {
    set("BLOSC_LONG")
}

/// Whether tests leave out what does not depend on the CPU. `BLOSC_LONG` runs it there too.
pub fn emulated() -> bool {
    set("BLOSC_EMULATED") && !long()
}

/// How many of `full` cases run: all under `BLOSC_LONG`, a tenth otherwise, a hundredth under `BLOSC_TENTH`; one at least.
pub fn count(full: usize) -> usize {
    let divisor = match () {
        () if long() => 1,
        () if set("BLOSC_TENTH") => 100,
        () => 10,
    };
    (full / divisor).max(1)
}

/// `long` cases under `BLOSC_LONG`, a tenth of `short` under `BLOSC_TENTH`, otherwise `short`.
pub fn of_short(short: usize, long_run: usize) -> usize {
    match () {
        () if long() => long_run,
        () if set("BLOSC_TENTH") => short.div_ceil(10),
        () => short,
    }
}

//! [`Level`]: proof that this CPU, and its operating system, can run an instruction set.

pub(in crate::arch) mod detect;
mod isa;

pub(in crate::arch) use isa::ElementRegisters;
pub use isa::{Isa, UnknownIsa};

/// Proof that kernels of one [`Isa`] may run here. Passed by value to every operation.
///
/// ```
/// use blosc_core::{Isa, Level};
/// assert!(Level::available().any(|level| level == Level::best()));
/// assert_eq!(Level::new(Isa::Scalar), Some(Level::SCALAR));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level(Isa);

impl Level {
    /// No instruction set beyond the target's own: what an operating system kernel, which is compiled for a target without
    /// vector registers, uses before, or instead of, saving them.
    pub const SCALAR: Level = Level(Isa::Scalar);

    /// The best level of this machine, detected once and cached.
    pub fn best() -> Level {
        Level(detect::best())
    }

    /// What an operation may use that was not told: on hosts all that there is, else nothing that an operating system
    /// kernel does not save.
    pub(crate) fn usual() -> Level {
        if cfg!(feature = "std") { Level::best() } else { Level::SCALAR }
    }

    /// Every level this machine can run, slowest first.
    pub fn available() -> impl Iterator<Item = Level> {
        let best = detect::best();
        Isa::ALL.into_iter().filter(move |&isa| best.implies(isa)).map(Level)
    }

    /// The level for `isa`, if this machine can run it.
    pub fn new(isa: Isa) -> Option<Level> {
        detect::best().implies(isa).then_some(Level(isa))
    }

    /// The level for `isa`, unchecked.
    ///
    /// # Safety
    /// The CPU must implement `isa` and its vector registers must be enabled and saved.
    pub const unsafe fn assume(isa: Isa) -> Level {
        Level(isa)
    }

    /// Which instruction set this is.
    pub const fn isa(self) -> Isa {
        self.0
    }
}

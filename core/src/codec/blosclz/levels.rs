//! What each level of BloscLZ does. How the numbers were chosen: docs/optimization-notes.md, "Encoders".

/// What the probe asks of a stream before it is searched.
pub(super) struct Probe {
    /// The probe looks at the last `1 / divisor` of the stream.
    pub(super) divisor: usize,
    /// Bytes from the start of that region which it reads at most.
    pub(super) most: usize,
    /// Hundredths: how many times as long as its estimated output the region must be.
    pub(super) percent: usize,
    /// Its step grows by one every `1 << patience` positions without a match.
    pub(super) patience: u32,
}

/// The bytes that must be equal for the search to find a match.
#[derive(Clone, Copy)]
pub(super) enum StringLength {
    Five,
    Six,
}

/// One row of the table.
pub(super) struct Parameters {
    pub(super) probe: Probe,
    /// First step in bytes of the skim that encodes a stream which the probe refuses.
    pub(super) skim_step: usize,
    pub(super) string: StringLength,
    /// The search's step grows by one every `1 << patience` positions without a match.
    pub(super) patience: u32,
}

/// The first level that skims every stream which its probe refuses. A lower level skims those that a level below it encodes,
/// so that no level stores what a lower one encodes, and stores the others: the reference refuses them in less time than a
/// skim takes (docs/optimization-notes.md#blosclz-skims-all).
pub(super) const SKIMS_ALL: u8 = 4;

/// The parameters of `level`; 0 counts as 1, and what is above 9 as 9.
pub(super) fn of(level: u8) -> Parameters {
    use StringLength::{Five, Six};
    const KIB: usize = 1 << 10;
    // | column | levels | why this value | row of docs/optimization-notes.md |
    // |---|---|---|---|
    // | `percent` | all | the reference's (docs/formats/chunk.md §4.3) less 1 to 3: the estimate is rough | #blosclz-probes |
    // | probe's patience | 2, 3 | what they refuse is stored: 6 for 8 makes shuffled ones .4 % larger | #blosclz-asks |
    // | | 4 to 7 | they are skimmed, and shrink nearly as far: 6 for 5 is a tenth slower | #blosclz-asks |
    // | `skim_step` | 5 to 9 | 8 for 16: bitshuffled chunks 1 % smaller, 5 % slower | #blosclz-skim-step |
    // | `string` | all | longer strings: fewer short matches, faster both ways | #blosclz-patience |
    // | `patience` | 1 to 5 | 7 for 6: .2 % smaller, a tenth slower | #blosclz-patience |
    let (divisor, most, percent, probe_patience, skim_step, string, patience) = match level {
        0 | 1 => (8, 4 * KIB, 198, 6, 16, Six, 6),
        2 => (4, 8 * KIB, 148, 8, 16, Six, 6),
        3 => (4, 16 * KIB, 119, 8, 16, Six, 6),
        4 | 5 => (2, 16 * KIB, 119, 5, 16, Six, 6),
        6 => (2, 16 * KIB, 119, 5, 16, Five, 6),
        7 => (1, 16 * KIB, 114, 5, 8, Five, 6),
        8 => (1, 16 * KIB, 109, 6, 8, Five, 7),
        _ => (1, 16 * KIB, 97, 6, 8, Five, 7),
    };
    let probe = Probe { divisor, most, percent, patience: probe_patience };
    Parameters { probe, skim_step, string, patience }
}

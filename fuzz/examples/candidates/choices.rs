//! Choices from which the targets of altered containers make some with large chunks.

use crate::Out;

/// Choices that make containers with chunks so large that a reader of a file takes only some of their blocks: see
/// `shaped.rs`, which takes a byte for each.
pub fn choices(out: &Out) {
    let mut noise = (1u32..).map(|k| (k.wrapping_mul(0x9E37_79B9) >> 23) as u8);
    for codec in [0, 1, 4] {
        for (typesize, level, filter) in
            (0..6).flat_map(|t| (0..2).flat_map(move |l| (0..3).map(move |f| (t, l, f))))
        {
            let params = [codec, typesize, level, filter];
            let large = [205, 1, 0, 0, 1, 3, 9, 0];
            // One number of the header changed by nothing, all lengths right; then any changes.
            let same = [0, 0, 3, 1, 0, 3, 1, 1];
            let name = |kind| format!("{kind}-{codec}-{typesize}-{level}-{filter}");
            for target in ["frame_mutated", "sframe_mutated"] {
                let which: &[u8] = if target == "sframe_mutated" { &[1] } else { &[] };
                out.keep(target, &name("large"), &[&params[..], &large, which, &same].concat());
                for kind in ["odd", "odder"] {
                    let odd: Vec<u8> = noise.by_ref().take(14).collect();
                    out.keep(target, &name(kind), &[&params[..], &large, &[0], &odd].concat());
                }
            }
            for (dtype, sides) in [(0, &[1, 10][..]), (2, &[1, 10]), (2, &[2, 10, 10]), (1, &[3, 10, 5, 10])]
            {
                let same = [3, 9, 0, 3, 20, 1, 0, 3, 1, 1];
                let name = format!("{}-{}-{dtype}", name("large"), sides.len());
                out.keep("b2nd_mutated", &name, &[sides, &[dtype], &params[..], &same].concat());
            }
        }
    }
}

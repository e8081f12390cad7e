//! Who does the work: this library at each of its levels, and everybody it is compared with.

use blosc_core::{Isa, Level};

/// The levels a user asked for by name, of those this machine runs.
///
/// # Errors
/// A name that no level has, or a level this machine cannot run.
pub fn levels(names: &[String]) -> Result<Vec<Level>, String> {
    let all: Vec<Level> = Level::available().collect();
    if names.is_empty() || names.iter().any(|n| n == "all") {
        return Ok(all);
    }
    let mut chosen = Vec::new();
    for name in names {
        let name = if name == "gfni" { "avx2-gfni" } else { name.as_str() };
        let isa = Isa::from_name(name).ok_or_else(|| {
            let known: Vec<&str> = Isa::ALL.iter().map(|i| i.name()).collect();
            format!("--isa {name}: unknown; known are {} and all", known.join(" "))
        })?;
        let level = Level::new(isa).ok_or_else(|| {
            let here: Vec<&str> = all.iter().map(|l| l.isa().name()).collect();
            format!("--isa {name}: this CPU runs only {}", here.join(" "))
        })?;
        chosen.push(level);
    }
    Ok(chosen)
}

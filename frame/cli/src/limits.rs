//! How much a command may decode to: `--max-output`.

use crate::failure::{Failure, Result};
use blosc_frame::Limits;
use std::path::Path;

/// Limits for decoding to at most `max_output` bytes; what `--max-output none` gives lifts the others, too.
pub fn limits(max_output: u64) -> Limits {
    if max_output == u64::MAX {
        return Limits::NONE;
    }
    // However small the file is, and however large.
    let mut limits = Limits::default().output(max_output).memory(max_output).expansion(0);
    limits.chunk.output = limits.chunk.output.min(max_output);
    limits
}

/// Refuses to decode more than `--max-output` allows.
pub fn check_output(path: &Path, nbytes: u64, limit: u64) -> Result<()> {
    if nbytes > limit {
        let text = format!("decodes to {nbytes} bytes, above the limit of {limit} (--max-output BYTES)");
        return Err(Failure::Unable(format!("{}: {text}", path.display())));
    }
    Ok(())
}

/// The default of `--max-output` for data that takes `stored` bytes: 1 GiB, or 256 times the data if that is more;
/// never what `none` stands for.
pub fn max_by_size(stored: u64) -> u64 {
    stored.saturating_mul(256).clamp(1 << 30, u64::MAX - 1)
}

/// The limits for what lies at `path`: what `--max-output` says, or what follows from the space it takes.
pub fn limits_of(max_output: Option<u64>, path: &Path) -> Limits {
    limits(max_output.unwrap_or_else(|| max_by_size(size(path))))
}

/// Bytes that a file takes, or the files in a directory.
pub fn size(path: &Path) -> u64 {
    if !path.is_dir() {
        return std::fs::metadata(path).map_or(0, |m| m.len());
    }
    let Ok(entries) = std::fs::read_dir(path) else { return 0 };
    let of = |entry: std::fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => size(&entry.path()),
        Ok(kind) if kind.is_file() => entry.metadata().map_or(0, |m| m.len()),
        _ => 0,
    };
    entries.flatten().map(of).sum()
}

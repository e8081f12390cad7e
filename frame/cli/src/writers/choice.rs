//! What an output is to be: the one function that decides it, from its name and the options, before anything is touched.
//!
//! ```text
//! writable(verb, holds)    what the verb writes of such an input; the first is the default
//! name                     an extension that is known is a promise: written as such, or refused
//! --format                 says it for names without one, and must agree with those that have one
//! options                  each has the formats it applies to; another format is an error
//! ```

use crate::args::{Explicit, Format};
use crate::failure::{Failure, Result};
use crate::opened::Holds;
use crate::output::notice;
use clap::ValueEnum;
use std::path::Path;

/// The command that writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Compress,
    Convert,
    /// `decompress` and `slice`.
    Decompress,
    Repair,
}

use Format::{
    Arrays, Arrow, B2d, B2e, B2frame, B2nd, B2z, Bcolz, Blaze, Bloscpack, Chunk, Csv, Jsonl, Npy, Npz, Plain,
    Sframe,
};

/// What a verb writes of an input, the default first.
fn writable(verb: Verb, holds: Holds) -> &'static [Format] {
    match (verb, holds) {
        (Verb::Compress, Holds::Bytes) => &[B2frame, Chunk, Sframe, Bloscpack, Bcolz, Blaze],
        (Verb::Compress, Holds::Array) => &[B2nd, Bloscpack, Bcolz, Blaze, B2z, B2d, B2e],
        (Verb::Compress, Holds::Table) => &[B2d, B2z, B2e],
        (Verb::Compress, _) => &[Arrays, B2d, B2z, B2e],
        (Verb::Convert, Holds::Array) => {
            &[B2nd, B2frame, Sframe, Bloscpack, Bcolz, Blaze, Npy, Npz, B2z, B2d, B2e]
        }
        (Verb::Convert, Holds::Table) => &[Npz, Csv, Jsonl, Arrow, B2d, B2z, B2e],
        (Verb::Convert, Holds::Arrays) => &[Arrays, B2d, B2z, B2e],
        (Verb::Decompress, Holds::Table) => &[Npz, Csv, Jsonl, Arrow],
        (Verb::Convert, Holds::Records) => &[B2frame, Sframe, Bloscpack, Bcolz, Blaze, B2nd, Jsonl, Arrow],
        (Verb::Decompress, Holds::Records) => &[Plain, Jsonl, Arrow],
        (Verb::Convert, _) => &[B2frame, Sframe, Bloscpack, Bcolz, Blaze, B2nd],
        (Verb::Decompress, Holds::Bytes) => &[Plain],
        (Verb::Decompress, Holds::Array) => &[Plain, Npy, Npz, Csv],
        (Verb::Decompress, Holds::Arrays) => &[Npz],
        (Verb::Repair, _) => &[B2frame, B2nd, Sframe],
    }
}

/// What an extension promises.
pub const EXTENSIONS: [(&str, Format); 16] = [
    ("b2nd", B2nd),
    ("b2frame", B2frame),
    ("b2f", B2frame),
    ("chunk", Chunk),
    ("cdata", Chunk),
    ("blp", Bloscpack),
    ("npy", Npy),
    ("npz", Npz),
    ("b2z", B2z),
    ("b2d", B2d),
    ("b2e", B2e),
    ("sframe", Sframe),
    ("bcolz", Bcolz),
    ("csv", Csv),
    ("jsonl", Jsonl),
    ("arrow", Arrow),
];

/// Extensions of what others write: a Blosc file under such a name would be taken for theirs.
const FOREIGN: [&str; 23] = [
    "7z", "arrow", "b2b", "bz2", "csv", "feather", "gz", "h5", "hdf5", "json", "jsonl", "lz4", "nc",
    "parquet", "tar", "tgz", "tsv", "txt", "xz", "zarr", "zip", "zst", "zstd",
];

/// What is asked for.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    pub verb: Verb,
    pub holds: Holds,
    /// The output's name.
    pub name: &'a Path,
    /// `--format`.
    pub format: Option<Format>,
}

impl Request<'_> {
    /// The format to write.
    ///
    /// # Errors
    /// A name or `--format` that promises what this verb cannot write of this input.
    pub fn format(&self) -> Result<Format> {
        let extension = self.name.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
        let promised = EXTENSIONS.iter().find(|(name, _)| *name == extension).map(|(_, format)| *format);
        // Bytes are not written as text, but decoded bytes may be a text file.
        let rows = matches!(self.holds, Holds::Table | Holds::Records);
        let items = (self.verb, self.holds) == (Verb::Decompress, Holds::Array);
        let promised = promised
            .filter(|format| rows || (items && *format == Csv) || !matches!(format, Csv | Jsonl | Arrow));
        let writable = writable(self.verb, self.holds);
        if let (Some(asked), Some(promised)) = (self.format, promised)
            && asked != promised
            && !matches!((asked, promised), (Sframe, B2frame))
        {
            let text = format!(
                "--format {} under a name that ends in .{extension}: the two contradict",
                name(asked)
            );
            return Err(self.refuse(&text));
        }
        let format = match self.format.or(promised) {
            Some(format) => format,
            None => self.default(&extension, writable)?,
        };
        if writable.contains(&format) {
            return Ok(format);
        }
        Err(self.refuse(&self.why(format)))
    }

    /// The format for a name that promises none.
    fn default(&self, extension: &str, writable: &[Format]) -> Result<Format> {
        let first = writable.first().copied().unwrap_or(Plain);
        match self.verb {
            // Decoded bytes may be a file of any kind; items of an array are none but NumPy's.
            Verb::Decompress if matches!(self.holds, Holds::Bytes | Holds::Records) => return Ok(Plain),
            Verb::Decompress if self.holds == Holds::Table => {
                let text = "a table: name a .csv, .jsonl, .arrow or .npz file, or say which by --format";
                return Err(Failure::Data(format!("-o {}: the input is {text}", self.name.display())));
            }
            Verb::Decompress if self.holds == Holds::Arrays => {
                let text = "a store of several arrays: `blosc ls` lists them; name one of them, or a .npz file for all";
                return Err(Failure::Data(format!("-o {}: the input is {text}", self.name.display())));
            }
            Verb::Convert if self.holds == Holds::Arrays && extension.is_empty() => return Ok(Arrays),
            Verb::Convert if self.holds != Holds::Array || extension.is_empty() => {
                let text = "say by --format or by the output's name what to convert this to";
                return Err(self.refuse(text));
            }
            _ => {}
        }
        let plain = match self.verb {
            Verb::Decompress => "; --plain writes the items' bytes under that name",
            _ => "",
        };
        if FOREIGN.contains(&extension) {
            return Err(self.refuse(&format!(".{extension} files are not written here{plain}")));
        }
        let near = EXTENSIONS.iter().filter(|(name, _)| is_near(extension, name));
        let near: Vec<String> = near.map(|(name, _)| format!(".{name}")).collect();
        if near.is_empty() {
            return Ok(first);
        }
        let near = near.join(" or ");
        Err(self.refuse(&format!("no kind of file is called .{extension}; did you mean {near}?{plain}")))
    }

    /// Why the format cannot be written.
    fn why(&self, format: Format) -> String {
        let what = match self.holds {
            Holds::Bytes => "plain bytes, without dtype and shape",
            Holds::Array => "an array",
            Holds::Arrays => "several arrays",
            Holds::Table => "a table",
            Holds::Records => "values of their own lengths",
        };
        let hint = match (self.verb, self.holds, format) {
            (Verb::Compress, _, Npy | Npz) => {
                let plain = name(format);
                return format!(".{plain} files are not compressed; decompress and convert write them");
            }
            (Verb::Compress, Holds::Array, Chunk | B2frame | Sframe) => {
                "; --plain compresses the file's bytes as they are"
            }
            (Verb::Compress, Holds::Bytes, _) => "; --dtype and --shape make an array of them",
            (Verb::Repair, ..) => return format!("repair writes frames and arrays, not {}", name(format)),
            (Verb::Convert, _, Chunk) => "; a bare chunk is no container: use compress",
            (Verb::Decompress, Holds::Bytes, Npy | Npz) => {
                "; a .npy or .npz file holds arrays. --plain writes the bytes under that name all the same"
            }
            (Verb::Decompress, _, _) => "; convert writes Blosc files. --plain writes bytes under that name",
            _ => "",
        };
        format!("the input is {what}, of which {} is not written{hint}", name(format))
    }

    /// The refusal, with what can be written instead.
    fn refuse(&self, why: &str) -> Failure {
        let shown = |format: &Format| match EXTENSIONS.iter().find(|(_, f)| f == format) {
            Some((extension, _)) => format!(".{extension}"),
            None => format!("--format {}", name(*format)),
        };
        let can = writable(self.verb, self.holds).iter().filter(|f| !matches!(f, Plain | Arrays));
        let can = can.map(shown).collect::<Vec<_>>().join(", ");
        let can = if can.is_empty() { String::new() } else { format!(" (it can be {can})") };
        Failure::Usage(format!("-o {}: {why}{can}", self.name.display()))
    }
}

/// What `--format` calls it.
pub fn name(format: Format) -> String {
    match format {
        Plain => "plain bytes".into(),
        Arrays => "a directory of arrays".into(),
        _ => format.to_possible_value().map_or_else(String::new, |value| value.get_name().to_string()),
    }
}

/// Whether `text` is `name` with one letter wrong, missing, added or swapped.
pub fn is_near(text: &str, name: &str) -> bool {
    let (a, b) = (text.as_bytes(), name.as_bytes());
    if a.len() < 2 || a.len().abs_diff(b.len()) > 1 {
        return false;
    }
    let same = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[same..], &b[same..]);
    let rest = |s: &[u8], n: usize| s.get(n..).unwrap_or_default().to_vec();
    let swapped = a.len() >= 2 && b.len() >= 2 && a[0] == b[1] && a[1] == b[0] && rest(a, 2) == rest(b, 2);
    rest(a, 1) == rest(b, 1) || rest(a, 1) == b || a == rest(b, 1) || swapped
}

/// Refuses options that do not apply to the format that is written.
///
/// # Errors
/// The first option given that says nothing about this format.
pub fn check_options(given: &Explicit, holds: Holds, format: Format) -> Result<()> {
    for option in given.iter() {
        let Some((_, formats)) = APPLIES.iter().find(|(name, _)| *name == option) else { continue };
        let of_bytes = matches!(option, "typesize") && holds != Holds::Bytes;
        if formats.contains(&format) && !of_bytes && holds != Holds::Table {
            continue;
        }
        let shown = option.replace('_', "-");
        if holds == Holds::Table {
            return Err(Failure::Usage(format!("--{shown}: does not apply to the columns of a table")));
        }
        let where_ = match (option, format) {
            ("chunksize", B2nd | B2z | B2d | B2e | Arrays) => {
                "an array's chunks are given by --chunks".to_string()
            }
            ("blocksize", B2nd | B2z | B2d | B2e | Arrays) => {
                "an array's blocks are given by --blocks".to_string()
            }
            ("chunksize", Chunk) => "a bare chunk is as large as its input; use a frame".to_string(),
            ("typesize", _) if of_bytes => "the dtype says it".to_string(),
            ("dtype" | "shape", _) if holds == Holds::Array && !formats.contains(&format) => {
                "only arrays, bloscpack, bcolz and Blaze keep it".to_string()
            }
            _ => {
                let names: Vec<String> = formats.iter().filter(|f| **f != Arrays).map(|f| name(*f)).collect();
                format!("it applies to {} only", names.join(", "))
            }
        };
        return Err(Failure::Usage(format!("--{shown}: does not apply to {}: {where_}", name(format))));
    }
    Ok(())
}

/// Refuses options that say how items are compressed where a store is copied as it is.
///
/// # Errors
/// The first such option that was given.
pub fn none_apply(given: &Explicit) -> Result<()> {
    match given.iter().find(|option| APPLIES.iter().any(|(name, _)| name == option)) {
        None => Ok(()),
        Some(option) => {
            let shown = option.replace('_', "-");
            let how = "what lies in a store is copied as it is; convert one leaf, as STORE:/KEY";
            Err(Failure::Usage(format!("--{shown}: {how}")))
        }
    }
}

/// Refuses `--partial` where the output holds all that the input can have.
///
/// # Errors
/// The option, if it was given.
pub fn nothing_left_out(partial: bool, format: Format) -> Result<()> {
    match partial {
        true => {
            let text = format!("--partial: nothing has to be left out of {} here", name(format));
            Err(Failure::Usage(text))
        }
        false => Ok(()),
    }
}

/// Refuses a `--chunksize` that no chunk of the format can have.
///
/// # Errors
/// The option, with the largest size there is.
pub fn check_chunksize(size: Option<u64>, format: Format) -> Result<()> {
    let most: u64 = match format {
        B2frame | Sframe => blosc_frame::b2nd::MAX_CHUNK_BYTES.into(),
        _ => MAX_BLOSC1,
    };
    match size {
        Some(size) if size > most => Err(Failure::Usage(format!("--chunksize {size}: at most {most} bytes"))),
        _ => Ok(()),
    }
}

/// Most bytes that a chunk of Blosc1 decodes to.
const MAX_BLOSC1: u64 = i32::MAX as u64 - 16;

const PACKED: &[Format] = &[Chunk, B2frame, Sframe, B2nd, Bloscpack, Bcolz, Blaze, B2z, B2d, B2e, Arrays];
const BLOSC2: &[Format] = &[Chunk, B2frame, Sframe, B2nd, B2z, B2d, B2e, Arrays];
const ND: &[Format] = &[B2nd, B2z, B2d, B2e, Arrays];

/// The options that depend on the format, and the formats that each applies to.
const APPLIES: [(&str, &[Format]); 23] = [
    ("codec", PACKED),
    ("level", PACKED),
    ("filters", PACKED),
    ("codec_meta", BLOSC2),
    ("dict", BLOSC2),
    ("split", &[Chunk, B2frame, Sframe, B2nd, Bloscpack, B2z, B2d, B2e, Arrays]),
    ("typesize", &[Chunk, B2frame, Sframe, Bloscpack]),
    ("blocksize", &[Chunk, B2frame, Sframe, Bloscpack]),
    ("chunksize", &[B2frame, Sframe, Bloscpack, Bcolz, Blaze]),
    ("no_checksum", &[B2frame, Sframe, B2nd, B2z, B2d, B2e, Arrays]),
    ("blosc1", &[Chunk, Bloscpack, Bcolz, Blaze]),
    ("dtype", &[B2nd, Bloscpack, Bcolz, Blaze, B2z, B2d, B2e]),
    ("shape", &[B2nd, Bloscpack, Bcolz, Blaze, B2z, B2d, B2e]),
    ("chunks", ND),
    ("blocks", ND),
    ("sparse", &[B2nd, Arrays]),
    ("layout", &[Bloscpack]),
    ("checksum", &[Bloscpack]),
    ("no_offsets", &[Bloscpack]),
    ("max_app", &[Bloscpack]),
    ("reserve", &[Bloscpack, Bcolz, Blaze]),
    ("superchunk", &[Blaze]),
    ("meta", &[Blaze]),
];

/// Refuses an output that cannot hold all there is, unless `--partial` was given; then says what is left out.
pub fn check_partial(output: &Path, left_out: &[String], partial: bool) -> Result<()> {
    if left_out.is_empty() {
        return Ok(());
    }
    if partial {
        for what in left_out {
            notice(format_args!("not kept: {what}"));
        }
        return Ok(());
    }
    let what = left_out.join("; ");
    Err(Failure::at(
        output,
        format_args!("cannot hold all there is (--partial leaves it out): not kept: {what}"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_has_a_verb_that_writes_it() {
        let verbs = [Verb::Compress, Verb::Convert, Verb::Decompress];
        let holds = [Holds::Bytes, Holds::Array, Holds::Arrays, Holds::Table, Holds::Records];
        for format in Format::value_variants() {
            let written = verbs.iter().any(|v| holds.iter().any(|h| writable(*v, *h).contains(format)));
            assert!(written, "{format:?}");
        }
    }
}

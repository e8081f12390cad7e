//! Candidates for seeds that take the library to write: containers of every kind, whole and with something odd in
//! them.
//!
//! ```text
//! cargo run --example candidates --no-default-features FOLDER     # FOLDER/TARGET/NAME
//! ```
//! `minimise` runs it, and picks.

mod arrays;
mod choices;
mod chunks;
mod columns;
mod datasets;
mod frames;
mod headers;
mod packs;

use blosc_frame::Error;
use blosc_frame::b2nd::Dtype;
use blosc_frame::io::{Directory, MemDir};
use std::path::PathBuf;
use std::{env, fs};

type Files = Vec<(String, Vec<u8>)>;

struct Out(PathBuf);

impl Out {
    fn keep(&self, target: &str, name: &str, content: &[u8]) {
        let folder = self.0.join(target);
        fs::create_dir_all(&folder).expect("a folder for candidates");
        fs::write(folder.join(name), content).expect("a folder for candidates");
    }

    /// A directory, for the target that reads such and for the one that has them on a disk.
    fn tree(&self, target: Option<&str>, name: &str, files: &Files) {
        let packed: Vec<u8> = files.iter().flat_map(|(name, content)| file(name, content)).collect();
        if let Some(target) = target {
            self.keep(target, name, &packed);
        }
        // Two edits each: rows, where, room, kind.
        for (k, kinds) in [(0, 1), (2, 3), (4, 5), (6, 3), (3, 0)].into_iter().enumerate() {
            let choices = [5, k as u8, 1, kinds.0, 2, 1, 0, kinds.1];
            self.keep("any_path", &format!("{name}-{k}"), &[&choices[..], &packed].concat());
        }
    }
}

/// A file as `frames::files` reads it.
fn file(name: &str, content: &[u8]) -> Vec<u8> {
    let len = u16::try_from(content.len()).expect("a small file").to_le_bytes();
    [&[name.len() as u8], name.as_bytes(), &len, content].concat()
}

/// What lies in a tree laid flat.
fn files(dir: &MemDir) -> Files {
    let names = dir.list().expect("a directory in memory");
    let files = names.into_iter().filter(|name| !name.ends_with('!'));
    files.map(|name| (name.replace('!', "/"), dir.get(&name).expect("a file that is listed"))).collect()
}

fn dtype(text: &str) -> Dtype {
    Dtype::parse(text).expect("a dtype")
}

/// Bytes that compress in part.
fn data(len: usize) -> Vec<u8> {
    (0..len as u32).map(|k| if k % 2 == 0 { (k.wrapping_mul(0x9E37_79B9) >> 21) as u8 } else { 0 }).collect()
}

fn main() -> Result<(), Error> {
    let out = Out(env::args_os().nth(1).map(PathBuf::from).expect("a folder"));
    frames::frames(&out)?;
    arrays::arrays(&out)?;
    packs::packs(&out)?;
    columns::columns(&out)?;
    datasets::datasets(&out)?;
    headers::headers(&out)?;
    chunks::chunks(&out);
    choices::choices(&out);
    Ok(())
}

/// Files with a piece of text in some of them replaced.
fn altered(files: &Files, from: &str, to: &str) -> Files {
    let change = |content: &[u8]| match std::str::from_utf8(content) {
        Ok(text) => text.replace(from, to).into_bytes(),
        Err(_) => content.to_vec(),
    };
    files.iter().map(|(name, content)| (name.clone(), change(content))).collect()
}

/// Files with one of them replaced or added.
fn with(files: &Files, name: &str, content: &[u8]) -> Files {
    let others = files.iter().filter(|(other, _)| other != name).cloned();
    others.chain([(name.to_string(), content.to_vec())]).collect()
}

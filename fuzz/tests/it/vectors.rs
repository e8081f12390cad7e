//! Every vector is read as its manifest says, from memory or from files, and the manifest keeps to its schema.

#[path = "../../vectors/run.rs"]
mod run;

use blosc_core::{Chunk, Pool};
use blosc_frame::any::open_any_at;
use blosc_frame::bloscpack::Bloscpack;
use blosc_frame::io::PathFile;
use blosc_frame::plain::Plain;
use blosc_frame::{Error, Limits};
use blosc_testkit::Folder;
use std::path::Path;

/// Most bytes that a file may decode to.
const MOST: u64 = 1 << 28;

/// A chunk in a file, decoded.
fn chunk(path: &Path) -> Result<Vec<u8>, String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let limits = blosc_core::Limits::default().output(MOST);
    let chunk = Chunk::parse_with(&bytes, &limits).map_err(|error| error.to_string())?;
    Pool::new(1).decompress(&chunk).map_err(|error| error.to_string())
}

/// Whatever lies at a path, decoded.
fn container(format: &str, path: &Path, offset: u64) -> Result<Vec<u8>, Error> {
    let limits = Limits::default().output(MOST);
    if format == "bloscpack" {
        // The manifest tells of the bytes as they are stored, which are those of a Fortran array for one file.
        return whole(&Bloscpack::open(PathFile::open(path)?, &limits)?);
    }
    let opened = open_any_at(path, offset, &limits)?;
    if format == "b2nd" && opened.about.shape.is_none() {
        return Err(Error::NoSuchName { what: "metalayer as b2nd" });
    }
    whole(&*opened.data)
}

/// All bytes of a container.
fn whole(data: &(impl Plain + ?Sized)) -> Result<Vec<u8>, Error> {
    let nbytes = data.nbytes();
    if nbytes > MOST {
        return Err(Error::Limit { what: "bytes of output", asked: nbytes, limit: MOST });
    }
    let mut out = vec![0; nbytes as usize];
    data.read_plain(&mut Pool::new(1), 0, &mut out)?;
    Ok(out)
}

#[test]
fn every_vector_is_read_as_the_manifest_says() {
    if blosc_testkit::emulated() {
        println!("SKIPPED: the vectors, for an emulator takes minutes to read them");
        return;
    }
    let (folder, scratch) = (blosc_fuzz::folder().join("vectors"), Folder::new("vectors"));
    let (count, wrong) = run::run(&folder, scratch.root(), &mut |format, path, offset| {
        Some(match format {
            "chunk1" | "chunk2" => chunk(path),
            _ => container(format, path, offset).map_err(|error| error.to_string()),
        })
    });
    println!("{count} vectors");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 1000, "only {count} vectors");
}

#[test]
fn the_manifest_keeps_to_its_schema() {
    let folder = blosc_fuzz::folder().join("vectors");
    let json = |name: &str| -> serde_json::Value {
        serde_json::from_slice(&std::fs::read(folder.join(name)).expect(name)).expect(name)
    };
    let (schema, manifest) = (json("schema.json"), json("manifest.json"));
    let properties = schema["items"]["properties"].as_object().expect("properties");
    let required = schema["items"]["required"].as_array().expect("required fields");
    let mut seen = std::collections::BTreeSet::new();
    for entry in manifest.as_array().expect("a list") {
        let fields = entry.as_object().expect("an object");
        let name = format!("{} {}", entry["archive"], entry["file"]);
        assert!(seen.insert(name.clone()), "{name} is listed twice");
        for field in required {
            assert!(fields.contains_key(field.as_str().unwrap()), "{name} has no {field}");
        }
        for (field, value) in fields {
            let property =
                properties.get(field).unwrap_or_else(|| panic!("{name}: {field} is not in the schema"));
            let choices = property["enum"].as_array();
            assert!(choices.is_none_or(|choices| choices.contains(value)), "{name}: {field} is {value}");
        }
        let results = &properties["expect"]["properties"]["result"]["enum"];
        assert!(results.as_array().unwrap().contains(&entry["expect"]["result"]), "{name}");
    }
}

//! Gives every vector to a reader, a closure, and says which it reads wrongly. Needs the crates `zip`, `serde_json` and `sha2`.
//!
//! ```text
//! let wrong = run(folder, scratch, &mut |format, path, offset| my_reader(format, path, offset));
//! ```

use serde_json::Value;
use sha2::{Digest, Sha256};
use std::path::Path;

/// The decoded bytes, or why a file is refused. `None`: the reader does not read this format.
pub type Answer = Option<Result<Vec<u8>, String>>;

/// The reader gets the format, the file or directory, and where the data starts in the file. `folder` holds the archives,
/// `scratch` is where they are unpacked. Gives how many files were read, and a line for each that was read wrongly.
pub fn run(
    folder: &Path,
    scratch: &Path,
    read: &mut dyn FnMut(&str, &Path, u64) -> Answer,
) -> (usize, Vec<String>) {
    let manifest = std::fs::read(folder.join("manifest.json")).expect("the manifest");
    let entries: Vec<Value> = serde_json::from_slice(&manifest).expect("a manifest in JSON");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let (mut wrong, mut count, mut unpacked) = (Vec::new(), 0, Vec::new());
    for entry in &entries {
        let (archive, file) = (text(&entry["archive"]), text(&entry["file"]));
        let into = scratch.join(&archive);
        if !unpacked.contains(&archive) {
            let bytes =
                std::fs::File::open(folder.join(&archive)).expect("an archive that the manifest names");
            zip::ZipArchive::new(bytes).and_then(|mut zip| zip.extract(&into)).expect("a whole archive");
            unpacked.push(archive.clone());
        }
        let offset = entry["offset"].as_u64().unwrap_or(0);
        let Some(answer) = read(&text(&entry["format"]), &into.join(&file), offset) else { continue };
        count += 1;
        let want = (text(&entry["expect"]["result"]), text(&entry["expect"]["sha256"]));
        let verdict = match (&want.0[..], answer) {
            ("decodes", Err(error)) => format!("refused wrongly: {error}"),
            ("refuse", Ok(bytes)) => format!("accepted wrongly, as {} bytes", bytes.len()),
            (_, Ok(bytes)) if !want.1.is_empty() && want.1 != hash(&bytes) => "wrong bytes".into(),
            _ => continue,
        };
        wrong.push(format!("{archive} {file}: {verdict}"));
    }
    (count, wrong)
}

/// SHA-256 in hexadecimal digits.
fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

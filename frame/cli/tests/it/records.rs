//! Records whose fields do not lie one behind the other, through every verb that writes them elsewhere.

use super::common::Folder;
use blosc_frame::dtype::Dtype;
use blosc_frame::npy::NpyHeader;

/// The forms, and of each the columns `a` and `b`: offsets in an item of eight bytes.
const FORMS: [(&str, [usize; 2]); 4] = [
    ("{'names': ['a', 'b'], 'formats': ['<i4', '<i4'], 'offsets': [4, 0], 'itemsize': 8}", [4, 0]),
    ("{'names': ['a', 'b'], 'formats': ['<i4', '<i4'], 'offsets': [0, 2], 'itemsize': 8}", [0, 2]),
    ("{'names': ['a', 'b'], 'formats': ['<i4', '<u2'], 'offsets': [0, 6], 'itemsize': 8}", [0, 6]),
    ("{'names': ['a', 'b'], 'formats': ['<i2', 'u1'], 'offsets': [5, 1], 'itemsize': 8}", [5, 1]),
];

/// The bytes of a field of every record in a `.npy` file.
fn column(npy: &[u8], name: &str) -> Vec<u8> {
    let (header, at) = (NpyHeader::parse(npy).unwrap(), NpyHeader::length(npy).unwrap());
    let Dtype::Struct(record) = &header.dtype else { panic!("{}", header.dtype) };
    let field = record.fields.iter().find(|field| field.name == name).unwrap();
    let (from, len) = (field.offset as usize, field.dtype.itemsize() as usize);
    let items = npy[at..].chunks_exact(record.itemsize as usize);
    assert_eq!(items.len() as u64, header.shape.iter().product::<u64>());
    items.flat_map(|item| item[from..from + len].to_vec()).collect()
}

/// The only member of a `.npz` file.
fn member(npz: &[u8]) -> Vec<u8> {
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(npz)).unwrap();
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut archive.by_index(0).unwrap(), &mut bytes).unwrap();
    bytes
}

#[test]
fn columns_are_right_in_every_output() {
    let raw: Vec<u8> = (0..8 * 500).map(|i| (i * 31 % 253) as u8).collect();
    for (form, offsets) in FORMS {
        let folder = Folder::new("records");
        folder.write("raw", &raw);
        let Dtype::Struct(record) = Dtype::parse(form).unwrap() else { panic!() };
        let want = |k: usize, rows: std::ops::Range<usize>| -> Vec<u8> {
            let size = record.fields[k].dtype.itemsize() as usize;
            let items = raw[rows.start * 8..rows.end * 8].chunks_exact(8);
            items.flat_map(|item| item[offsets[k]..offsets[k] + size].to_vec()).collect()
        };
        let check = |npy: &[u8], rows: std::ops::Range<usize>, what: &str| {
            assert_eq!(column(npy, "a"), want(0, rows.clone()), "a of {what}: {form}");
            assert_eq!(column(npy, "b"), want(1, rows), "b of {what}: {form}");
        };
        for made in ["r.b2nd", "r.blp", "r.bcolz", "r.b2z"] {
            folder.run(&["compress", "raw", "-o", made, "--dtype", form, "--shape", "500"]);
            let input = if made == "r.b2z" { "r.b2z:/raw".to_string() } else { made.to_string() };
            for verb in ["decompress", "convert"] {
                folder.run(&[verb, &input, "-o", "o.npy", "--force"]);
                check(&folder.read("o.npy"), 0..500, &format!("{verb} {made} to .npy"));
                folder.run(&[verb, &input, "-o", "o.npz", "--force"]);
                check(&member(&folder.read("o.npz")), 0..500, &format!("{verb} {made} to .npz"));
            }
            folder.run(&["slice", &input, "--start", "3", "--stop", "401", "-o", "o.npy", "--force"]);
            check(&folder.read("o.npy"), 3..401, &format!("slice of {made}"));
            for other in ["o.blp", "o.bcolz", "o.b2z"] {
                folder.run(&["convert", &input, "-o", other, "--force"]);
                let leaf = if other == "o.b2z" {
                    let listed = folder.run(&["ls", other]);
                    let listed = String::from_utf8(listed).unwrap();
                    format!(
                        "{other}:{}",
                        listed.split_whitespace().find(|word| word.ends_with(".b2nd")).unwrap()
                    )
                } else {
                    other.to_string()
                };
                folder.run(&["decompress", &leaf, "-o", "o.npy", "--force"]);
                check(&folder.read("o.npy"), 0..500, &format!("{made} to {other}"));
            }
        }
        folder.run(&["decompress", "r.b2z", "-o", "all.npz"]);
        check(&member(&folder.read("all.npz")), 0..500, "all of a store");
        folder
            .run(&["compress", "raw", "-o", "blaze", "--format", "blaze", "--dtype", form, "--shape", "500"]);
        folder.run(&["decompress", "blaze", "-o", "o.npy", "--force"]);
        check(&folder.read("o.npy"), 0..500, "Blaze");
        for container in ["r.bcolz", "blaze"] {
            for (k, name) in ["a", "b"].into_iter().enumerate() {
                let column = folder.run(&["decompress", container, "--column", name, "-o", "-"]);
                assert_eq!(column, want(k, 0..500), "--column {name} of {container}: {form}");
            }
        }
    }
}

//! The rows and columns of the tables of promises: every container that the command opens, every verb that it has. What
//! a verb is asked to do stands in [`VERBS`]; what a container refuses stands in [`refused`], with the words of its reason.

use crate::common::Folder;
use std::path::{Path, PathBuf};

/// How a container is made.
pub enum Origin {
    /// The command makes it of `plain`, of `items.npy` or of another container in the folder.
    Command(&'static [&'static str]),
    /// Another program made it; a copy of this fixture in `frame/tests/fixtures/wild`.
    Fixture(&'static str),
}

/// A kind of container, in a form of several chunks wherever a command can ask for that.
pub struct Container {
    pub name: &'static str,
    /// Its file or directory.
    pub path: &'static str,
    pub origin: Origin,
    /// What stands behind the path to name the array in it: nothing, or the key of a leaf.
    pub leaf: &'static str,
    /// A file of one of its rows, as [`prepare`] writes it.
    pub row: &'static str,
    /// Whether its rows can be changed in place.
    pub shape: Shape,
}

/// What a container is to the verbs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// One chunk.
    Chunk,
    /// A frame of items without a shape.
    Frame,
    /// An array of one dimension.
    Array,
    /// An array of two dimensions.
    Matrix,
    /// Rows of a bloscpack file, bcolz or Blaze directory.
    Rows,
    /// Rows of a bcolz table.
    Columns,
    /// A store of leaves.
    Store,
    /// A table of python-blosc2.
    Table,
    /// An array that python-blosc2's `save_tensor` wrote.
    Tensor,
}

use Origin::{Command, Fixture};

const fn container(
    name: &'static str,
    path: &'static str,
    shape: Shape,
    row: &'static str,
    origin: Origin,
) -> Container {
    Container { name, path, origin, leaf: "", row, shape }
}

/// Every container. One that is added here is tested by being here.
pub const CONTAINERS: [Container; 16] = [
    container(
        "chunk",
        "x.chunk",
        Shape::Chunk,
        "row4",
        Command(&["compress", "plain", "-o", "x.chunk", "--typesize", "4"]),
    ),
    container(
        "frame",
        "f.b2frame",
        Shape::Frame,
        "row4",
        Command(&["compress", "plain", "-o", "f.b2frame", "--typesize", "4", "--chunksize", "1000"]),
    ),
    container(
        "sparse frame",
        "sparse",
        Shape::Frame,
        "row4",
        Command(&[
            "compress",
            "plain",
            "-o",
            "sparse",
            "--format",
            "sframe",
            "--typesize",
            "4",
            "--chunksize",
            "1000",
        ]),
    ),
    container(
        "array",
        "a.b2nd",
        Shape::Array,
        "row4",
        Command(&[
            "compress", "plain", "-o", "a.b2nd", "--dtype", "<i4", "--shape", "2000", "--chunks", "250",
            "--blocks", "50",
        ]),
    ),
    container(
        "matrix",
        "m.b2nd",
        Shape::Matrix,
        "row40",
        Command(&[
            "compress", "plain", "-o", "m.b2nd", "--dtype", "<i4", "--shape", "200,10", "--chunks", "60,4",
            "--blocks", "20,2",
        ]),
    ),
    container(
        "sparse array",
        "sparse.b2nd",
        Shape::Array,
        "row4",
        Command(&[
            "compress",
            "plain",
            "-o",
            "sparse.b2nd",
            "--sparse",
            "--dtype",
            "<i4",
            "--shape",
            "2000",
            "--chunks",
            "250",
            "--blocks",
            "50",
        ]),
    ),
    container(
        "bloscpack",
        "p.blp",
        Shape::Rows,
        "row4",
        Command(&["compress", "items.npy", "-o", "p.blp", "--chunksize", "1000"]),
    ),
    container(
        "bcolz column",
        "column.bcolz",
        Shape::Rows,
        "row4",
        Command(&["compress", "items.npy", "-o", "column.bcolz", "--chunksize", "1000"]),
    ),
    container(
        "bcolz table",
        "table.bcolz",
        Shape::Columns,
        "row8",
        Command(&["compress", "records.npy", "-o", "table.bcolz", "--chunksize", "2000"]),
    ),
    container(
        "Blaze",
        "blaze",
        Shape::Rows,
        "row8",
        Command(&["compress", "records.npy", "-o", "blaze", "--format", "blaze", "--chunksize", "2000"]),
    ),
    Container {
        leaf: ":/items",
        ..container(
            "b2d store",
            "s.b2d",
            Shape::Store,
            "row4",
            Command(&["compress", "items.npy", "-o", "s.b2d"]),
        )
    },
    Container {
        leaf: ":/items",
        ..container(
            "b2z store",
            "s.b2z",
            Shape::Store,
            "row4",
            Command(&["compress", "items.npy", "-o", "s.b2z"]),
        )
    },
    Container {
        leaf: ":/x",
        ..container("b2e store", "embed.b2e", Shape::Store, "row4", Fixture("embed.b2e"))
    },
    container("b2d table", "table.b2d", Shape::Table, "rows.jsonl", Fixture("table.b2d")),
    container("b2z table", "rows.b2z", Shape::Table, "rows.jsonl", Fixture("rows.b2z")),
    container("tensor", "tensor.b2frame", Shape::Tensor, "row4", Fixture("tensor_rows.b2frame")),
];

/// A verb, and what it is asked to do. In its words `@` is the container, `@leaf` the array in it, `@row` a file of one
/// row, `@out` the name of an output that fits it and `@plain` the option for plain bytes where there are any.
pub struct Verb {
    pub name: &'static str,
    pub words: &'static [&'static str],
    /// Whether it changes the container that it is given.
    pub changes: bool,
}

const fn reads(name: &'static str, words: &'static [&'static str]) -> Verb {
    Verb { name, words, changes: false }
}

const fn changes(name: &'static str, words: &'static [&'static str]) -> Verb {
    Verb { name, words, changes: true }
}

/// Every verb of the command. `compress` is not here: it is how the containers are made.
pub const VERBS: [Verb; 26] = [
    reads("advise", &["advise", "@leaf"]),
    reads("decompress", &["decompress", "@leaf", "-o", "@out", "@plain"]),
    reads("info", &["info", "@leaf"]),
    reads("cat", &["cat", "@leaf"]),
    reads("head", &["head", "@leaf"]),
    reads("ls", &["ls", "@"]),
    reads("verify", &["verify", "@leaf"]),
    reads("slice", &["slice", "@leaf", "--start", "0", "--stop", "2", "-o", "@out", "@plain"]),
    reads("convert", &["convert", "@leaf", "-o", "out.b2nd"]),
    reads("repair", &["repair", "@", "-o", "out"]),
    reads("meta list", &["meta", "list", "@leaf"]),
    reads("meta get", &["meta", "get", "--vl", "@leaf", "note"]),
    changes("meta set", &["meta", "set", "@", "note", "--vl", "--json", "7"]),
    changes("meta rm", &["meta", "rm", "@", "note", "--vl"]),
    changes("compact", &["compact", "@"]),
    changes("append", &["append", "@", "@row"]),
    changes("set", &["set", "@", "--start", "300", "--stop", "301", "@row"]),
    changes("resize", &["resize", "@", "--shape", "@shape"]),
    changes("trim", &["trim", "@", "300"]),
    changes("insert", &["insert", "@", "--at", "100", "@row"]),
    changes("delete", &["delete", "@", "--start", "20", "--stop", "120"]),
    changes("edit", &["edit", "@", "delete", "1"]),
    changes("edit append", &["edit", "@", "append", "@row"]),
    changes("column add", &["column", "add", "@", "new", "plain1000", "--dtype", "<i4"]),
    changes("column rm", &["column", "rm", "@", "b"]),
    changes("column mv", &["column", "mv", "@", "b", "c"]),
];

/// One cell of a table: a verb given to a container.
pub struct Cell {
    pub container: &'static Container,
    pub verb: &'static Verb,
}

impl Cell {
    /// The words of the command line.
    pub fn words(&self) -> Vec<String> {
        let leaf = format!("{}{}", self.container.path, self.container.leaf);
        // A row of a matrix is named by two numbers.
        let start = self.container.shape == Shape::Matrix && ["set", "slice"].contains(&self.verb.name);
        let word = |word: &&str| match *word {
            "@" => self.container.path.to_string(),
            "@leaf" => leaf.clone(),
            "@row" => self.container.row.to_string(),
            "@out" if self.container.shape == Shape::Table => "out.csv".to_string(),
            "@out" => "out".to_string(),
            "@plain" => "--plain".to_string(),
            "@shape" if self.container.shape == Shape::Matrix => "130,7".to_string(),
            "@shape" => "130".to_string(),
            "300" if start => "30,0".to_string(),
            "301" if start => "31,10".to_string(),
            "0" if start => "0,0".to_string(),
            "2" if start => "2,10".to_string(),
            other => other.to_string(),
        };
        let table = self.container.shape == Shape::Table;
        self.verb.words.iter().filter(|word| !table || **word != "@plain").map(word).collect()
    }

    /// Why the container refuses the verb: words that its message must hold.
    pub fn refused(&self) -> Option<&'static str> {
        refused(self.container, self.verb)
    }
}

/// All cells, container by container.
pub fn cells() -> impl Iterator<Item = Cell> {
    CONTAINERS.iter().flat_map(|container| VERBS.iter().map(move |verb| Cell { container, verb }))
}

/// The cells whose verb changes its container, and which are not refused.
#[cfg(target_os = "linux")]
pub fn edits() -> impl Iterator<Item = Cell> {
    cells().filter(|cell| cell.verb.changes && cell.refused().is_none())
}

/// Writes what the commands take as input.
pub fn prepare(folder: &Folder) {
    let number = |n: u32| (n / 3).to_le_bytes();
    let plain: Vec<u8> = (0..2000).flat_map(number).collect();
    folder.write("plain", &plain);
    folder.write("plain1000", &plain[..4000]);
    folder.write("row4", &[7; 4]);
    folder.write("row8", &[7; 8]);
    folder.write("row40", &[7; 40]);
    folder.write("items.npy", &npy("'<i4'", "(2000,)", &plain));
    folder.write("records.npy", &npy("[('a', '<i4'), ('b', '<i4')]", "(1000,)", &plain));
}

/// A NumPy file of version 1.
fn npy(descr: &str, shape: &str, items: &[u8]) -> Vec<u8> {
    let mut header = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}");
    header += &" ".repeat(63 - (header.len() + 10) % 64);
    header.push('\n');
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), items].concat()
}

/// Makes a container anew.
pub fn make(folder: &Folder, container: &Container) {
    remove(&folder.path(container.path));
    match container.origin {
        Command(words) => drop(folder.run(words)),
        Fixture(name) => {
            let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/wild");
            copy(&fixtures.join(name), &folder.path(container.path));
            if container.shape == Shape::Table {
                let rows = folder.run(&["decompress", container.path, "-o", "-", "--format", "jsonl"]);
                let first = rows.iter().position(|byte| *byte == b'\n').unwrap() + 1;
                folder.write(container.row, &rows[..first]);
            }
        }
    }
}

/// Removes a file or a directory with all that is in it.
pub fn remove(path: &Path) {
    match path.is_dir() {
        true => std::fs::remove_dir_all(path).unwrap(),
        false => drop(std::fs::remove_file(path)),
    }
}

/// Copies a file, or a directory with all that is in it.
pub fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        std::fs::create_dir_all(to).unwrap();
        for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        std::fs::write(to, std::fs::read(from).unwrap()).unwrap();
    }
}

/// The files of a container and their bytes, sorted by name.
pub fn files(path: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            all.extend(files(&entry.unwrap().path()));
        }
    } else if path.exists() {
        all.push((path.to_path_buf(), std::fs::read(path).unwrap()));
    }
    all.sort();
    all
}

/// Which containers a verb works on, and the words of its reason for all others. The first rule that names the verb and
/// does not list the container's shape decides.
const RULES: &[(&[&str], &[Shape], &str)] = {
    use Shape::{Array, Chunk, Columns, Frame, Matrix, Rows, Store, Table, Tensor};
    &[
        (
            &["meta get"],
            &[Chunk, Frame, Array, Matrix, Rows, Columns, Table, Tensor],
            "has no vlmetalayer called",
        ),
        (&["meta list"], &[Frame, Array, Matrix, Store, Tensor], "no frame or array"),
        (
            &["meta get", "meta set", "meta rm", "compact"],
            &[Frame, Array, Matrix, Tensor],
            "no frame or array",
        ),
        (
            &["edit", "edit append"],
            &[Chunk, Frame, Rows, Columns, Store, Table, Tensor],
            "chunks of an array",
        ),
        (
            &["edit", "edit append"],
            &[Chunk, Frame, Array, Matrix, Rows, Columns, Store, Table],
            "bytes of a packed tensor",
        ),
        (&["edit", "edit append"], &[Frame, Array, Matrix, Tensor], "no frame or array"),
        (&["append"], &[Frame, Array, Matrix, Rows, Columns, Table, Tensor], "cannot be changed"),
        (&["set", "resize", "insert", "delete"], &[Array, Matrix, Rows, Columns, Tensor], "no array"),
        (&["trim"], &[Rows, Columns, Tensor], "not a bloscpack file, bcolz or Blaze directory"),
        (&["column add", "column rm", "column mv"], &[Columns], "not a bcolz table"),
        (
            &["convert"],
            &[Frame, Array, Matrix, Rows, Columns, Store, Table, Tensor],
            "a bare chunk is no container",
        ),
        (&["convert"], &[Chunk, Frame, Array, Matrix, Rows, Columns, Store, Tensor], "the input is a table"),
        (
            &["advise"],
            &[Chunk, Frame, Array, Matrix, Rows, Columns, Store, Tensor],
            "a store of several arrays",
        ),
        (&["repair"], &[Frame, Array, Matrix, Tensor], "repair mends frames"),
        (&["cat", "head"], &[Array, Matrix, Rows, Columns, Store, Table, Tensor], "plain bytes"),
    ]
};

/// Words of the reason why a container refuses a verb; `None` where it does what it is asked.
pub fn refused(container: &Container, verb: &Verb) -> Option<&'static str> {
    let embedded = "frames inside a frame";
    match (container.name, verb.name) {
        ("b2e store", "meta set" | "meta rm" | "compact" | "repair") => None,
        ("b2e store", _) if verb.changes => Some(embedded),
        ("b2z table", "append") => Some("is not appended to"),
        _ => {
            let rule = |(verbs, works, _): &&(&[&str], &[Shape], &str)| {
                verbs.contains(&verb.name) && !works.contains(&container.shape)
            };
            RULES.iter().find(rule).map(|rule| rule.2)
        }
    }
}

/// Cells whose promise is known to be broken: promise, container and verb.
pub const OPEN: &[(&str, &str, &str)] = &[];

//! bcolz and Blaze directories: opening hostile ones, and edits beside a plain vector, with power failures.

use crate::frames::{LIMITS, OUTPUT, files, pattern, told};
use crate::primed::twice;
use crate::resources::allow;
use arbitrary::{Result, Unstructured};
use blosc_core::Pool;
use blosc_frame::b2nd::Dtype;
use blosc_frame::bcolz::{self, CArray, CParams, CTable, FlatTree};
use blosc_frame::blaze::{self, Blaze, MetaSyntax, Shards};
use blosc_frame::io::FaultDir;
use blosc_frame::plain::Plain;
use blosc_frame::rows::Rows;
use blosc_frame::value::Value;
use blosc_frame::{Error, IoKind, Limits};
use std::collections::BTreeMap;

type Flat = FlatTree<FaultDir>;

/// A directory from an input that is cut into files; `/` in a name enters a directory.
fn root(data: &[u8]) -> Flat {
    let mut all = BTreeMap::new();
    for (name, content) in files(data) {
        let flat = name.replace('/', "!");
        for (at, _) in flat.match_indices('!') {
            all.entry(flat[..=at].to_string()).or_insert_with(Vec::new);
        }
        all.insert(flat, content.to_vec());
    }
    FlatTree::new(FaultDir::from_files(all))
}

/// A bcolz directory.
pub fn bcolz(data: &[u8]) {
    allow(4 * OUTPUT + (16 << 20));
    let root = root(data);
    let mut pool = Pool::new(1);
    let _ = told(bcolz::flavour(&root));
    if let Some(column) = told(CArray::open(root.clone(), &LIMITS)) {
        let _ = (column.attrs(), column.storage().to_value(), column.sizes().to_value());
        let whole = read(&column);
        if column.nchunks() <= LIMITS.chunks
            && let Ok(damaged) = column.verify(&mut pool)
        {
            verified(whole, &damaged);
        }
    }
    for table in [CTable::open(root.clone(), &LIMITS), CTable::open_ragged(root, &LIMITS)] {
        let Some(table) = told(table) else { continue };
        let whole = read(&table);
        let _ = (told(table.dtype()), table.attrs());
        if table.columns().all(|(_, column)| column.nchunks() <= LIMITS.chunks)
            && let Ok(damaged) = table.verify(&mut pool)
        {
            let even = table.columns().all(|(_, column)| column.rows() == table.rows());
            verified(whole.filter(|_| even), &damaged);
        }
    }
}

/// A Blaze directory, or a manifest of shards.
pub fn blaze(data: &[u8]) {
    allow(4 * OUTPUT + (16 << 20));
    if let Ok(shards) = Shards::parse(data, false) {
        let text = shards.to_json();
        let again = Shards::parse(text.as_bytes(), false).expect("our own manifest");
        assert_eq!(again.to_json(), text);
    }
    let root = root(data);
    let mut pool = Pool::new(1);
    let Some(set) = told(Blaze::open(&root, &LIMITS)) else { return };
    let whole = read(&set);
    let _ = (set.attrs(), set.syntax(), set.rows(), set.row_nbytes(), told(set.extras()));
    if let Some(dtype) = told(set.storage().names.dtype()) {
        assert_eq!(
            u64::from(dtype.itemsize()) * set.shape().iter().skip(1).product::<u64>(),
            set.row_nbytes()
        );
    }
    for files in [1..=1, 1..=2, 0..=1, 2..=3] {
        if let Some(rows) = told(set.rows_of_files(files)) {
            assert!(rows.end <= set.rows());
        }
    }
    let small = set.columns().all(|(_, column)| column.nchunks() <= LIMITS.chunks);
    if small && let Ok(damaged) = set.verify(&mut pool, true) {
        verified(whole, &damaged);
    }
}

/// What verifies can be read, and what can be read verifies.
fn verified(whole: Option<bool>, damaged: &[impl core::fmt::Debug]) {
    assert!(
        whole.is_none_or(|whole| whole == damaged.is_empty()),
        "read as a whole: {whole:?}, but {damaged:?}"
    );
}

/// Whether everything could be read; `None` if it was too much to try.
fn read(plain: &dyn Plain) -> Option<bool> {
    let n = usize::try_from(plain.nbytes()).ok().filter(|n| *n <= OUTPUT)?;
    let all = twice(|before| {
        let mut out = before.bytes(n);
        plain.read_plain(&mut before.pool(), 0, &mut out).map(|()| out)
    });
    Some(all.is_ok())
}

/// A column of either kind, or a table of columns.
enum Column {
    Bcolz(CArray<Flat>),
    Blaze(Blaze<Flat>),
    Table(CTable<Flat>),
}

impl Column {
    fn open(&self, dir: &FaultDir) -> std::result::Result<Column, Error> {
        let root = FlatTree::new(dir.clone());
        Ok(match self {
            Column::Bcolz(_) => Column::Bcolz(CArray::open(root, &Limits::DEFAULT)?),
            Column::Blaze(_) => Column::Blaze(Blaze::open(&root, &Limits::DEFAULT)?),
            Column::Table(_) => Column::Table(CTable::open(root, &Limits::DEFAULT)?),
        })
    }

    fn rows(&mut self) -> &mut dyn Rows {
        match self {
            Column::Bcolz(rows) => rows,
            Column::Blaze(rows) => rows,
            Column::Table(rows) => rows,
        }
    }

    fn all(&mut self, pool: &mut Pool) -> std::result::Result<Vec<u8>, Error> {
        let mut out = vec![0; self.rows().nbytes() as usize];
        self.rows().read_plain(pool, 0, &mut out)?;
        Ok(out)
    }

    /// Drops rows on disk that are not counted, which an edit that was cut short leaves: no edit follows before that.
    fn drop_uncounted(&mut self, pool: &mut Pool) -> std::result::Result<(), Error> {
        let rows = self.rows().rows();
        match self {
            Column::Bcolz(column) => column.settle(pool, rows),
            Column::Blaze(set) => set.settle(pool, rows),
            Column::Table(table) => table.settle(pool, rows),
        }
    }

    fn intact(&self, pool: &mut Pool) -> bool {
        match self {
            Column::Bcolz(rows) => rows.verify(pool).is_ok_and(|damage| damage.is_empty()),
            Column::Blaze(rows) => rows.verify(pool, true).is_ok_and(|damage| damage.is_empty()),
            Column::Table(rows) => rows.verify(pool).is_ok_and(|damage| damage.is_empty()),
        }
    }
}

/// Edits of rows beside a plain vector; appends and cuts also with a power failure inside.
pub fn edit_sequence(data: &[u8]) {
    allow(64 << 20); // encoder contexts
    let _ = edits(&mut Unstructured::new(data));
}

fn edits(u: &mut Unstructured<'_>) -> Result<()> {
    let mut pool = Pool::new(1);
    let dtypes =
        ["<i4", "|u1", ">f8", "|S5", "<U3", "|b1", "<c16", "<M8[25s]", "[('a', '<i4'), ('b', '<f4', (2,))]"];
    let dtype = Dtype::parse(u.choose(&dtypes)?).expect("a dtype");
    let packed = matches!(dtype, Dtype::Struct(_));
    let row = if u.ratio(1, 3)? && !packed { vec![2, 3] } else { vec![] };
    let flat = row.is_empty();
    let cname = u.choose(&["blosclz", "lz4", "lz4hc", "zlib", "zstd"])?.to_string();
    let cparams =
        CParams { clevel: u.int_in_range(0..=9)?, shuffle: u.int_in_range(0..=2)?, cname, quantize: 0 };
    let chunklen = Some(u.int_in_range(1..=40)?);
    let mut dir = FaultDir::new();
    let root = FlatTree::new(dir.clone());
    let kind = u.int_in_range(0..=4)?;
    let mut rows = if kind <= 1 {
        let create = bcolz::Create { row, chunklen, cparams, ..bcolz::Create::new(dtype) };
        Column::Bcolz(CArray::create(root, &create, &Limits::DEFAULT).expect("an empty directory"))
    } else if kind == 2 {
        let first = bcolz::Create { chunklen, cparams: cparams.clone(), ..bcolz::Create::new(dtype) };
        let second =
            bcolz::Create { row, cparams, ..bcolz::Create::new(Dtype::parse("<i2").expect("a dtype")) };
        let columns = [("first".to_string(), first), ("second".to_string(), second)];
        let table = CTable::create(root, &columns, Value::Object(vec![]), &Limits::DEFAULT);
        Column::Table(table.expect("an empty directory"))
    } else {
        let syntax = *u.choose(&[MetaSyntax::Json, MetaSyntax::Yaml])?;
        let superchunk = Some(u.int_in_range(1..=4)?);
        let create =
            blaze::Create { row, chunklen, superchunk, cparams, syntax, ..blaze::Create::new(&dtype) };
        Column::Blaze(Blaze::create(&root, &create, &Limits::DEFAULT).expect("an empty directory"))
    };
    let width = rows.rows().row_nbytes() as usize;
    let (mut model, mut edited) = (Vec::<u8>::new(), false);
    for _ in 0..16 {
        if u.is_empty() {
            break;
        }
        let now = (model.len() / width) as u64;
        let (at, some) = (u.int_in_range(0..=now)?, u.int_in_range(1..=70u64)?);
        let data = pattern(u, some as usize * width)?;
        let start = at as usize * width;
        let mut wanted = model.clone();
        let kind = u.int_in_range(0..=5)?;
        rows.rows().set_reserve(some as u32 % 3 * 50);
        let fails = u.ratio(1, 4)? && flat && (kind <= 1 || (kind == 4 && at <= now));
        if fails {
            dir.stop_after(u.int_in_range(0..=20)?);
        }
        let done = match kind {
            0 | 1 => {
                wanted.extend_from_slice(&data);
                rows.rows().append(&mut pool, &data)
            }
            2 => {
                let data = &data[..data.len().min(model.len() - start)];
                wanted[start..start + data.len()].copy_from_slice(data);
                rows.rows().set(&mut pool, at, &data)
            }
            5 => {
                let data = &data[..data.len().min(model.len() - start)];
                match rows.rows().set_in_place(&mut pool, at, &data) {
                    // A chunk that does not fit its room: nothing has been written.
                    Err(Error::OutputTooSmall { .. }) => Ok(()),
                    done => {
                        wanted[start..start + data.len()].copy_from_slice(data);
                        done
                    }
                }
            }
            3 => {
                let end = (at + some).min(now);
                wanted.drain(start..end as usize * width);
                rows.rows().remove(&mut pool, at..end)
            }
            _ => {
                let to = if fails { at } else { (at + some) % (now + 70) };
                wanted.resize(to as usize * width, 0);
                rows.rows().resize(&mut pool, to)
            }
        };
        match done {
            Ok(()) => {
                edited |= wanted != model;
                model = wanted;
            }
            // `Other` is a part that is written and not confirmed, of a change that failed.
            Err(Error::Io(e))
                if fails && matches!(e.kind, IoKind::Injected | IoKind::NotConfirmed | IoKind::Other) =>
            {
                dir = FaultDir::from_files(dir.crash(u64::from(u.arbitrary::<u16>()?)));
                rows = match rows.open(&dir) {
                    Ok(rows) => rows,
                    // Creation alone does not wait for the disk, the first edit that is done does.
                    Err(_) if !edited => return Ok(()),
                    Err(error) => panic!("a column survives a power failure: {error}"),
                };
                let left = rows.all(&mut pool).expect("a column survives a power failure");
                assert!(left == model || left == wanted, "neither old nor new");
                model = left;
                rows.drop_uncounted(&mut pool).expect("what was written last is dropped");
                continue;
            }
            Err(error) => panic!("{error}: kind {kind}, {at} of {now}, {some} rows"),
        }
        if fails {
            dir.stop_after(u64::MAX);
        }
        assert!(rows.all(&mut pool).as_ref() == Ok(&model), "kind {kind}, {at} of {now}, {some} rows");
        let mut again = rows.open(&dir).expect("a column of our own");
        assert!(again.all(&mut pool).as_ref() == Ok(&model), "opened again: kind {kind}");
        assert!(again.intact(&mut pool));
    }
    if let Column::Table(table) = &mut rows {
        columns(&mut pool, table, &model).expect("a table of our own");
    }
    if let Column::Blaze(set) = &mut rows {
        attributes(set);
    }
    Ok(())
}

/// Attributes are read as they were written, whether the syntax types them or not.
fn attributes(set: &mut Blaze<Flat>) {
    let list = |items: &[&str]| Value::List(items.iter().map(|text| Value::text(*text)).collect());
    let attrs = Value::object([
        ("whole", Value::int(7)),
        ("half", Value::Number("0.5".into())),
        ("yes", Value::Bool(true)),
        ("none", Value::Null),
        ("names", list(&["a", "b: c"])),
        ("numbers", Value::List(vec![Value::int(1), Value::int(2)])),
        ("mixed", Value::List(vec![Value::int(1), Value::Number("2.5".into())])),
        ("deep", Value::List(vec![list(&["x"])])),
    ]);
    set.set_attrs(&attrs).expect("a dataset of our own");
    assert_eq!(set.attrs(), attrs);
}

/// Columns come, get other names and go; what the rest holds stays.
fn columns(pool: &mut Pool, table: &mut CTable<Flat>, model: &[u8]) -> std::result::Result<(), Error> {
    let (rows, names) = (table.rows(), |table: &CTable<Flat>| -> Vec<String> {
        table.columns().map(|(name, _)| name.to_string()).collect()
    });
    let create = bcolz::Create::new(Dtype::parse("|u1").expect("a dtype"));
    let data: Vec<u8> = (0..rows).map(|k| k as u8).collect();
    assert!(table.add_column(pool, "third", &create, &[&data[..], &[0]].concat()).is_err(), "a row too many");
    table.add_column(pool, "third", &create, &data)?;
    assert!(table.add_column(pool, "third", &create, &data).is_err(), "twice the same name");
    table.rename_column("third", "last")?;
    assert!(table.rename_column("last", "first").is_err() && table.rename_column("none", "x").is_err());
    assert_eq!(names(table), ["first", "second", "last"]);
    let mut out = vec![0; data.len()];
    table.column("last")?.read_plain(pool, 0, &mut out)?;
    assert_eq!(out, data);
    table.remove_column("last")?;
    assert_eq!(names(table), ["first", "second"]);
    assert_eq!(table.repair(pool)?, rows);
    let mut out = vec![0; model.len()];
    table.read_plain(pool, 0, &mut out)?;
    assert!(out == model, "after columns came and went");
    Ok(())
}

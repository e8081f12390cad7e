//! Stores: form x form, what is kept; new leaves; damaged and hostile ones.

use crate::common::Folder;
use blosc_core::Params;
use blosc_frame::io::PathFile;
use blosc_frame::repair::repair;
use blosc_frame::schunk::RawChunk;
use blosc_frame::store::{Form, Leaf, Place, Store};
use blosc_frame::{Error, IoKind, Limits, Structure, SuperChunk};
use blosc_testkit::emulated;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn wild(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/wild").join(name)
}

const FORMS: [(Form, &str); 4] =
    [(Form::B2d, "x.b2d"), (Form::B2z, "x.b2z"), (Form::B2e, "x.b2e"), (Form::Folder, "folder")];

/// Everything that a frame holds: its chunks as they are stored, and its metalayers.
type Content = (Vec<Vec<u8>>, Vec<(String, Vec<u8>)>, Vec<(String, Vec<u8>)>);

fn content(frame: SuperChunk<'static>) -> Content {
    let metas: Vec<String> = frame.metalayer_names().collect();
    let metas = metas.into_iter().map(|name| (name.clone(), frame.metalayer(&name).unwrap().to_vec()));
    let metas = metas.collect();
    let names: Vec<String> = frame.vlmetalayer_names().collect();
    let layers = names.into_iter().map(|name| {
        let content = frame.vlmetalayer(&name).unwrap().unwrap();
        (name, content)
    });
    let layers = layers.collect();
    let chunks = (0..frame.nchunks()).map(|k| match frame.raw_chunk(k, &mut Vec::new()).unwrap() {
        RawChunk::Stored(bytes) => bytes.to_vec(),
        RawChunk::Special(kind, len) => format!("{len} of {kind:?}").into_bytes(),
    });
    (chunks.collect(), metas, layers)
}

/// What the frames of a store hold, by their keys.
fn frames(store: &Store) -> BTreeMap<String, Content> {
    let of = |leaf| !matches!(leaf, Leaf::Root | Leaf::Foreign | Leaf::Reference | Leaf::Link);
    let entries = store.entries().iter().filter(|entry| of(entry.leaf()));
    entries.map(|entry| (entry.key().to_string(), content(store.frame(entry).unwrap()))).collect()
}

fn keys(store: &Store, leaf: Leaf) -> Vec<String> {
    let entries = store.entries().iter().filter(|entry| entry.leaf() == leaf);
    entries.map(|entry| entry.name().to_string()).collect()
}

/// A frame whose metalayer and items tell it from others.
fn frame(name: &str) -> SuperChunk<'static> {
    let mut frame = SuperChunk::memory(&Params::new(1)).unwrap();
    frame.append(&name.repeat(500).into_bytes()).unwrap();
    frame.set_metalayer("name", name.as_bytes()).unwrap();
    frame.set_vlmetalayer("also", name.as_bytes()).unwrap();
    frame.commit().unwrap();
    frame
}

/// A store that has some of all there can be: nested groups, an empty one, attributes, files of others.
fn rich(folder: &Folder) -> PathBuf {
    let path = folder.path("rich.b2d");
    let mut store = Store::create(&path, Form::B2d).unwrap();
    for key in ["/a", "/g/b", "/g/deep/c", "/__vlmeta__", "/g/__vlmeta__"] {
        store.put(key, &mut frame(key)).unwrap();
    }
    std::fs::create_dir(path.join("empty")).unwrap();
    std::fs::write(path.join("dataset.json"), b"{}").unwrap();
    std::fs::write(path.join("g/notes.txt"), b"notes").unwrap();
    path
}

fn sources(folder: &Folder) -> Vec<PathBuf> {
    let names = [
        "store.b2d",
        "store.b2z",
        "dict.b2z",
        "tree.b2z",
        "embed.b2e",
        "table.b2d",
        "plain.b2d",
        "rows.b2z",
        "rows.b2frame",
    ];
    let mut sources: Vec<PathBuf> = names.iter().map(|name| wild(name)).collect();
    sources.push(rich(folder));
    sources
}

#[test]
fn every_form_becomes_every_other_one_and_nothing_is_lost() {
    let folder = Folder::new("store-forms");
    let mut cells = 0;
    for source in sources(&folder) {
        let store = Store::open(&source).unwrap();
        let (held, name) = (frames(&store), source.file_name().unwrap().to_string_lossy().into_owned());
        assert!(!held.is_empty(), "{name}");
        for (form, output) in FORMS {
            let to = folder.path(&format!("{name}-{output}"));
            store.save(&to, form).unwrap_or_else(|error| panic!("{name} to {form:?}: {error}"));
            let copy = Store::open(&to).unwrap();
            println!("kept | {} {name} | {} | right", store.form().name(), form.name());
            cells += 1;
            assert_eq!(copy.form(), form, "{name}");
            assert!(frames(&copy) == held, "{name} to {form:?}");
            assert_eq!(copy.tables(), store.tables(), "{name} to {form:?}");
            for group in store.groups().iter().map(String::as_str).chain([""]) {
                let (was, is) = (store.attributes(group).unwrap(), copy.attributes(group).unwrap());
                assert_eq!(was, is, "{name} to {form:?}: attributes of {group}");
            }
            // What is not there is named.
            let left_out = store.left_out(form);
            let told = |key: &str| left_out.iter().any(|what| what.starts_with(&format!("{key} (")));
            for leaf in [Leaf::Foreign, Leaf::Reference] {
                for key in keys(&store, leaf) {
                    assert!(keys(&copy, leaf).contains(&key) != told(&key), "{name} to {form:?}: {key}");
                }
            }
            for group in store.groups() {
                assert!(copy.groups().contains(group) != told(group), "{name} to {form:?}: {group}");
            }
            // Again, to the form that it had.
            let back = folder.path(&format!("{name}-{output}-back"));
            copy.save(&back, store.form()).unwrap();
            assert!(frames(&Store::open(&back).unwrap()) == held, "{name} to {form:?} and back");
            let taken = store.save(&to, form).unwrap_err();
            assert_eq!((taken.path, taken.error), (to, IoKind::AlreadyExists.into()));
        }
        // A group by itself has its own keys.
        for key in store.groups() {
            let group = store.group(key).unwrap();
            let to = folder.path(&format!("{name}{}.b2z", key.replace('/', "-")));
            group.save(&to, Form::B2z).unwrap();
            assert!(frames(&Store::open(&to).unwrap()) == frames(&group), "{name}:{key}");
        }
    }
    println!("{cells} cells");
}

#[test]
fn what_lies_in_a_store_is_told_apart() {
    let folder = Folder::new("store-kinds");
    let store = Store::open(rich(&folder)).unwrap();
    assert_eq!(store.groups(), ["/empty", "/g", "/g/deep"]);
    assert_eq!(keys(&store, Leaf::Foreign), ["/dataset.json", "/g/notes.txt"]);
    assert_eq!(keys(&store, Leaf::Attributes), ["/__vlmeta__.b2f", "/g/__vlmeta__.b2f"]);
    assert_eq!(store.attributes("/g").unwrap(), [("also".to_string(), b"/g/__vlmeta__".to_vec())]);
    let group = store.group("/g").unwrap();
    assert_eq!(
        (group.get("/b").unwrap().key(), group.name()),
        ("/b", format!("{}:/g", store.path().display()).into())
    );
    assert_eq!(group.get("/b.b2f"), group.get("/b"));
    assert!(store.get("/none").is_none() && store.group("/none").is_none() && store.group("/a").is_none());
    assert_eq!(store.left_out(Form::B2e).len(), 3, "{:?}", store.left_out(Form::B2e));
    let tables = Store::open(wild("tree.b2z")).unwrap();
    assert!(!tables.tables().is_empty() && !tables.is_table());
    assert!(Store::open(wild("rows.b2frame")).unwrap().is_table());
    let foreign = store.frame(store.get("/dataset.json").unwrap()).map(drop).unwrap_err();
    assert!(foreign.to_string().contains("rich.b2d:/dataset.json: store: "), "{foreign}");
}

#[cfg(unix)]
#[test]
fn links_are_named_and_not_followed() {
    let folder = Folder::new("store-links");
    let path = rich(&folder);
    std::os::unix::fs::symlink("/etc/hostname", path.join("l.b2nd")).unwrap();
    let store = Store::open(&path).unwrap();
    assert_eq!(store.get("/l.b2nd").unwrap().place(), &Place::Elsewhere("/etc/hostname".into()));
    for (form, output) in FORMS {
        assert!(store.left_out(form).contains(&"/l.b2nd (link or device)".to_string()));
        store.save(&folder.path(output), form).unwrap();
        assert!(Store::open(folder.path(output)).unwrap().get("/l.b2nd").is_none());
    }
}

#[test]
fn a_leaf_is_put_under_a_free_key_or_nothing_changes() {
    let folder = Folder::new("store-put");
    for (form, output) in FORMS {
        let path = folder.path(output);
        let mut store = Store::create(&path, form).unwrap();
        for key in ["/a", "/g/b", "/g/deep/c"] {
            store.put(key, &mut frame(key)).unwrap_or_else(|error| panic!("{form:?} {key}: {error}"));
        }
        let held = frames(&store);
        assert_eq!(held.keys().collect::<Vec<_>>(), ["/a", "/g/b", "/g/deep/c"]);
        let inner = store.frame(store.get("/g/b").unwrap()).unwrap();
        assert_eq!(inner.read_all().unwrap(), "/g/b".repeat(500).into_bytes());
        for (key, wanted) in [("/a", IoKind::AlreadyExists), ("/g/../x", IoKind::Name), ("//", IoKind::Name)]
        {
            let error = store.put(key, &mut frame("x")).unwrap_err();
            assert_eq!(error.error, wanted.into(), "{form:?} {key}");
        }
        let mut group = store.group("/g").unwrap();
        group.put("d", &mut frame("d")).unwrap();
        assert_eq!(frames(&group).keys().collect::<Vec<_>>(), ["/b", "/d", "/deep/c"]);
        assert_eq!(frames(&Store::open(&path).unwrap()).len(), 4, "{form:?}");
        let error = Store::create(&path, form).map(drop).unwrap_err();
        assert!(matches!(error.error, Error::Io(error) if error.kind == IoKind::AlreadyExists));
    }
    assert_eq!(folder.names().len(), 4, "{:?}", folder.names());
}

/// Opens a store and all frames in it; nothing may panic.
fn walk(path: &Path) {
    let limits = Limits::default().output(1 << 22);
    let Ok(store) = Store::open_with(path, &limits) else { return };
    for entry in store.entries() {
        if let Ok(frame) = store.frame(entry) {
            let _ = frame.read_all();
        }
        let _ = store.check(entry);
    }
}

#[test]
fn no_changed_byte_makes_a_store_panic() {
    let folder = Folder::new("store-wild");
    for name in ["dict.b2z", "embed.b2e"] {
        let bytes = std::fs::read(wild(name)).unwrap();
        for at in (0..bytes.len()).step_by(if cfg!(miri) || emulated() { 97 } else { 3 }) {
            let mut changed = bytes.clone();
            changed[at] ^= 0xff;
            folder.write("x", &changed);
            walk(&folder.path("x"));
        }
        for len in (0..bytes.len()).step_by(if emulated() { 97 } else { 7 }) {
            folder.write("x", &bytes[..len]);
            walk(&folder.path("x"));
        }
    }
}

#[test]
fn a_member_whose_bytes_changed_is_not_copied() {
    let folder = Folder::new("store-crc");
    let mut bytes = std::fs::read(wild("store.b2z")).unwrap();
    let store = Store::open(wild("store.b2z")).unwrap();
    let Place::Member(member) = store.get("/deep/b").unwrap().place().clone() else { panic!() };
    let at = usize::try_from(member.header + 30 + 11 + member.size / 2).unwrap();
    bytes[at] ^= 1;
    folder.write("x.b2z", &bytes);
    let store = Store::open(folder.path("x.b2z")).unwrap();
    let error = store.save(&folder.path("y.b2d"), Form::B2d).unwrap_err();
    assert!(matches!(error.error, Error::Checksum { structure: Structure::Zip, .. }), "{error}");
    assert!(error.path.ends_with("x.b2z:/deep/b.b2nd") && !folder.path("y.b2d").exists(), "{error}");
}

/// Keys that would lie outside the directory, and more entries than the limits.
#[test]
fn hostile_keys_and_counts_are_refused() {
    let folder = Folder::new("store-keys");
    let mut store = Store::create(folder.path("x.b2e"), Form::B2e).unwrap();
    store.put("/abcd", &mut frame("x")).unwrap();
    let bytes = folder.read("x.b2e");
    for (from, to) in [("/abcd", "/../x"), ("/abcd", "/a//b"), ("/abcd", "/a\x01bc")] {
        let at = bytes.windows(5).position(|window| window == from.as_bytes());
        // The map is compressed where that makes it smaller.
        let Some(at) = at else { panic!("the map is not stored as it is") };
        let mut changed = bytes.clone();
        changed[at..at + 5].copy_from_slice(to.as_bytes());
        folder.write("y.b2e", &changed);
        let store = Store::open(folder.path("y.b2e")).unwrap();
        for (form, output) in FORMS.iter().filter(|(form, _)| *form != Form::B2e) {
            let error = store.save(&folder.path(output), *form).unwrap_err();
            assert_eq!(error.error, IoKind::Name.into(), "{to}: {form:?}");
        }
    }
    for source in sources(&folder) {
        let opened = Store::open_with(&source, &Limits::default().entries(0)).map(drop);
        let limited = matches!(&opened, Err(error) if matches!(error.error, Error::Limit { limit: 0, .. }));
        assert!(limited, "{}: {opened:?}", source.display());
    }
}

/// What a path holds is told by its content, and a store that is one table is that.
#[test]
fn any_gives_stores_and_tables() {
    use blosc_frame::any::{Opened, open, open_any, open_mut};
    let folder = Folder::new("any-stores");
    let named = folder.path("no name says it");
    for name in
        ["store.b2d", "store.b2z", "dict.b2z", "tree.b2z", "embed.b2e", "plain.b2d", "table.b2d", "rows.b2z"]
    {
        let is_table = Store::open(wild(name)).unwrap().is_table();
        assert_eq!(is_table, ["plain.b2d", "table.b2d", "rows.b2z"].contains(&name), "{name}");
        let store = match open(wild(name)).unwrap() {
            Opened::Store(store) if !is_table => store,
            Opened::Table(store) if is_table => store,
            _ => panic!("{name}"),
        };
        assert_eq!(frames(&store), frames(&Store::open(wild(name)).unwrap()), "{name}");
        let refused = open_any(wild(name), &Limits::DEFAULT).err().unwrap();
        let text = refused.to_string();
        assert!(
            text.starts_with(&*wild(name).to_string_lossy()) && text.contains("several arrays"),
            "{text}"
        );
        // What is opened to be changed can be: the store's own changes take the lock.
        let form = if store.form() == Form::Folder { Form::B2d } else { store.form() };
        store.save(&named, form).unwrap();
        match open_mut(&named).unwrap() {
            Opened::Store(mut store) | Opened::Table(mut store) => {
                store.put("/new", &mut frame("new")).unwrap();
                assert!(store.get("/new").is_some(), "{name}");
            }
            Opened::Frame(_) if form == Form::B2e => {}
            _ => panic!("{name}"),
        }
        let _ = std::fs::remove_dir_all(&named);
        let _ = std::fs::remove_file(&named);
    }
    std::fs::create_dir(&named).unwrap();
    std::fs::write(named.join("notes.txt"), b"notes").unwrap();
    let refused = open(&named).err().unwrap();
    assert!(matches!(refused.error, Error::Unsupported { structure: Structure::Directory, .. }), "{refused}");
    assert!(refused.to_string().starts_with(&*named.to_string_lossy()), "{refused}");
}

/// A table's rows come from the store that it lies in, whichever form that has.
#[cfg(feature = "table")]
#[test]
fn tables_are_read_where_they_lie() {
    let folder = Folder::new("tables-lie");
    let whole = Store::open(wild("rows.b2z")).unwrap();
    let rows = |store: &Store, group: &str| {
        let mut table = store.table(group).unwrap();
        let (mut columns, all) = (table.columns().unwrap(), 0..table.rows);
        let batches = table.batches(&mut columns, all).collect::<Result<Vec<_>, _>>().unwrap();
        assert!(table.verify().is_empty());
        (table.rows, batches)
    };
    let expected = rows(&whole, "");
    assert!(expected.0 > 0 && expected.1[0].num_columns() > 1);
    for (form, name) in [(Form::B2d, "t.b2d"), (Form::B2z, "t.b2z"), (Form::B2e, "t.b2e")] {
        let path = folder.path(name);
        whole.save(&path, form).unwrap();
        assert_eq!(rows(&Store::open(&path).unwrap(), ""), expected, "{name}");
    }
    // A group of a store.
    let path = folder.path("outer.b2d");
    std::fs::create_dir(&path).unwrap();
    whole.save(&path.join("t"), Form::Folder).unwrap();
    let outer = Store::open(&path).unwrap();
    assert_eq!(rows(&outer, "/t"), expected);
    for none in ["/no", ""] {
        assert!(outer.table(none).is_err(), "{none:?}");
    }
}

/// Whichever of the frames in a root are gone: the others stay, under their keys, and those are told.
#[test]
fn a_repair_keeps_the_embedded_frames_that_are_whole() {
    let folder = Folder::new("store-repair");
    let mut store = Store::create(folder.path("x.b2e"), Form::B2e).unwrap();
    for key in ["/a", "/b", "/c", "/d"] {
        store.put(key, &mut frame(key)).unwrap();
    }
    let store = Store::open(folder.path("x.b2e")).unwrap();
    let whole = frames(&store);
    for gone in 0..16 {
        let is_gone = |key: &str| gone >> (key.as_bytes()[1] - b'a') & 1 == 1;
        let mut root = SuperChunk::from_bytes(folder.read("x.b2e"), &Limits::DEFAULT).unwrap();
        let mut bytes = root.read_all().unwrap();
        for entry in store.entries().iter().filter(|entry| is_gone(entry.key())) {
            let Place::Embedded { offset, length } = *entry.place() else { panic!("{entry:?}") };
            bytes[offset as usize..][..length as usize].fill(0);
        }
        let mut start = 0;
        for k in 0..root.nchunks() {
            let end = start + root.chunk_nbytes(k).unwrap() as usize;
            root.update(k, &bytes[start..end]).unwrap();
            start = end;
        }
        let damaged = root.into_bytes().unwrap();
        let (report, mended) = repair(&damaged.as_slice(), &Limits::DEFAULT, SuperChunk::memory).unwrap();
        let make = |params: &Params| SuperChunk::create(PathFile::create(folder.path("z.b2e"))?, params);
        let into_file = repair(&damaged.as_slice(), &Limits::DEFAULT, make);
        assert_eq!(into_file.unwrap().0, report);
        let lost: Vec<&str> = whole.keys().map(String::as_str).filter(|key| is_gone(key)).collect();
        if lost.len() == 4 {
            // Bytes of which nothing is a frame are no store.
            assert!(report.leaves_lost == lost || !report.dropped.is_empty(), "{report:?}");
            continue;
        }
        assert_eq!(
            (&report.leaves_lost, report.is_complete()),
            (&lost.iter().map(ToString::to_string).collect(), gone == 0)
        );
        folder.write("y.b2e", &mended.into_bytes().unwrap());
        let mut left = whole.clone();
        left.retain(|key, _| !is_gone(key));
        for name in ["y.b2e", "z.b2e"] {
            assert_eq!(frames(&Store::open(folder.path(name)).unwrap()), left, "{name} without {lost:?}");
        }
    }
}

//! A store as another form of store: every file as it is, what is embedded as a file of its own or the other way round.
//! Nothing is decoded but the root.

use super::embedded::{MAP, REGISTRY, ROOTS, map_of, user_layers};
use super::model::{Entry, Form, Leaf, Place, ROOT, Store, under};
use super::zip::{NewZip, Stream};
use crate::cframe::CHECKSUMS_NAME;
use crate::error::{Error, FileError, IoKind, Structure};
use crate::io::{NewDir, NewFile, PathFile, Pieces, ReadAt, check_name, parent, sync_tree};
use crate::msgpack;
use crate::schunk::SuperChunk;
use crate::value::Value;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use blosc_core::{Codec, Params};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Bytes of the chunks of a root, as python-blosc2 has them.
const CHUNK: u32 = 8192;

impl Store {
    /// Creates a store without leaves at a path where nothing is yet.
    ///
    /// # Errors
    /// [`IoKind::AlreadyExists`]; those of the file system.
    pub fn create(path: impl AsRef<Path>, form: Form) -> Result<Store, FileError> {
        let path = path.as_ref();
        empty(path, form).map_err(FileError::at(path))?;
        Store::open(path)
    }

    /// Checks what no frame of a zip file checks itself: the CRC-32 of a member.
    ///
    /// # Errors
    /// [`Error::Checksum`]; what reading gives.
    pub fn check(&self, entry: &Entry) -> Result<(), FileError> {
        match entry.place {
            Place::Member(_) => copy(self, entry, &mut std::io::sink()).map_err(self.at(entry)),
            _ => Ok(()),
        }
    }

    /// What a store of this form cannot hold of this one, for people; nothing of a whole copy.
    pub fn left_out(&self, form: Form) -> Vec<String> {
        let kept = |entry: &&Entry| match entry.leaf {
            Leaf::Damaged | Leaf::Link => false,
            Leaf::Foreign => form != Form::B2e,
            // They are in the root.
            Leaf::Reference => form != Form::Folder,
            _ => true,
        };
        let mut left_out: Vec<String> = Vec::new();
        for entry in self.entries.iter().filter(|entry| !kept(entry)) {
            left_out.push(format!("{} ({})", entry.name(), entry.leaf.name()));
        }
        if form == Form::B2e {
            let empty = self.empty_groups().map(|group| format!("{group} (a group with nothing in it)"));
            left_out.extend(empty);
        }
        left_out
    }

    /// The groups that nothing lies in.
    fn empty_groups(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().map(String::as_str).filter(|group| {
            let inside = format!("{group}/");
            let first = |keys: Option<&str>| keys.is_some_and(|key| key.starts_with(&inside));
            let entry = self.entries.partition_point(|entry| entry.key() < inside.as_str());
            let other = self.groups.partition_point(|other| *other < inside);
            !first(self.entries.get(entry).map(Entry::key))
                && !first(self.groups.get(other).map(String::as_str))
        })
    }

    /// Writes all of it to a path where nothing is yet, as a store of this form: leaves, groups, attributes, references,
    /// and files of others, but for what [`Store::left_out`] names. It appears there when it is complete.
    ///
    /// # Errors
    /// A path that exists; keys that no file can have; what reading and writing give. The path in the error is that of
    /// the entry that could not be copied, or `to`.
    pub fn save(&self, to: &Path, form: Form) -> Result<(), FileError> {
        let at = FileError::at(to);
        if fs::symlink_metadata(to).is_ok() {
            return Err(at(IoKind::AlreadyExists.into()));
        }
        let made = NewDir::create(to).map_err(Error::from).map_err(&at)?;
        let new = made.path().join("new");
        match form {
            Form::B2d | Form::Folder => self.save_files(&new, form)?,
            Form::B2z => {
                let file = File::create_new(&new).map_err(|error| at(error.into()))?;
                self.save_zip(file, to, made.path())?;
            }
            Form::B2e => self.save_frame(&new, made.path())?,
        }
        made.finish(&new).map_err(|error| at(error.into()))
    }

    /// This store with the files of a directory in the place of all that lies in a group, to be saved.
    ///
    /// # Errors
    /// A directory that cannot be read.
    pub fn with_group(&self, key: &str, folder: &Path) -> Result<Store, FileError> {
        let new = Store::open_with(folder, &self.shared.limits)?;
        let old = |entry: &&Entry| entry.leaf == Leaf::Root || under(&entry.name, key).is_none();
        let mut entries: Vec<Entry> = self.entries.iter().filter(old).cloned().collect();
        for entry in new.entries.into_iter().filter(|entry| entry.leaf != Leaf::Root) {
            entries.push(Entry::new(format!("{key}{}", entry.name), entry.leaf, entry.place));
        }
        entries.sort_by(|a, b| (a.key(), a.name()).cmp(&(b.key(), b.name())));
        Ok(Store { entries, ..self.clone() })
    }

    /// What is copied, with the name of its file.
    fn copied(&self) -> Result<Vec<(String, &Entry)>, FileError> {
        let mut all = Vec::new();
        for entry in &self.entries {
            if matches!(entry.leaf, Leaf::Root | Leaf::Damaged | Leaf::Reference | Leaf::Link) {
                continue;
            }
            let name = match entry.place {
                Place::Embedded { .. } => format!("{}{}", entry.key(), entry.leaf.extension()),
                _ => entry.name().to_string(),
            };
            all.push((plain(&name).map_err(self.at(entry))?.to_string(), entry));
        }
        Ok(all)
    }

    fn save_files(&self, to: &Path, form: Form) -> Result<(), FileError> {
        let system = |error: io::Error| FileError::at(to)(error.into());
        fs::create_dir(to).map_err(system)?;
        for group in &self.groups {
            let name = plain(group).map_err(FileError::at(self.named(group)))?;
            fs::create_dir_all(to.join(name)).map_err(system)?;
        }
        for (name, entry) in self.copied()? {
            let path = to.join(name);
            let written = || -> Result<(), Error> {
                fs::create_dir_all(parent(&path))?;
                match &entry.place {
                    Place::Path(from) if from.is_dir() => copy_directory(from, &path),
                    _ => copy(self, entry, &mut File::options().write(true).create_new(true).open(&path)?),
                }
            };
            written().map_err(self.at(entry))?;
        }
        match form {
            Form::B2d => self.new_root(&to.join(ROOT), false).map(drop).map_err(FileError::at(to)),
            _ => Ok(()),
        }
    }

    /// Writes the zip file that `to` names in messages; `temp` is a directory for what must become one file first.
    pub(super) fn save_zip(&self, file: File, to: &Path, temp: &Path) -> Result<(), FileError> {
        let at = FileError::at(to);
        let mut zip = NewZip::new(file);
        for group in self.empty_groups() {
            let name = plain(group).map_err(FileError::at(self.named(group)))?;
            zip.directory(&format!("{name}/")).map_err(&at)?;
        }
        let mut all = Vec::new();
        for (name, entry) in self.copied()? {
            let (entry, size) = self.in_one_file(entry, temp).map_err(self.at(entry))?;
            all.push((name, entry, size));
        }
        // The largest first and the root last, as python-blosc2 does.
        all.sort_by(|a, b| (b.2, &a.0).cmp(&(a.2, &b.0)));
        for (name, entry, size) in all {
            let written = zip.member(&name, size, &mut |out| copy(self, &entry, out));
            written.map_err(self.at(&entry))?;
        }
        let root = temp.join(ROOT);
        let mut write = || -> Result<(), Error> {
            self.new_root(&root, false)?;
            let root = File::open(&root)?;
            zip.member(ROOT, root.size()?, &mut |out| Ok(io::copy(&mut &root, out).map(drop)?))
        };
        write().and_then(|()| zip.finish().map(drop)).map_err(at)
    }

    fn save_frame(&self, to: &Path, temp: &Path) -> Result<(), FileError> {
        let at = FileError::at(to);
        let mut frame = self.new_root(to, true).map_err(&at)?;
        let mut map = Vec::new();
        let mut offset = 0u64;
        for (_, entry) in self.copied()? {
            if matches!(entry.leaf, Leaf::Foreign) {
                continue;
            }
            let mut write = || -> Result<(), Error> {
                if map.iter().any(|(key, _)| key == entry.key()) {
                    return Err(IoKind::AlreadyExists.into());
                }
                let (entry, length) = self.in_one_file(entry, temp)?;
                let before = frame.nbytes();
                copy(self, &entry, &mut Appending(&mut frame))?;
                debug_assert_eq!(frame.nbytes(), before.saturating_add(length));
                let place = [("offset", Value::int(offset)), ("length", Value::int(length))];
                map.push((entry.key().to_string(), Value::object(place)));
                offset = offset.saturating_add(length);
                Ok(())
            };
            write().map_err(self.at(entry))?;
        }
        let mut finish = || -> Result<(), Error> {
            let elsewhere = self.elsewhere(MAP)?;
            map.extend(elsewhere);
            set_map(&mut frame, core::mem::take(&mut map), offset)?;
            frame.commit()
        };
        finish().map_err(at)
    }

    /// The entry as one file, and the length of that: a sparse frame is copied to a contiguous one in `temp`.
    fn in_one_file(&self, entry: &Entry, temp: &Path) -> Result<(Entry, u64), Error> {
        let mut entry = entry.clone();
        let size = match &entry.place {
            Place::Member(member) => member.size,
            Place::Embedded { length, .. } => *length,
            Place::Elsewhere(_) => 0,
            Place::Path(path) if path.is_dir() => {
                let sparse = self.open_frame(&entry)?;
                let file = temp.join(format!("{}.b2frame", fs::read_dir(temp)?.count()));
                let mut frame = SuperChunk::create(File::create_new(&file)?, &sparse.params())?;
                frame.copy_from(&sparse)?;
                frame.commit()?;
                entry.place = Place::Path(file.clone());
                fs::metadata(file)?.len()
            }
            Place::Path(path) => fs::metadata(path)?.len(),
        };
        Ok((entry, size))
    }

    /// A new root at `to`, with what the old one says but for what is embedded in it.
    fn new_root(&self, to: &Path, embeds: bool) -> Result<SuperChunk<'static>, Error> {
        let file = File::options().read(true).write(true).create_new(true).open(to)?;
        let (mut frame, mut kind) = (new_root(file)?, "b2tree".to_string());
        let copied = self.with_root(|root| -> Result<_, Error> {
            let metas: Vec<_> = root.metalayer_names().collect();
            let metas: Vec<(String, Vec<u8>)> = metas
                .into_iter()
                .filter_map(|name| root.metalayer(&name).map(<[u8]>::to_vec).map(|content| (name, content)))
                .collect();
            Ok((metas, user_layers(root)?))
        });
        if let Some(copied) = copied {
            let (metas, layers) = copied?;
            for (name, content) in metas {
                match ROOTS.contains(&name.as_str()) {
                    true if name != "b2embed" => kind = name,
                    true => {}
                    false => frame.set_metalayer(&name, &content)?,
                }
            }
            for (name, content) in layers {
                if ![MAP, REGISTRY, CHECKSUMS_NAME].contains(&name.as_str()) {
                    frame.set_vlmetalayer(&name, &content)?;
                }
            }
        }
        let registry = self.elsewhere(REGISTRY)?;
        if !registry.is_empty() {
            frame.set_vlmetalayer(REGISTRY, &msgpack::from_value(&Value::Object(registry)))?;
        }
        let kind = if embeds { "b2embed" } else { &kind };
        frame.set_metalayer(kind, VERSION)?;
        if !embeds {
            set_map(&mut frame, self.elsewhere(MAP)?, 0)?;
            frame.commit()?;
        }
        Ok(frame)
    }

    /// What a map of the root says of keys in this group that are not embedded, by their keys here.
    fn elsewhere(&self, name: &str) -> Result<Vec<(String, Value)>, Error> {
        let map = self.with_root(|root| map_of(root, name)).transpose()?.unwrap_or_default();
        let map = match name {
            MAP => map.into_iter().find(|(name, _)| name == "embed_map").map(|(_, map)| map),
            _ => Some(Value::Object(map)),
        };
        let Some(Value::Object(map)) = map else { return Ok(Vec::new()) };
        let here = |value: &Value| value.get("offset").is_some() && value.get("length").is_some();
        let kept = map.into_iter().filter_map(|(key, value)| {
            let rest = match self.prefix.is_empty() {
                true => Some(key.as_str()),
                false => under(&key, &self.prefix),
            };
            rest.filter(|_| name != MAP || !here(&value)).map(|rest| (rest.to_string(), value.clone()))
        });
        Ok(kept.collect())
    }
}

/// MessagePack: {"version": 1}.
const VERSION: &[u8] = b"\x81\xa7version\x01";

/// A key, or the name of an entry, as the name of a file in the store, where it stays inside that.
fn plain(key: &str) -> Result<&str, Error> {
    let name = key.strip_prefix('/').unwrap_or(key);
    name.split('/').try_for_each(check_name)?;
    Ok(name)
}

/// A root without metalayers.
fn new_root(file: File) -> Result<SuperChunk<'static>, Error> {
    let mut frame = SuperChunk::create(file, &Params::new(1).codec(Codec::Zstd).level(5).shuffle())?;
    frame.set_checksums(false);
    frame.set_chunksize(CHUNK)?;
    Ok(frame)
}

/// Says what is embedded in a root.
pub(crate) fn set_map(frame: &mut SuperChunk<'_>, map: Vec<(String, Value)>, end: u64) -> Result<(), Error> {
    let map = [("embed_map", Value::Object(map)), ("current_offset", Value::int(end))];
    frame.set_vlmetalayer(MAP, &msgpack::from_value(&Value::object(map)))
}

/// Writes a store in which nothing is.
pub(super) fn empty(path: &Path, form: Form) -> Result<(), Error> {
    let root = |file: File, kind: &str| -> Result<(), Error> {
        let mut frame = new_root(file)?;
        frame.set_metalayer(kind, VERSION)?;
        set_map(&mut frame, Vec::new(), 0)?;
        frame.commit()
    };
    if form.is_directory() {
        fs::create_dir(path)?;
        if form == Form::B2d {
            let file = File::options().read(true).write(true).create_new(true).open(path.join(ROOT))?;
            root(file, "b2tree")?;
        }
        return Ok(sync_tree(path)?);
    }
    if fs::symlink_metadata(path).is_ok() {
        return Err(IoKind::AlreadyExists.into());
    }
    let mut new = NewFile::create(path)?;
    match form {
        Form::B2e => root(new.file()?.try_clone()?, "b2embed")?,
        _ => {
            let dir = NewDir::create(path)?;
            let file = dir.path().join(ROOT);
            root(File::options().read(true).write(true).create_new(true).open(&file)?, "b2tree")?;
            let mut zip = NewZip::new(new.file()?.try_clone()?);
            let root = File::open(&file)?;
            zip.member(ROOT, root.size()?, &mut |out| Ok(io::copy(&mut &root, out).map(drop)?))?;
            zip.finish()?;
        }
    }
    new.finish()?;
    Ok(())
}

/// Copies the bytes of an entry.
///
/// # Errors
/// [`Error::Checksum`] of a member of a zip file whose CRC-32 is another; what reading and writing give.
pub(super) fn copy(store: &Store, entry: &Entry, out: &mut dyn Write) -> Result<(), Error> {
    let mut from = |source: &dyn ReadAt| -> Result<u32, Error> {
        let mut stream = Stream::new(source);
        let together = if source.is_far() { source.size()?.min(Pieces::AT_ONCE) as usize } else { 0 };
        io::copy(&mut io::BufReader::with_capacity(together.max(8 << 10), &mut stream), out)?;
        Ok(stream.crc.finalize())
    };
    match &entry.place {
        Place::Path(path) => from(&PathFile::open(path)?).map(drop),
        Place::Member(member) => match from(&store.content(member)?)? == member.crc {
            true => Ok(()),
            false => {
                let (structure, offset) = (Structure::Zip, member.header);
                Err(Error::Checksum { structure, chunk: None, offset })
            }
        },
        Place::Embedded { offset, length } => {
            let bytes = store.embedded(*offset, *length)?;
            from(&bytes).map(drop).map_err(|error| bytes.cause().unwrap_or(error))
        }
        Place::Elsewhere(_) => Err(IoKind::NotFound.into()),
    }
}

/// Copies the directory of a sparse frame, whose files lie in it.
fn copy_directory(from: &Path, to: &Path) -> Result<(), Error> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// What is written goes to the end of a frame.
pub(super) struct Appending<'f>(pub &'f mut SuperChunk<'static>);

impl Write for Appending<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.append(bytes)?;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

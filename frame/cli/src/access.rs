//! Containers that a command changes, or looks into without decoding all of them: where they start, how much
//! of them may be decoded, and the lock held meanwhile.

use crate::args::{Input, Kind};
use crate::detect;
use crate::failure::{Failure, Result};
use crate::source::plain::{failure, limits};
use blosc_frame::io::{FsDir, Held, Offset, PathFile, SidecarLock};
use blosc_frame::{Limits, SuperChunk};
use clap::Args as Group;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// How a frame is got at.
#[derive(Debug, Clone, Group)]
pub struct Access {
    /// Where the frame starts in the file. One inside a larger file can be read and copied, not changed
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub offset: u64,
    /// Refuse to decode to more than this; none lifts all limits, for input you trust
    #[arg(long, value_name = "BYTES", value_parser = crate::args::most)]
    pub max_output: Option<u64>,
    /// Hold the lock file FRAME.b2lock meanwhile
    #[arg(long)]
    pub lock: bool,
}

/// The lock of a frame, as long as it is held.
pub struct Lock(Option<SidecarLock>);

impl Access {
    /// Opens a frame to change it.
    pub fn open(&self, path: &Path) -> Result<SuperChunk<'static>> {
        if self.offset != 0 {
            // It would overwrite what follows, and be cut off after its end (`docs/formats/cframe.md` §10).
            let why = "a frame inside a larger file cannot be changed; copy it out with repair --offset";
            return Err(Failure::at(path, format!("--offset: {why}")));
        }
        check_frame(path, 0)?;
        let limits = limits(self.max(path));
        let open = || match path.is_dir() {
            true => SuperChunk::open_dir(FsDir::open(path)?, &limits),
            false => {
                crate::output::remember_replacing(path);
                SuperChunk::open(PathFile::open_rw(path)?, &limits)
            }
        };
        open().map_err(failure(path))
    }

    /// Commits what was changed, and says so if there is no room for the table of checksums.
    pub fn commit(&self, frame: &mut SuperChunk<'_>, path: &Path) -> Result<()> {
        frame.commit().map_err(failure(path))?;
        if frame.checksums_left_out() {
            eprintln!("blosc: {}: all 16 vlmetalayers are taken: no checksums of chunks", path.display());
        }
        Ok(())
    }

    /// Opens a frame for reading only.
    pub fn open_read(&self, path: &Path) -> Result<SuperChunk<'static>> {
        check_frame(path, self.offset)?;
        let limits = limits(self.max(path));
        if path.is_dir() {
            if self.offset != 0 {
                return Err(Failure::Usage("--offset: a sparse frame is a directory and has none".into()));
            }
            return FsDir::open(path)
                .map_err(blosc_frame::Error::from)
                .and_then(|dir| SuperChunk::open_dir(dir, &limits))
                .map_err(failure(path));
        }
        let file = File::open(path).map_err(|e| Failure::at(path, e))?;
        let open = || SuperChunk::open_read(Offset::new(file, self.offset)?, &limits);
        open().map_err(failure(path))
    }

    /// Most bytes to decode to, by `--max-output` or by what the container takes on disk.
    pub fn max(&self, path: &Path) -> u64 {
        max_of(self.max_output, path)
    }

    /// The limits for a container of rows, which starts where its file does and has no lock.
    pub fn rows(&self, path: &Path) -> Result<Limits> {
        let option = match (self.offset, self.lock) {
            (0, false) => return Ok(limits(self.max(path))),
            (0, true) => "--lock: only frames have locks",
            _ => "--offset: only frames can start inside a file",
        };
        Err(Failure::Usage(format!("{option}, and {} is none", path.display())))
    }

    /// The sidecar lock, if it is asked for here or by `BLOSC_LOCKING`, as C-Blosc2 has it.
    pub fn lock(&self, path: &Path) -> Result<Lock> {
        if !self.lock && !locking() {
            return Ok(Lock(None));
        }
        // Do not leave a lock beside a frame that does not exist.
        std::fs::metadata(path).map_err(|e| Failure::at(path, e))?;
        SidecarLock::open(path).map(|lock| Lock(Some(lock))).map_err(failure(path))
    }
}

/// Most bytes to decode to: what `--max-output` says, or what follows from the space a container takes.
pub fn max_of(max_output: Option<u64>, path: &Path) -> u64 {
    let stored = || match path.is_dir() {
        true => crate::source::directory_size(path),
        false => std::fs::metadata(path).map_or(0, |m| m.len()),
    };
    max_output.unwrap_or_else(|| crate::source::max_by_size(stored()))
}

fn locking() -> bool {
    std::env::var_os("BLOSC_LOCKING").is_some_and(|v| !v.is_empty() && v != "0")
}

impl Input {
    /// The sidecar lock of a frame that is only read. Other files have none.
    pub fn lock(&self) -> Result<Lock> {
        let path = &self.input;
        if !self.lock && !locking() {
            return Ok(Lock(None));
        }
        match is_frame(path, self.offset) {
            Ok(true) => SidecarLock::open(path).map(|lock| Lock(Some(lock))).map_err(failure(path)),
            Ok(false) if self.lock => Err(Failure::Usage(format!(
                "--lock: {} is no frame, and only frames have locks",
                path.display()
            ))),
            Ok(false) => Ok(Lock(None)),
            Err(e) => Err(Failure::at(path, e)),
        }
    }
}

/// Says of what is no frame that it is none: the first field of a frame's header says little to who took the wrong file.
pub fn check_frame(path: &Path, offset: u64) -> Result<()> {
    if path.is_dir() {
        return match path.join("chunks.b2frame").exists() {
            true => Ok(()),
            false => Err(Failure::at(path, "a directory without chunks.b2frame: no sparse frame")),
        };
    }
    match is_frame(path, offset) {
        Ok(true) => Ok(()),
        Ok(false) => {
            let (what, then) =
                ("no frame or array", "if it was one, `blosc repair` saves what is left of it");
            Err(Failure::at(path, format_args!("{what} (frame header: magic at byte {offset}); {then}")))
        }
        Err(e) => Err(Failure::at(path, e)),
    }
}

/// Whether a frame starts at byte `offset` of a file, or lies in a directory.
fn is_frame(path: &Path, offset: u64) -> std::io::Result<bool> {
    if path == Path::new("-") {
        return Ok(false);
    }
    if path.is_dir() {
        return Ok(matches!(detect::directory(path), Ok(Some(Kind::Sframe))));
    }
    let mut file = File::open(path)?;
    let mut head = Vec::new();
    file.seek(SeekFrom::Start(offset))?;
    file.take(64).read_to_end(&mut head)?;
    Ok(detect::file(&head) == Kind::Frame)
}

impl Lock {
    /// Waits for it and holds it until the result is dropped; nobody else reads or writes meanwhile.
    pub fn hold(&mut self) -> Result<Option<Held<'_>>> {
        Ok(self.0.as_mut().map(SidecarLock::write).transpose()?)
    }

    /// As [`Lock::hold`]; others may read meanwhile.
    pub fn hold_shared(&mut self) -> Result<Option<Held<'_>>> {
        Ok(self.0.as_mut().map(SidecarLock::read).transpose()?)
    }
}

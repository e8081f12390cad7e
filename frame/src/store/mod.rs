//! Stores: several arrays and frames under one path, by their keys (docs/formats/b2nd.md §7).
//!
//! ```text
//! x.b2d      a directory: a frame for each leaf, `g/a.b2nd` for the key /g/a; the root `embed.b2e` holds small ones
//! x.b2z      the same files in a zip file, whose members are stored
//! x.b2e      frames inside one frame, one behind the other
//! folder     a directory of arrays without a root
//! ```
//! [`Store::open`] lists what is there: each leaf, what only refers to something elsewhere, and files of others, so that
//! whoever copies a store knows what it holds. Nothing is decoded, unpickled or followed for that. A leaf is opened as the
//! frame that it is ([`Store::frame`]); all of them become another form of store by [`Store::save`].
//!
//! # Example
//! ```
//! use blosc_core::Params;
//! use blosc_frame::store::{Form, Store};
//! use blosc_frame::SuperChunk;
//! # let folder = std::env::temp_dir().join(format!("blosc-store-{}", std::process::id()));
//! # std::fs::create_dir(&folder)?;
//! # let path = folder.join("run.b2d");
//! let mut store = Store::create(&path, Form::B2d)?;
//! let mut frame = SuperChunk::memory(&Params::new(4))?;
//! frame.append(&[7; 4000])?;
//! store.put("/g/counts", &mut frame)?;
//!
//! // The same in one file.
//! store.save(&folder.join("run.b2z"), Form::B2z)?;
//! let store = Store::open(folder.join("run.b2z"))?;
//! for entry in store.entries() {
//!     println!("{}: {}", entry.key(), entry.leaf().name());
//! }
//! let mut counts = store.get("/g/counts").map(|entry| store.frame(entry)).transpose()?.unwrap();
//! assert_eq!(counts.read_all()?, [7; 4000]);
//! # std::fs::remove_dir_all(folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod embedded;
mod list;
mod model;
mod open;
mod put;
mod save;
pub mod zip;

pub use embedded::is_root;
pub(crate) use embedded::{ROOTS, Said, said};
pub use model::{Entry, Form, Leaf, META, Place, ROOT, Store, VALID_ROWS};
pub(crate) use save::set_map;

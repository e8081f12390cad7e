//! Bloscpack files: opening hostile ones, and edits beside a plain vector.

use crate::frames::{LIMITS, OUTPUT, params, pattern, told};
use crate::primed::twice;
use crate::resources::allow;
use arbitrary::{Result, Unstructured};
use blosc_core::Pool;
use blosc_frame::b2nd::Dtype;
use blosc_frame::bloscpack::{
    Bloscpack, Checksum, Edit, Layout, MetaCodec, MetaOptions, MetaRoom, Numpy, Options, Order, Spare,
    StreamReader,
};
use blosc_frame::plain::Plain;
use blosc_frame::value::Value;
use blosc_frame::{Error, Limits};

/// A bloscpack file, read by its offsets and as a stream.
pub fn open(data: &[u8]) {
    allow(4 * OUTPUT + (16 << 20));
    let mut pool = Pool::new(1);
    let streamed = twice(|before| stream(&mut before.pool(), data));
    let Some(pack) = told(Bloscpack::open(data, &LIMITS)) else { return };
    let layout = pack.header().layout;
    assert!(pack.file_len() >= layout.header_len() as u64, "{}, {}", layout.name(), pack.header().checksum);
    let _ = (told(pack.numpy()), pack.metadata(), pack.meta_header());
    for i in 0..pack.nchunks().min(LIMITS.chunks) {
        if let Some(bytes) = told(pack.chunk_bytes(i)) {
            let digest = pack.header().checksum.digest(&bytes);
            assert_eq!(format!("{digest:?}").len(), 2 * pack.header().checksum.digest_len());
        }
    }
    assert!(pack.chunk_bytes(pack.nchunks()).is_err());
    let whole = twice(|before| pack.read_all(&mut before.pool()));
    let Ok(report) = pack.verify(&mut pool, true) else { return };
    let whole = match whole {
        Ok(whole) => whole,
        Err(Error::Limit { .. }) => return,
        Err(error) => return assert!(!report.damaged.is_empty(), "verifies, but: {error}"),
    };
    assert_eq!(whole.len() as u64, pack.nbytes());
    assert!(report.damaged.is_empty(), "read as a whole, but {report:?}");
    // Only readers that use the offsets skip gaps or visit chunks in another order.
    let offsets: Vec<_> = (0..pack.nchunks()).map(|i| pack.chunk_offset(i)).collect();
    if let Ok(streamed) = streamed
        && report.gaps == 0
        && report.trailing == 0
        && offsets.is_sorted_by(|a, b| a < b)
    {
        assert!(streamed == whole, "the stream differs");
    }
}

fn stream(pool: &mut Pool, data: &[u8]) -> std::result::Result<Vec<u8>, Error> {
    let mut reader = StreamReader::open(data, &LIMITS)?;
    let (mut all, mut chunk) = (Vec::new(), Vec::new());
    while all.len() < OUTPUT && reader.next_chunk(pool, &mut chunk)? {
        all.extend_from_slice(&chunk);
    }
    Ok(all)
}

/// A file of any layout, edited beside a plain vector.
pub fn append(data: &[u8]) {
    allow(64 << 20); // encoder contexts
    let _ = appends(&mut Unstructured::new(data));
}

/// Metadata as any program may leave it, or as those about NumPy do.
fn description(u: &mut Unstructured<'_>) -> Result<Value> {
    let shape = vec![u64::from(u.arbitrary::<u8>()?), u64::from(u.arbitrary::<u8>()?)];
    let dtype =
        *u.choose(&["<i4", "|S5", "[('a', '<i4'), ('b', '<f8', (2,))]", "[('x', [('y', '>c8')])]"])?;
    let array = Numpy {
        dtype: Dtype::parse(dtype).expect("a dtype"),
        shape,
        order: *u.choose(&[Order::C, Order::F])?,
    };
    let metadata = array.to_metadata().expect("fields in order");
    let again = Numpy::from_metadata(&metadata).expect("our own metadata").expect("about an array");
    assert_eq!((&again.shape, again.nbytes()), (&array.shape, array.nbytes()));
    Ok(match u.arbitrary()? {
        true => metadata,
        false => Value::object([("a", Value::text(format!("{:?}", u.arbitrary::<[u8; 9]>()?)))]),
    })
}

/// Other metadata in the same place, where there is a place that it fits in.
fn replace(u: &mut Unstructured<'_>, pack: &mut Bloscpack<Vec<u8>>, meta: &MetaOptions) -> Result<()> {
    let (new, before) = (description(u)?, pack.metadata().cloned());
    let allowed = pack.check_metadata(&new, meta).is_ok();
    assert_eq!(pack.set_metadata(&new, meta).is_ok(), allowed);
    assert_eq!(pack.metadata(), if allowed { Some(&new) } else { before.as_ref() });
    Ok(())
}

fn appends(u: &mut Unstructured<'_>) -> Result<()> {
    let mut pool = Pool::new(1);
    let params = params(u)?;
    let options = Options {
        layout: *u.choose(&[Layout::V1, Layout::V2, Layout::Mono, Layout::V3])?,
        chunk_size: u.int_in_range(1..=600)?,
        params: params.typesize(params.typesize.min(255)),
        checksum: *u.choose(&Checksum::ALL)?,
        offsets: u.arbitrary()?,
        spare: Spare::Chunks(u.int_in_range(0..=40)?),
        reserve: *u.choose(&[0, 7, 300])?,
        ..Options::default()
    };
    let meta = MetaOptions {
        checksum: *u.choose(&Checksum::ALL)?,
        codec: *u.choose(&[MetaCodec::None, MetaCodec::Zlib])?,
        room: *u.choose(&[
            MetaRoom::Times(10),
            MetaRoom::Times(1),
            MetaRoom::Bytes(200),
            MetaRoom::Bytes(0),
        ])?,
        ..MetaOptions::default()
    };
    let with_metadata = matches!(options.layout, Layout::V3 | Layout::Mono) && u.ratio(1, 2)?;
    let metadata = if with_metadata { Some(description(u)?) } else { None };
    let options = Options { metadata: metadata.clone(), meta, ..options };
    let len = u.int_in_range(0..=2000)?;
    let mut model = pattern(u, len)?;
    let file = options.write(&mut pool, &model, Vec::new()).expect("a file of our own");
    let mut pack = Bloscpack::open(file, &Limits::DEFAULT).expect("a file of our own");
    assert_eq!(pack.metadata(), metadata.as_ref());
    replace(u, &mut pack, &meta)?;
    let with = Edit { params: options.params, grow: u.arbitrary()?, ..Edit::default() };
    for _ in 0..12 {
        if u.is_empty() {
            break;
        }
        let now = model.len();
        let at = u.int_in_range(0..=now)?;
        let len = u.int_in_range(0..=900)?;
        let data = pattern(u, len)?;
        let mut wanted = model.clone();
        let edited = match u.int_in_range(0..=4)? {
            4 => {
                let data = &data[..len.min(now - at)];
                match pack.set_in_place(&mut pool, &with, at as u64, &data) {
                    // A chunk that does not fit any more: nothing has been written.
                    Err(Error::OutputTooSmall { .. } | Error::Unsupported { .. }) => Ok(()),
                    done => {
                        wanted[at..at + data.len()].copy_from_slice(data);
                        done
                    }
                }
            }
            0 => {
                wanted.splice(at..(at + len).min(now), []);
                pack.remove(&mut pool, &with, at as u64..(at + len).min(now) as u64)
            }
            1 => {
                let data = &data[..len.min(now - at)];
                wanted[at..at + data.len()].copy_from_slice(data);
                pack.set(&mut pool, &with, at as u64, &data)
            }
            2 => {
                wanted.resize(at + len, 0);
                pack.resize(&mut pool, &with, (at + len) as u64, &[0])
            }
            _ => {
                wanted.extend_from_slice(&data);
                pack.append(&mut pool, &with, &data)
            }
        };
        match edited {
            Ok(()) => model = wanted,
            Err(Error::Capacity { .. }) => {}
            Err(error) => panic!("{error}: {options:?}"),
        }
        assert_eq!(pack.read_all(&mut pool).as_ref(), Ok(&model), "{options:?}");
        let report = pack.verify(&mut pool, true).expect("a file of our own");
        // Metadata about NumPy tells a shape, which such edits do not change.
        assert!(
            report.damaged.is_empty() && report.gaps == 0 && report.trailing == 0,
            "{report:?} {options:?}"
        );
    }
    Ok(())
}

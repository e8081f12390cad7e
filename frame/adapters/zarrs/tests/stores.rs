//! Stores written by zarr-python with C-Blosc (`fixtures/make.py`), and stores of ours.

use blosc_zarrs::BloscCodec;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zarrs::array::{Array, ArrayBuilder, ArraySubset, ElementOwned, data_type};
use zarrs::filesystem::FilesystemStore;
use zarrs::metadata_ext::codec::blosc::BloscCodecConfigurationV1;
use zarrs::storage::ReadableWritableListableStorage;
use zarrs::storage::store::MemoryStore;

const ROWS: u64 = 60;
const COLUMNS: u64 = 40;

fn number(row: u64, column: u64) -> u64 {
    (100 * row + column) / 3 % 250
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn open(name: &str) -> Array<FilesystemStore> {
    blosc_zarrs::register();
    let store = Arc::new(FilesystemStore::new(fixtures().join(name)).unwrap());
    Array::open(store, "/").unwrap()
}

/// A few boxes: all, single items, rows, columns, and parts of several chunks.
fn boxes() -> Vec<(std::ops::Range<u64>, std::ops::Range<u64>)> {
    let mut boxes =
        vec![(0..ROWS, 0..COLUMNS), (59..60, 39..40), (7..8, 0..COLUMNS), (0..ROWS, 13..14), (3..3, 0..4)];
    let mut state = 12345u64;
    let mut next = |most: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % most
    };
    for _ in 0..60 {
        let (row, column) = (next(ROWS), next(COLUMNS));
        boxes.push((row..row + 1 + next(ROWS - row), column..column + 1 + next(COLUMNS - column)));
    }
    boxes
}

fn check<T: ElementOwned + PartialEq + std::fmt::Debug>(name: &str, of: impl Fn(u64) -> T)
where
    Vec<T>: zarrs::array::FromArrayBytes,
{
    let array = open(name);
    for (rows, columns) in boxes() {
        let subset = ArraySubset::new_with_ranges(&[rows.clone(), columns.clone()]);
        let got: Vec<T> = array.retrieve_array_subset(&subset).unwrap();
        let want: Vec<T> =
            rows.clone().flat_map(|r| columns.clone().map(move |c| number(r, c))).map(&of).collect();
        assert_eq!(got, want, "{name}: {rows:?}, {columns:?}");
    }
}

#[test]
fn stores_of_zarr_python() {
    check("lz4_shuffle_i4", |n| n as i32);
    check("zstd_bitshuffle_f8", |n| n as f64);
    check("blosclz_noshuffle_u2", |n| n as u16);
    check("zlib_shuffle_big_i8", |n| n as i64);
    check("lz4hc_sharded_i4", |n| n as i32);
    check("stored_sharded_u1", |n| n as u8);
}

/// With feature `blosc`, zarrs does these itself.
#[test]
fn stores_of_zarr_version_2() {
    check("v2_lz4_shuffle_i4", |n| n as i32);
    check("v2_zstd_bitshuffle_u2", |n| n as u16);
    check("v2_auto_f8", |n| n as f64);
}

/// With feature `compare` zarrs' own codec is there, too.
#[test]
fn this_codec_is_chosen() {
    let array = open("lz4_shuffle_i4");
    let codecs = array.codecs();
    let codec = &codecs.bytes_to_bytes_codecs()[0];
    assert!(codec.as_any().is::<BloscCodec>());
    assert!(codec.partial_decoder_capability().partial_decode);
}

fn codec(cname: &str, shuffle: &str, typesize: usize, blocksize: usize) -> Arc<BloscCodec> {
    let text = format!(
        r#"{{"cname": "{cname}", "clevel": 5, "shuffle": "{shuffle}", "typesize": {typesize}, "blocksize": {blocksize}}}"#
    );
    let configuration: BloscCodecConfigurationV1 = serde_json::from_str(&text).unwrap();
    Arc::new(BloscCodec::new(&configuration).unwrap())
}

fn items() -> Vec<i32> {
    (0..ROWS).flat_map(|r| (0..COLUMNS).map(move |c| number(r, c) as i32)).collect()
}

fn written(store: ReadableWritableListableStorage, codec: Arc<BloscCodec>) {
    let array = ArrayBuilder::new(vec![ROWS, COLUMNS], vec![30, 20], data_type::int32(), 0i32)
        .bytes_to_bytes_codecs(vec![codec])
        .build(store, "/")
        .unwrap();
    array.store_metadata().unwrap();
    array.store_array_subset(&ArraySubset::new_with_shape(vec![ROWS, COLUMNS]), items()).unwrap();
}

#[test]
fn what_is_written_is_read_again() {
    blosc_zarrs::register();
    let zstd = cfg!(feature = "zstd-c").then_some("zstd");
    for cname in ["blosclz", "lz4", "lz4hc", "snappy", "zlib"].into_iter().chain(zstd) {
        for shuffle in ["noshuffle", "shuffle", "bitshuffle"] {
            let store: ReadableWritableListableStorage = Arc::new(MemoryStore::new());
            written(store.clone(), codec(cname, shuffle, 4, 512));
            let array = Array::open(store, "/").unwrap();
            assert!(array.codecs().bytes_to_bytes_codecs()[0].as_any().is::<BloscCodec>());
            let all: Vec<i32> = array.retrieve_array_subset(&array.subset_all()).unwrap();
            assert_eq!(all, items());
            let part = ArraySubset::new_with_ranges(&[29..31, 19..22]);
            let part: Vec<i32> = array.retrieve_array_subset(&part).unwrap();
            let want: Vec<i32> = (29..31).flat_map(|r| (19..22).map(move |c| number(r, c) as i32)).collect();
            assert_eq!(part, want);
        }
    }
}

/// zarr-python, and so C-Blosc, reads what this codec wrote. `BLOSC_ADAPTERS_PYTHON` names a Python that has it.
#[test]
fn zarr_python_reads_it() {
    let Some(python) = std::env::var_os("BLOSC_ADAPTERS_PYTHON") else {
        eprintln!("skipped: BLOSC_ADAPTERS_PYTHON is not set");
        return;
    };
    let script = "import sys, numpy, zarr\n\
        a = zarr.open_array(sys.argv[1], mode='r')[:]\n\
        r, c = numpy.indices(a.shape)\n\
        assert (a == (100 * r + c) // 3 % 250).all()";
    for (cname, shuffle) in
        [("lz4", "shuffle"), ("blosclz", "bitshuffle"), ("zlib", "noshuffle"), ("zstd", "shuffle")]
    {
        let folder = tempfile::tempdir().unwrap();
        written(Arc::new(FilesystemStore::new(folder.path()).unwrap()), codec(cname, shuffle, 4, 0));
        let status =
            std::process::Command::new(&python).args(["-c", script]).arg(folder.path()).status().unwrap();
        assert!(status.success(), "{cname} {shuffle}");
    }
}

#[test]
fn damaged_and_lying_chunks_are_errors() {
    blosc_zarrs::register();
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(FilesystemStore::new(folder.path()).unwrap());
    written(store.clone(), codec("lz4", "noshuffle", 4, 256));
    let file = folder.path().join("c/0/0");
    let whole = std::fs::read(&file).unwrap();
    let array = Array::open(store, "/").unwrap();
    let part = ArraySubset::new_with_ranges(&[3..5, 3..9]);
    for at in (0..whole.len()).step_by(3) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0xff;
        std::fs::write(&file, &damaged).unwrap();
        // What no check can find decodes to other numbers; everything else is an error.
        let _ = array.retrieve_chunk::<Vec<i32>>(&[0, 0]);
        let _ = array.retrieve_array_subset::<Vec<i32>>(&part);
        std::fs::write(&file, &whole[..at]).unwrap();
        assert!(array.retrieve_chunk::<Vec<i32>>(&[0, 0]).is_err());
        assert!(array.retrieve_array_subset::<Vec<i32>>(&part).is_err());
    }
    // A run of 2 GB in a few bytes, where the array has chunks of 2400 bytes.
    let params = blosc_core::Params::new(4).codec(blosc_core::Codec::Lz4).blosc1(true);
    std::fs::write(&file, blosc_core::compress(&params, &vec![0; 8 << 20]).unwrap()).unwrap();
    let error = array.retrieve_chunk::<Vec<i32>>(&[0, 0]).unwrap_err().to_string();
    assert!(error.contains("limit"), "{error}");
    let error = array.retrieve_array_subset::<Vec<i32>>(&part).unwrap_err().to_string();
    assert!(error.contains("limit"), "{error}");
}

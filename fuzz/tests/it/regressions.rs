//! What each file in `regressions/` was, and what is right instead. The replay runs them too, for crashes.

use blosc_core::codec::lz4;
use blosc_core::{Chunk, ChunkContext, Header, Pool};
use blosc_frame::b2nd::{Dtype, NdArray};
use blosc_frame::bcolz::{CTable, Create, FlatTree};
use blosc_frame::io::{FaultDir, MemDir};
use blosc_frame::msgpack::{from_value, to_value};
use blosc_frame::repair::repair;
use blosc_frame::rows::Rows;
use blosc_frame::value::{TextLimits, Value};
use blosc_frame::{Error, Limits, SuperChunk};
use blosc_fuzz::frames::{LIMITS, files};
use std::fs;

fn input(name: &str) -> Vec<u8> {
    let path = blosc_fuzz::folder().join("regressions").join(name);
    fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// A match of thousands of bytes over a period of one was copied by wide loads that reached in front of what had
/// been written: one literal is less history than they read (seen by valgrind).
#[test]
fn lz4_long_run_after_one_literal() {
    run_of(&input("lz4_decode/long_run_after_one_literal"), &[7]);
}

/// Wide loads reached in front of a run of period three as well.
#[test]
fn lz4_long_run_after_three_literals() {
    run_of(&input("lz4_decode/long_run_after_three_literals"), b"abc");
}

/// Blocks came out one by one, two million of one byte each: what they cost is counted by blocks, not by bytes of output.
#[test]
fn chunk_push_blocks_of_one_byte() {
    let data = input("chunk_push/blocks_of_one_byte");
    let header = Header::parse(&data[3..]).unwrap();
    assert_eq!((header.blocksize, header.nblocks()), (1, header.nbytes as usize));
    assert!(header.nblocks() > 2_000_000);
}

fn run_of(data: &[u8], period: &[u8]) {
    // The first two bytes give the size: 0x40 << 6.
    let (head, stream) = data.split_at(2);
    let mut out = vec![0xA5; usize::from(head[0]) << head[1]];
    assert_eq!(lz4::decode(stream, (&mut out[..]).into(), &[]).map_err(|e| format!("{e:?}")), Ok(()));
    assert!(out.iter().eq(period.iter().cycle().take(out.len())));
}

/// A lazy chunk that repeats a value of two bytes, of which one is there: libblosc2 reads the other behind the buffer, so
/// its answer is no measure of ours, which is that this is no chunk.
#[test]
#[cfg(feature = "tools")]
fn c_differential_lazy_value_that_is_not_all_there() {
    use blosc_fuzz::{chunks, excuses};
    let data = input("c_differential/lazy_value_that_is_not_all_there");
    let theirs = excuses::Theirs { zeros: vec![0xA6, 0, 0xA6, 0], ones: vec![0xA6, 0, 0xA6, 0] };
    assert!(chunks::decoded(&data[1..]).is_err());
    assert_eq!(excuses::refused_here(&data[1..], &theirs), Some(excuses::Refusal::LazyValue));
}

/// A lazy chunk of no values that also claims to be stored, and to be longer than it is: libblosc2 needs no more than its
/// header.
#[test]
#[cfg(feature = "tools")]
fn c_differential_lazy_special_chunk_marked_stored() {
    use blosc_fuzz::{chunks, excuses};
    let data = input("c_differential/lazy_special_chunk_marked_stored");
    let theirs = excuses::Theirs { zeros: vec![0; 165], ones: vec![0xFF; 165] };
    assert!(chunks::decoded(&data[1..]).is_err());
    assert_eq!(excuses::refused_here(&data[1..], &theirs), Some(excuses::Refusal::Lazy));
}

/// Chunks of version 2 with bitshuffle among other filters, whose last block is shorter than an item: libblosc2 leaves it
/// unwritten in scratch (B3), and what lies there is what the other filters read, or what they left.
#[test]
#[cfg(feature = "tools")]
fn c_differential_old_bitshuffle_tails() {
    use blosc_fuzz::{chunks, excuses};
    for (name, at) in [
        ("c_differential/old_bitshuffle_tail_between_filters", 2540),
        ("c_differential/old_bitshuffle_tail_after_filters", 748),
    ] {
        let data = input(name);
        let chunk = chunks::mutant(&mut arbitrary::Unstructured::new(&data[1..]));
        let bytes = if data[0] % 4 == 1 { chunk.expect("a chunk") } else { data[1..].to_vec() };
        let ours = chunks::decoded(&bytes).expect("a chunk");
        let mut theirs = ours.clone();
        theirs[at] ^= 1;
        let theirs = excuses::Theirs { zeros: theirs.clone(), ones: theirs };
        let chunk = blosc_core::Chunk::parse(&bytes).expect("a chunk");
        assert_eq!(excuses::explain(&chunk, &ours, &theirs), Ok(vec![excuses::Defect::B3]));
    }
}

/// A chunk that understates its length and whose raw stream begins in its own header: what was changed there, so that it
/// can be read here, was part of what libblosc2 read.
#[test]
#[cfg(feature = "tools")]
fn c_differential_stream_in_the_header_of_an_understated_chunk() {
    use blosc_fuzz::{chunks, excuses};
    let data = input("c_differential/stream_in_the_header_of_an_understated_chunk");
    let chunk = &data[1..];
    let theirs = excuses::Theirs { zeros: chunk[8..264].to_vec(), ones: chunk[8..264].to_vec() };
    assert!(chunks::decoded(chunk).is_err());
    assert_eq!(excuses::refused_here(chunk, &theirs), Some(excuses::Refusal::Understated));
}

/// A zstd stream that RFC 8878 refuses and its C library takes where it has its fast loops (little-endian, 64 bits):
/// literals whose Huffman streams do not end exactly. Parts were refused by this crate's decoder, which can stop early,
/// where the whole was read.
#[test]
fn chunk_zstd_stream_that_only_c_takes() {
    let input = input("chunk_getitem/zstd_stream_that_only_c_takes");
    let chunk = Chunk::parse(&input[8..]).expect("a chunk");
    let mut pool = Pool::new(1);
    let whole = pool.decompress(&chunk);
    if cfg!(all(target_endian = "little", target_pointer_width = "64")) {
        assert!(whole.is_ok(), "{whole:?}");
    }
    let mut part = [0xA5; 4];
    let read = pool.get_bytes(&chunk, ChunkContext::default(), 40..44, &mut part);
    assert_eq!(read.map(|_| part.to_vec()), whole.map(|bytes| bytes[40..44].to_vec()));
}

/// A chunk whose bytes a filter of the caller made zeros was written as a chunk of zeros.
#[test]
fn chunk_of_zeros_by_a_users_filter() {
    blosc_fuzz::run("chunk_roundtrip", &input("chunk_roundtrip/users_filter_that_makes_zeros"));
}

/// A dtype with an empty field name was printed as a text that does not parse.
#[test]
fn dtype_empty_field_name() {
    let text = String::from_utf8(input("dtype/empty_field_name")).expect("a text");
    let dtype = Dtype::parse(&text).expect("a dtype that NumPy takes");
    assert_eq!(Dtype::parse(&dtype.to_string()), Ok(dtype));
}

/// Two positions made a block of 4096 items be decoded whole, and one whose padding is damaged be refused, although
/// all 20 items of the array can be read.
#[test]
fn b2nd_positions_in_a_block_damaged_beyond_the_shape() {
    let bytes = input("b2nd_open/positions_in_a_block_damaged_beyond_the_shape");
    let mut frame = SuperChunk::from_bytes(bytes, &Limits::DEFAULT).expect("a frame");
    // The chunk is damaged, so its checksum does not hold either.
    frame.set_verify(false);
    let array = NdArray::open(frame).expect("an array");
    let truth: Vec<u8> = (0..20u8).map(|k| k.wrapping_mul(37)).collect();
    assert_eq!(array.get_all().as_ref(), Ok(&truth));
    assert_eq!(array.get_flat(&[19, 3, 3]), Ok(vec![truth[19], truth[3], truth[3]]));
    assert!(array.into_frame().read_chunk(0).is_err(), "the damage is still there");
}

/// An item alone was refused, because the frame's header gives another size than its one chunk has, although slices
/// were read: an array knows the size of its chunks.
#[test]
fn b2nd_frame_size_is_not_the_sum() {
    let frame = SuperChunk::from_bytes(input("b2nd_open/frame_size_is_not_the_sum"), &Limits::DEFAULT);
    let array = NdArray::open(frame.expect("a frame")).expect("an array");
    let whole = array.get_all().expect("all of it");
    let mut item = [0xA5; 8];
    array.get_item(&[0, 0], &mut item).expect("an item");
    assert_eq!(item, whole[..8]);
    assert_eq!(array.get_flat(&[0, 0]), Ok([item, item].concat()));
}

/// An item of a special chunk was refused for the same reason: only the frame's header tells the size of that chunk.
#[test]
fn b2nd_special_chunk_of_a_frame_size_not_the_sum() {
    blosc_fuzz::run("b2nd_open", &input("b2nd_open/special_chunk_of_a_frame_size_not_the_sum"));
}

/// For one item of a chunk of NaN a block of 512 MiB was filled, on the word of a frame of 221 bytes.
#[test]
fn b2nd_item_of_a_special_block_of_half_a_gigabyte() {
    blosc_fuzz::run("b2nd_open", &input("b2nd_open/item_of_a_special_block_of_half_a_gigabyte"));
}

/// Metalayers whose names are not UTF-8 were listed under a name by which they were not found.
#[test]
fn frame_metalayer_name_not_utf8() {
    names_are_found(
        SuperChunk::from_bytes(input("frame_open/metalayer_name_not_utf8"), &Limits::DEFAULT)
            .expect("a frame"),
    );
}

/// Sparse frames listed such metalayers under other names, too.
#[test]
fn sframe_metalayer_name_not_utf8() {
    let (data, dir) = (input("sframe_open/metalayer_name_not_utf8"), MemDir::new());
    files(&data).into_iter().for_each(|(name, content)| dir.put(name, content.to_vec()));
    names_are_found(SuperChunk::open_dir(dir, &Limits::DEFAULT).expect("a sparse frame"));
}

fn names_are_found(sc: SuperChunk<'_>) {
    let (fixed, variable): (Vec<_>, Vec<_>) =
        (sc.metalayer_names().collect(), sc.vlmetalayer_names().collect());
    assert!(fixed.iter().chain(&variable).any(|name| name.contains('\u{FFFD}')), "{fixed:?} {variable:?}");
    assert!(fixed.iter().all(|name| sc.metalayer(name).is_some()));
    assert!(variable.iter().all(|name| sc.vlmetalayer(name).is_ok_and(|content| content.is_some())));
}

/// Repairing a frame filled a lost chunk up to the size that its damaged header claimed, gigabytes, whatever
/// the limits were. The target fails on the memory.
#[test]
fn frame_repair_of_chunks_beyond_the_limits() {
    blosc_fuzz::run("frame_mutated", &input("frame_mutated/repair_of_chunks_beyond_the_limits"));
}

/// A repair did so too where the size was small and the items were huge: chunks are then as large as an item.
#[test]
fn frame_repair_with_items_beyond_the_limits() {
    blosc_fuzz::run("frame_mutated", &input("frame_mutated/repair_with_items_beyond_the_limits"));
}

/// Text beyond the basic plane was written to YAML as two halves of UTF-16, which no reader of YAML takes.
#[test]
fn yaml_of_text_beyond_utf16() {
    let data = input("text_value/yaml_of_text_beyond_utf16");
    let value = Value::parse_json(&data, &TextLimits::JSON).expect("JSON");
    assert_eq!(Value::parse_yaml(value.to_yaml().as_bytes(), &TextLimits::YAML), Ok(value));
}

/// The AVX-512 kernel that joins planes past the cache never ended where there was just one block of 64 items, and its
/// destination lay off a line of the cache: a chunk of 32 MiB with such blocks hung the decoder.
/// `core/tests/kernels.rs` tries every offset.
#[test]
fn one_block_streamed_off_its_alignment() {
    blosc_fuzz::run("kernel_twins", &input("kernel_twins/one_block_streamed_off_its_alignment"));
}

/// Keys that are maps were written as JSON within JSON, quotes within quotes: 100 MB for 979 bytes. The target fails on
/// the memory.
#[test]
fn msgpack_map_as_key_of_map_as_key() {
    blosc_fuzz::run("msgpack", &input("msgpack/map_as_key_of_map_as_key"));
}

/// Bytes were written as a map with their hex in it, one level deeper than what was read.
#[test]
fn msgpack_bytes_at_the_deepest_level() {
    let data = input("msgpack/bytes_at_the_deepest_level");
    assert_eq!(from_value(&to_value(&data).expect("MessagePack")), data);
}

/// The repair of a frame counted chunks as replaced whose size nothing told, which it did not write, and made one
/// chunk of two of different sizes. Where nothing is kept, nothing is written.
#[test]
fn repair_of_lost_chunks_of_no_size() {
    let data = input("frame_open/lost_chunks_of_no_size");
    let made = repair(&&data[..], &LIMITS, SuperChunk::memory);
    assert_eq!(made.err(), Some(Error::NothingKept));
}

/// The attributes of a new table never waited for the disk: a power failure after many edits could leave them torn, and
/// the table did not open.
#[test]
fn attributes_of_a_new_table() {
    blosc_fuzz::run("rows_edit_sequence", &input("rows_edit_sequence/attributes_of_a_new_table"));
    let create = Create::new(Dtype::parse("<i4").expect("a dtype"));
    for seed in 0..32 {
        let dir = FaultDir::new();
        let attrs = Value::object([("note", Value::text("x".repeat(3000)))]);
        let columns = [("a".to_string(), create.clone()), ("b".to_string(), create.clone())];
        let table = CTable::create(FlatTree::new(dir.clone()), &columns, attrs.clone(), &Limits::DEFAULT);
        table.expect("an empty directory").append(&mut Pool::new(1), &&[1u8; 16][..]).expect("two rows");
        let left = FlatTree::new(FaultDir::from_files(dir.crash(seed)));
        let table = CTable::open(left, &Limits::DEFAULT).expect("a table survives a power failure");
        assert_eq!((table.attrs(), table.rows()), (&attrs, 2));
    }
}

/// A chunk of C-Blosc2 whose header has the block size that was asked for, not the one rounded to whole items that was
/// used (appendix B1): read as a whole it was right, but single bytes and blocks of it were read from a file as if the
/// header were right.
#[test]
fn part_of_a_chunk_with_a_block_size_not_rounded() {
    let name = "sframe_mutated/part_of_a_chunk_with_a_block_size_not_rounded";
    blosc_fuzz::run("sframe_mutated", &input(name));
}

/// Blocks of such a chunk are those of its streams: what compared them with the chunk took the header's size.
#[test]
fn frame_mutated_blocks_of_a_size_not_rounded() {
    blosc_fuzz::run("frame_mutated", &input("frame_mutated/blocks_of_a_size_not_rounded"));
}

/// Rows appended to an array whose filter can only be undone: the encoder refused, and the handle showed rows that were
/// never written, which its next change would have committed as zeros.
#[test]
fn any_path_rows_of_an_array_that_cannot_be_encoded() {
    blosc_fuzz::run("any_path", &input("any_path/rows_of_an_array_that_cannot_be_encoded"));
}

/// A chunk with the filter bytedelta from a context without a super-chunk did not say how wide its items are: no reader
/// could decode it.
#[cfg(feature = "capi")]
#[test]
fn c_calls_bytedelta_without_a_super_chunk() {
    blosc_fuzz::run("c_calls", &input("c_calls/bytedelta_without_a_super_chunk"));
}

/// An array of a size below zero and items of a size below zero: their product is a length, for which the target itself
/// cut a slice that was not there.
#[cfg(feature = "capi")]
#[test]
fn c_calls_sizes_below_zero() {
    blosc_fuzz::run("c_calls", &input("c_calls/sizes_below_zero"));
}

/// A member of a zip file that begins behind its end was refused as a wrong `--offset`, which the command line did not
/// have, with the status of a wrong command line.
#[cfg(feature = "tools")]
#[test]
fn table_open_member_behind_the_end() {
    blosc_fuzz::run("table_open", &input("table_open/member_behind_the_end"));
}

/// A chunk file of a writer that died lay where a chunk was to be moved, and could not be removed: the error said that the
/// file was there, not why it stayed.
#[test]
fn frame_edit_sequence_file_that_cannot_be_removed() {
    blosc_fuzz::run("frame_edit_sequence", &input("frame_edit_sequence/file_that_cannot_be_removed"));
}

/// A chunk behind the last row was damaged: all rows could be read, and `verify` called them damaged.
#[test]
fn blaze_open_damage_behind_the_last_row() {
    blosc_fuzz::run("blaze_open", &input("blaze_open/damage_behind_the_last_row"));
}

#[test]
fn every_file_has_a_test_here() {
    let root = blosc_fuzz::folder().join("regressions");
    let (here, mut files) = (include_str!("regressions.rs"), 0);
    for target in fs::read_dir(root).expect("the folder of regressions") {
        let target = target.expect("a readable folder").path();
        for file in fs::read_dir(&target).into_iter().flatten() {
            let file = file.expect("a readable folder").path();
            let name = format!(
                "{}/{}",
                target.file_name().unwrap_or_default().display(),
                file.file_name().unwrap_or_default().display()
            );
            assert!(here.contains(&format!("\"{name}\"")), "no test says what {name} was");
            files += 1;
        }
    }
    assert!(files > 0, "no regressions found");
}

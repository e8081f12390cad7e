//! The worked examples of `docs/formats/cframe.md` (§18), read and written; and what must be refused.

use blosc_core::{Level, Params, Special};
use blosc_frame::cframe::header::{ChunkSize, FrameType, Header};
use blosc_frame::cframe::view::View;
use blosc_frame::cframe::{Opener, Step};
use blosc_frame::{Error, Limits, SuperChunk};

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.chars().filter_map(|c| c.to_digit(16)).map(|d| d as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// §18.2: 250 int32 zeros in chunks of 400 bytes.
const ZEROS: &str = "
    9ea862326672616d6500d200000061cf00000000000000aca412005502d30000
    0000000003e8d30000000000000000d200000004d200000190d200000190d100
    01d10001c2d8060000000000010500000000000000000093cd0007de0000dc00
    0005010508180000001800000028000000000000000000000000000000000000
    300000000000000081940193cd0006de0000dc0000ce00000023d80000000000
    000000000000000000000000";

/// §18.3: variable chunks "a", "bcd", "ef".
const VARIABLE: &str = "
    9ea862326672616d6500d200000061cf0000000000000122a453005502d30000
    000000000006d30000000000000066d200000001d200000000d200000000d100
    01d10001c2d8060000000000010500000000000000000093cd0007de0000dc00
    0005010701010000000100000021000000000000000001050000000000000000
    0061050107010300000001000000230000000000000000010500000000000000
    0000626364050107010200000001000000220000000000000000010500000000
    0000000000656605010708180000001800000038000000000000000001000000
    0000000000000000000000000000002100000000000000440000000000000094
    0193cd0006de0000dc0000ce00000023d8000000000000000000000000000000
    0000";

#[test]
fn the_example_of_zeros_is_read_and_written_byte_for_byte() {
    let frame = bytes(ZEROS);
    let sc = SuperChunk::from_slice(&frame).unwrap();
    assert_eq!((sc.nchunks(), sc.special(2)), (3, Some(Special::Zeros)));
    assert_eq!(sc.read_all().unwrap(), [0; 1000]);

    let params = Params::new(4).codec(blosc_core::Codec::Zstd).blocksize(Some(400));
    let mut made = SuperChunk::memory(&params.split(blosc_core::Split::Auto)).unwrap();
    made.set_checksums(false);
    made.set_chunksize(400).unwrap();
    made.fill_special(Special::Zeros, 1000).unwrap();
    assert_eq!(made.into_bytes().unwrap(), frame);
}

#[test]
fn the_example_of_variable_chunks_is_read() {
    let frame = bytes(VARIABLE);
    let sc = SuperChunk::from_slice(&frame).unwrap();
    assert_eq!((sc.nchunks(), sc.chunksize()), (3, ChunkSize::Variable));
    assert_eq!(sc.read_all().unwrap(), b"abcdef");
    let mut middle = [0; 3];
    sc.read_items(2..5, &mut middle).unwrap();
    assert_eq!(&middle, b"cde");

    let view = View::open(&frame, &Limits::DEFAULT).unwrap();
    let (mut work, mut out) = ([0; 4096], [0; 3]);
    assert_eq!(view.decode_chunk(1, Level::SCALAR, &mut work, &mut out).unwrap(), 3);
    assert_eq!(&out, b"bcd");
}

/// §5.2: a special chunk among those of variable length has the length that is left of the frame's, if it is the only one.
#[test]
fn the_length_of_one_special_chunk_among_variable_ones_is_what_is_left() {
    let entries = bytes(VARIABLE).windows(9).position(|w| w == b"\x21\0\0\0\0\0\0\0\x44").unwrap() - 8;
    let special = |numbers: &[usize]| {
        let mut frame = bytes(VARIABLE);
        for k in numbers {
            frame[entries + 8 * k..][..8].copy_from_slice(&(0x81u64 << 56).to_le_bytes());
        }
        frame
    };
    for (k, want) in [b"\0bcdef", b"a\0\0\0ef", b"abcd\0\0"].into_iter().enumerate() {
        let sc = SuperChunk::from_bytes(special(&[k]), &Limits::DEFAULT).unwrap();
        assert_eq!((sc.read_all().unwrap(), sc.special(k as u64)), (want.to_vec(), Some(Special::Zeros)));
        assert_eq!(sc.chunk_nbytes(k as u64).unwrap() as usize, [1, 3, 2][k]);
    }
    // The lengths of two are lost, and what lies behind them cannot be found by its place.
    let sc = SuperChunk::from_bytes(special(&[0, 1]), &Limits::DEFAULT).unwrap();
    assert!(matches!(sc.read_chunk(0), Err(Error::Unsupported { .. })));
    assert!(matches!(sc.read_all(), Err(Error::Unsupported { .. })));
    assert_eq!(sc.read_chunk(2).unwrap(), b"ef");
    // A frame says how long it is, and its chunks must come to that.
    let mut short = special(&[]);
    short[0x25] = 5;
    let read = SuperChunk::from_slice(&short).and_then(|sc| sc.read_items(0..1, &mut [0]));
    assert!(matches!(read, Err(Error::Invalid { .. })), "{read:?}");
}

#[test]
fn an_index_of_millions_in_forty_bytes_costs_nothing() {
    let mut frame = bytes(ZEROS);
    let n: u64 = (1 << 28) - 1;
    frame[0x1d + 1..][..8].copy_from_slice(&(n * 400).to_be_bytes());
    frame[0x61 + 4..][..4].copy_from_slice(&((n * 8) as u32).to_le_bytes());
    let refused = SuperChunk::from_slice(&frame).map(|_| ());
    assert!(matches!(refused, Err(Error::Limit { what: "chunks", .. })), "{refused:?}");
    // Under the caller's own limits it opens, and still takes no memory.
    let limits = Limits::DEFAULT.chunks(1 << 28);
    let sc = SuperChunk::open_read(&frame[..], &limits).unwrap();
    let mut ten = [1; 40];
    sc.read_items(n * 100 - 10..n * 100, &mut ten).unwrap();
    assert_eq!((sc.nchunks(), ten), (n, [0; 40]));
}

#[test]
fn every_cut_of_a_frame_is_an_error_and_nothing_else() {
    let frame = bytes(VARIABLE);
    for len in 0..frame.len() {
        assert!(SuperChunk::from_slice(&frame[..len]).is_err(), "{len} bytes");
        assert!(View::open(&frame[..len], &Limits::DEFAULT).is_err(), "{len} bytes");
        let mut opener = Opener::new(len as u64, FrameType::Contiguous, Limits::DEFAULT);
        let mut part: &[u8] = &[];
        while let Ok(step) = opener.step(part) {
            let Step::Need { offset, len: n } = step else { panic!("{len} bytes are opened") };
            let asked = offset as usize..offset as usize + n;
            part = frame[..len].get(asked.clone()).unwrap_or_else(|| panic!("{asked:?} of {len} bytes"));
        }
    }
}

#[test]
fn other_index_widths_are_refused_by_name() {
    let mut frame = bytes(VARIABLE);
    frame[0x19] = 0x43;
    let error = SuperChunk::from_slice(&frame).map(|_| ()).unwrap_err();
    assert_eq!(error.to_string(), "chunk index: an index of 32-bit offsets is not supported");
}

#[test]
fn headers_survive_parsing_and_writing() {
    for hex in [ZEROS, VARIABLE] {
        let frame = bytes(hex);
        let fixed = frame.first_chunk().unwrap();
        assert_eq!(Header::parse(fixed).unwrap().encode(), *fixed);
    }
}

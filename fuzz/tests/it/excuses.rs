//! What `c_differential` reports and what it excuses, without libblosc2: its answers are made up here.

use blosc_core::{Chunk, ChunkContext, Codec, Filter, Params, compress, decompress};
use blosc_fuzz::chunks::decoded;
use blosc_fuzz::differential::{compare, compare_written};
use blosc_fuzz::excuses::{Defect, Refusal, Theirs, explain, refused_here, refused_there};
use blosc_fuzz::support::Case;
use blosc_peers::child::Answer;

/// Ramps of u32.
fn ramp(items: usize) -> Vec<u8> {
    (0..items as u32).flat_map(|i| (i * 3 + ((i * i) >> 6)).to_le_bytes()).collect()
}

/// Numbers that grow more slowly than in [`ramp`], so that every codec shrinks them.
fn steps(items: usize) -> Vec<u8> {
    (0..items as u32).flat_map(|i| (i / 9 * 77).to_le_bytes()).collect()
}

/// An answer that has `bytes`, with some of them changed, and some left unwritten.
fn answer(bytes: &[u8], wrong: &[usize], unwritten: &[usize]) -> Theirs {
    let (mut zeros, mut ones) = (bytes.to_vec(), bytes.to_vec());
    for &at in wrong {
        zeros[at] ^= 1;
        ones[at] ^= 1;
    }
    for &at in unwritten {
        (zeros[at], ones[at]) = (0, 0xFF);
    }
    Theirs { zeros, ones }
}

fn judged(chunk: &[u8], wrong: &[usize], unwritten: &[usize]) -> Result<Vec<Defect>, usize> {
    let (chunk, ours) = (Chunk::parse(chunk).expect("a chunk"), decompress(chunk).expect("a chunk"));
    explain(&chunk, &ours, &answer(&ours, wrong, unwritten))
}

/// Data, and chunks of it in which no defect has a part: any difference is a finding.
fn plain() -> Vec<(Vec<u8>, Vec<u8>)> {
    let data = ramp(700);
    let base = Params::new(4).codec(Codec::Lz4).blocksize(Some(800));
    let all = [
        base,
        base.bitshuffle(),
        base.no_filter().codec(Codec::BloscLz),
        base.slot(4, Filter::Delta, 0),
        base.codec(Codec::Zlib).level(9),
        base.blosc1(true),
        base.level(0),
    ];
    all.into_iter().map(|params| (compress(&params, &data).expect("a chunk"), data.clone())).collect()
}

#[test]
fn one_changed_or_unwritten_byte_is_reported() {
    for (chunk, data) in plain() {
        assert_eq!(judged(&chunk, &[], &[]), Ok(vec![]));
        for at in [0, 1, 799, 800, data.len() - 1] {
            assert_eq!(judged(&chunk, &[at], &[]), Err(at));
            assert_eq!(judged(&chunk, &[], &[at]), Err(at));
        }
    }
}

#[test]
fn the_target_fails_on_a_wrong_answer() {
    for (bytes, data) in plain() {
        let fails = |answer| fails(&bytes, answer);
        let Theirs { zeros, ones } = answer(&data, &[], &[5]);
        let mut wrong = data.clone();
        wrong[1500] ^= 0x80;
        assert!(!fails(Answer::Done(data.clone())));
        assert!(fails(Answer::Done(wrong)));
        assert!(fails(Answer::Done(data[1..].to_vec())));
        assert!(fails(Answer::Gaps { zeros, ones }));
    }
}

/// Whether the target reports what libblosc2 is said to make of a chunk.
fn fails(bytes: &[u8], answer: Answer) -> bool {
    compare(bytes, &decoded(bytes), answer).is_err()
}

fn refused() -> Answer {
    Answer::Refused(blosc_peers::Code::REFUSED)
}

/// Chunks that are taken here, and what libblosc2 may say to them.
fn only_there(bytes: &[u8], reason: Option<Refusal>) {
    assert!(decoded(bytes).is_ok());
    assert_eq!(refused_there(bytes), reason);
    assert_eq!(fails(bytes, refused()), reason.is_none());
}

/// Chunks that are refused here, and of which libblosc2 makes `data`.
fn only_here(bytes: &[u8], data: &[u8], reason: Option<Refusal>) {
    assert!(decoded(bytes).is_err());
    assert_eq!(refused_here(bytes, &answer(data, &[], &[])), reason, "{:02x?}", &bytes[..32]);
    assert_eq!(fails(bytes, Answer::Done(data.to_vec())), reason.is_none());
    assert!(!fails(bytes, refused()));
}

#[test]
fn a_refusal_by_one_side_is_reported() {
    for (bytes, data) in plain() {
        only_there(&bytes, None);
        // A byte of the header that makes it no chunk, for no reason that libblosc2 would not see.
        for (at, value) in [(3, 0), (8, 0xFF), (12, 0)] {
            let mut broken = bytes.clone();
            broken[at..at + 1].fill(value);
            if at != 3 {
                broken[at + 1..at + 4].fill(value);
            }
            only_here(&broken, &data, None);
        }
        only_here(&bytes[..bytes.len() - 1], &data, None);
    }
}

#[test]
fn what_is_refused_there_has_one_of_these_reasons() {
    let data = steps(300);
    let base = Params::new(4).codec(Codec::Lz4).shuffle();
    let chunk = |params: &Params, data: &[u8]| compress(params, data).expect("a chunk");
    // The bit of a dictionary, where there are no streams for one.
    let mut stored = chunk(&base.level(0), &data);
    only_there(&stored, None);
    stored[31] |= 1;
    only_there(&stored, Some(Refusal::Dictionary));
    let mut zeros = blosc_core::chunk::special::zeros(4, 400).expect("a small chunk");
    only_there(&zeros, None);
    zeros[31] |= 1;
    only_there(&zeros, Some(Refusal::Dictionary));
    // Values cut by the end of a block.
    let mut nans = blosc_core::chunk::special::nans(8, 64).expect("a small chunk");
    for (blocksize, reason) in [(16u32, None), (1000, None), (20, Some(Refusal::Pieces))] {
        nans[8..12].copy_from_slice(&blocksize.to_le_bytes());
        only_there(&nans, reason);
    }
    // The width of BYTEDELTA.
    let width = |meta| chunk(&base.slot(4, Filter::Shuffle, 0).slot(5, Filter::ByteDelta, meta), &data);
    only_there(&width(4), None);
    let mut unsaid = width(4);
    unsaid[29] = 0;
    only_there(&unsaid, Some(Refusal::NoFrame));
    // Blocks cut at a multiple of the item size that the header does not have.
    let mut b1 = chunk(&base.blocksize(Some(796)), &steps(700));
    only_there(&b1, None);
    b1[8..12].copy_from_slice(&799u32.to_le_bytes());
    only_there(&b1, Some(Refusal::B1));
    // Version 3 with something in the byte that has a meaning since.
    let mut third = chunk(&base, &data);
    third[0] = 3;
    only_there(&third, None);
    third[30] = 0xF5;
    only_there(&third, Some(Refusal::Version3));
    // Snappy, in a chunk as the first Blosc wrote them: one literal of four bytes.
    let mut snappy = vec![2, 1, 2 << 5 | 0x10, 1];
    for word in [8u32, 8, 16 + 4 + 4 + 10, 20, 10] {
        snappy.extend(word.to_le_bytes());
    }
    snappy.extend([8, 7 << 2, 1, 2, 3, 4, 5, 6, 7, 8]);
    only_there(&snappy, Some(Refusal::Snappy));
}

#[test]
fn what_is_refused_here_has_one_of_these_reasons() {
    let data = steps(300);
    let params = Params::new(4).codec(Codec::Lz4).shuffle().blocksize(Some(600));
    let good = compress(&params, &data).expect("a chunk");
    assert_eq!(good[2], 0x25, "stored, or not split");
    let with = |bytes: &[u8], at: usize, value: &[u8]| {
        let mut changed = bytes.to_vec();
        changed[at..at + value.len()].copy_from_slice(value);
        changed
    };
    only_here(&with(&good, 4, &(-7i32).to_le_bytes()), &[], Some(Refusal::Negative));
    only_here(&with(&good, 4, &(-7i32).to_le_bytes()), &data, None);
    // What is left of these must be read, and to the same.
    for (bytes, reason) in [
        (with(&good, 31, &[good[31] | 2]), Refusal::BigEndian),
        (with(&good, 31, &[good[31] | 8]), Refusal::Lazy),
        (with(&good, 12, &(good.len() as u32 - 9).to_le_bytes()), Refusal::Understated),
    ] {
        only_here(&bytes, &data, Some(reason));
        let mut other = data.clone();
        other[1000] ^= 1;
        only_here(&bytes, &other, None);
        only_here(&bytes, &data[1..], None);
        only_here(&with(&bytes, 3, &[0]), &data, None);
    }
    let nan = with(&blosc_core::chunk::special::nans(4, 0).expect("an empty chunk"), 3, &[3]);
    only_here(&nan, &[], Some(Refusal::EmptyNan));
    only_here(&with(&nan, 4, &[3]), &[0; 3], None);
    // Split in four, with a size that four does not divide.
    only_here(&with(&good, 8, &598u32.to_le_bytes()), &data, Some(Refusal::Indivisible));
    only_here(&with(&good, 8, &400u32.to_le_bytes()), &data, None);
    // A lazy chunk of zeros may lack more.
    let zeros = with(&blosc_core::chunk::special::zeros(4, 400).expect("a small chunk"), 12, &[99]);
    only_here(&zeros, &[0; 400], None);
    only_here(&with(&zeros, 31, &[0x18]), &[0; 400], Some(Refusal::Lazy));
    only_here(&with(&zeros, 31, &[0x18]), &[1; 400], None);
    // And of a value, which is then whatever lies there.
    let mut value = [0; 34];
    blosc_core::chunk::special::repeated(&[1, 2], 8, &mut value).expect("a small chunk");
    let lazy = with(&value, 31, &[0x38]);
    only_here(&lazy, &[1, 2, 1, 2, 1, 2, 1, 2], Some(Refusal::Lazy));
    only_here(&lazy, &[1, 9, 1, 9, 1, 9, 1, 9], None);
    only_here(&lazy[..33], &[1, 9, 1, 9, 1, 9, 1, 9], Some(Refusal::LazyValue));
    only_here(&lazy[..33], &[1, 9], None);
    // A dictionary of 20 bytes, and the first block in it.
    let params = Params::new(4).codec(Codec::Lz4);
    let vl = blosc_core::Pool::new(1).compress_vl(&params, ChunkContext::default(), &[&data[..], &data[..8]]);
    let vl = with(&vl.expect("a chunk"), 31, &[1]);
    assert_eq!(vl[32..36], 40u32.to_le_bytes());
    let inside = with(&vl, 40, &20u32.to_le_bytes());
    only_here(&inside, &data, Some(Refusal::InDictionary));
    // LZ4: a literal, then a match at this distance, then five literals.
    let lz4 = |distance: u8| {
        let stream = [0x12, 7, distance, 0, 0x50, 1, 2, 3, 4, 5];
        let mut chunk = vec![2, 1, 1 << 5 | 0x10, 1];
        for word in [12u32, 12, 16 + 4 + 4 + stream.len() as u32, 20, stream.len() as u32] {
            chunk.extend(word.to_le_bytes());
        }
        [chunk, stream.to_vec()].concat()
    };
    assert_eq!(decoded(&lz4(1)), Ok(vec![7, 7, 7, 7, 7, 7, 7, 1, 2, 3, 4, 5]));
    only_here(&lz4(0), &[7; 12], Some(Refusal::NoDistance));
    only_here(&lz4(2), &[7; 12], None);
}

#[test]
fn the_target_fails_on_a_wrong_answer_to_what_we_wrote() {
    let mut case =
        (0..).map(Case::random).find(|c| c.data.len() > 10 && !c.has(3)).expect("a case without DELTA");
    let fails = |case: &Case, answer| compare_written(case, answer).is_err();
    let mut wrong = case.data.clone();
    wrong[7] ^= 1;
    let refused = Answer::Refused(blosc_peers::Code::REFUSED);
    assert!(!fails(&case, Answer::Done(case.data.clone())));
    for answer in [Answer::Done(wrong.clone()), refused.clone()] {
        assert!(fails(&case, answer));
    }
    // Only what the document says of DELTA is excused.
    case.params.filters = [3, 1, 0, 0, 0, 0];
    assert!(fails(&case, refused.clone()));
    case.params.filters = [3, 1, 3, 0, 0, 0];
    assert!(!fails(&case, refused));
}

#[test]
fn kind_4_excuses_what_is_unwritten() {
    let chunk = blosc_core::chunk::special::uninit(4, 400).expect("a small chunk");
    assert_eq!(judged(&chunk, &[], &[0, 399]), Ok(vec![Defect::Kind4]));
    assert_eq!(judged(&chunk, &[3], &[0]), Err(3));
    let zeros = blosc_core::chunk::special::zeros(4, 400).expect("a small chunk");
    assert_eq!(judged(&zeros, &[], &[3]), Err(3));
}

#[test]
fn b1_excuses_what_follows_the_first_block() {
    // 799 is what a header of libblosc2 would say for blocks of 796 bytes.
    let params = Params::new(4).codec(Codec::Lz4).blocksize(Some(796));
    let mut chunk = compress(&params, &ramp(700)).expect("a chunk");
    assert_eq!(judged(&chunk, &[900], &[]), Err(900));
    chunk[8..12].copy_from_slice(&799u32.to_le_bytes());
    assert_eq!(judged(&chunk, &[900], &[]), Ok(vec![Defect::B1]));
    assert_eq!(judged(&chunk, &[795, 900], &[]), Err(795));
    // Or is missing.
    let (chunk, ours) = (Chunk::parse(&chunk).expect("a chunk"), decompress(&chunk).expect("a chunk"));
    assert_eq!(explain(&chunk, &ours, &answer(&ours[..2799], &[], &[])), Ok(vec![Defect::B1]));
    assert_eq!(explain(&chunk, &ours, &answer(&ours[..795], &[], &[])), Err(795));
    assert_eq!(explain(&chunk, &ours[..2799], &answer(&ours, &[], &[])), Err(2799));
}

#[test]
fn b1_excuses_any_byte_of_filters_that_are_wider_or_narrower() {
    let of = |meta| {
        let params = Params::new(4).codec(Codec::Lz4).no_filter().slot(5, Filter::Shuffle, meta);
        let mut chunk = compress(&params.blocksize(Some(796)), &steps(700)).expect("a chunk");
        chunk[8..12].copy_from_slice(&799u32.to_le_bytes());
        judged(&chunk, &[0], &[])
    };
    assert_eq!((of(0), of(4), of(2)), (Err(0), Err(0), Ok(vec![Defect::B1])));
}

#[test]
fn the_first_byte_delta_excuses_blocks_that_are_no_multiple() {
    let of = |width: u8| {
        let params = Params::new(4).codec(Codec::Lz4).no_filter().slot(5, Filter::ByteDelta, width);
        let mut chunk = compress(&params.blocksize(Some(796)), &steps(700)).expect("a chunk");
        assert_eq!(chunk[21], 35);
        chunk[21] = 34;
        chunk
    };
    // 796 = 4 * 199, and 412 = 4 * 103 are left.
    assert_eq!(judged(&of(4), &[0], &[]), Err(0));
    assert_eq!(judged(&of(103), &[0], &[]), Ok(vec![Defect::ByteDelta34]));
    assert_eq!(judged(&of(103), &[2400], &[]), Err(2400), "the last block is four times as long");
    assert_eq!(judged(&of(199), &[0], &[]), Err(0));
    assert_eq!(judged(&of(199), &[2400], &[]), Ok(vec![Defect::ByteDelta34]));
}

#[test]
fn b2_excuses_old_unsplit_chunks() {
    let data: Vec<u8> = ramp(60).into_iter().cycle().take(24 * 100).collect();
    // One block without a split, for items of 24 bytes, as Blosc 1.9 wrote them.
    let params = Params::new(24).codec(Codec::Lz4).no_filter().split(blosc_core::Split::Never).blosc1(true);
    let mut chunk = compress(&params, &data).expect("a chunk");
    chunk[0] = 2;
    assert_eq!(judged(&chunk, &[5], &[]), Err(5), "the bit says it");
    chunk[2] &= !0x10;
    assert_eq!(judged(&chunk, &[5], &[]), Ok(vec![Defect::B2]), "libblosc2 would split");
}

#[test]
fn b3_excuses_unwritten_tails_of_old_bitshuffle() {
    let data: Vec<u8> = ramp(256).into_iter().chain([1, 2, 3]).collect();
    let params = Params::new(4).codec(Codec::Lz4).bitshuffle().blosc1(true);
    let mut chunk = compress(&params, &data).expect("a chunk");
    chunk[0] = 5;
    assert_eq!(judged(&chunk, &[], &[1024, 1026]), Err(1024), "not of version 2");
    chunk[0] = 2;
    assert_eq!(judged(&chunk, &[], &[1024, 1026]), Ok(vec![Defect::B3]));
    assert_eq!(judged(&chunk, &[1024], &[]), Err(1024), "written, but wrong");
    assert_eq!(judged(&chunk, &[], &[1023, 1024]), Err(1023), "before the tail");
}

#[test]
fn b3_among_other_filters_excuses_what_they_make_of_scratch() {
    let data = ramp(300);
    let judged = |filters: [Filter; 2], len: usize, wrong: &[usize]| {
        let params = Params::new(4).codec(Codec::Lz4).blocksize(Some(1000));
        let params = params.slot(0, filters[0], 0).slot(1, filters[1], 0);
        let mut chunk = compress(&params, &data[..len]).expect("a chunk");
        chunk[0] = 2;
        judged(&chunk, wrong, &[])
    };
    for other in [Filter::Shuffle, Filter::Delta] {
        // A last block of 24 items and three bytes; of 25 and three, which are no whole groups; of 24.
        for (len, found) in [(1099, Ok(vec![Defect::B3])), (1103, Err(1000)), (1096, Err(1000))] {
            assert_eq!(judged([other, Filter::BitShuffle], len, &[1000]), found, "{len}");
        }
        assert_eq!(judged([other, Filter::BitShuffle], 1099, &[999]), Err(999), "a whole block has no tail");
        assert_eq!(judged([Filter::BitShuffle, other], 1099, &[1095]), Err(1095), "before the tail");
        assert_eq!(judged([Filter::BitShuffle, other], 1099, &[1096]), Ok(vec![Defect::B3]));
    }
}

#[test]
fn b6_excuses_all_blocks_but_the_first() {
    let data = ramp(300);
    let blocks = [&data[..400], &data[400..900], &data[900..]];
    let chunk = |params: &Params| {
        blosc_core::Pool::new(1).compress_vl(params, ChunkContext::default(), &blocks).expect("a chunk")
    };
    let delta = chunk(&Params::new(4).codec(Codec::Lz4).slot(4, Filter::Delta, 0));
    assert_eq!(judged(&delta, &[400], &[]), Ok(vec![Defect::B6]));
    assert_eq!(judged(&delta, &[399], &[]), Err(399));
    assert_eq!(judged(&chunk(&Params::new(4).codec(Codec::Lz4)), &[400], &[]), Err(400));
}

#[test]
fn delta_excuses_only_the_pipelines_it_says() {
    let of = |filters: &[Filter]| {
        let params = Params::new(4).codec(Codec::Lz4).no_filter();
        let slots = (0..).zip(filters);
        let params =
            slots.fold(params, |p, (at, f)| p.slot(at, *f, if *f == Filter::ByteDelta { 4 } else { 0 }));
        judged(&compress(&params, &ramp(300)).expect("a chunk"), &[0], &[])
    };
    use Filter::{ByteDelta, Delta, Shuffle};
    for misread in [&[Delta, Shuffle, Delta][..], &[Shuffle, Shuffle, Shuffle, Delta, ByteDelta]] {
        assert_eq!(of(misread), Ok(vec![Defect::Delta]), "{misread:?}");
    }
    for read in [&[Delta, Shuffle][..], &[Delta, Delta], &[Shuffle, Shuffle, Delta, ByteDelta]] {
        assert_eq!(of(read), Err(0), "{read:?}");
    }
}

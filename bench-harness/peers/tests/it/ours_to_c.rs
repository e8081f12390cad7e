//! Chunks that we write over random parameters, read by libblosc2.
//!
//! The only mismatch allowed is a read defect of C-Blosc2 3.3.5: some long pipelines around DELTA, which it
//! misreads in its own chunks too (`defects.rs` shows that on its own chunks).

use crate::support;

use blosc_core::{Chunk, Pool, max_encoded_len};
use std::collections::BTreeMap;
use support::{Case, blosc2, rounds};

#[test]
fn libblosc2_reads_what_we_write() {
    let Some(lib) = blosc2() else { return };
    let mut reader = lib.decompressor(1).unwrap();
    let (total, mut kinds) = (rounds(6000), BTreeMap::<&str, u32>::new());
    for seed in 0..total {
        let case = Case::random(seed ^ 0x5EED_0000);
        let about = || format!("seed {seed}: {:?}, {} bytes", case.params, case.data.len());
        let params = case.ours().fit(case.data.len());
        let chunk = Pool::new(case.params.nthreads as usize)
            .compress(&params, &case.data)
            .unwrap_or_else(|e| panic!("{e}\n{}", about()));
        assert!(chunk.len() <= max_encoded_len(case.data.len()), "{}", about());
        let mut theirs = vec![0xDD; case.data.len()];
        let n = reader.decompress(&chunk, &mut theirs).unwrap_or_else(|e| panic!("C: {e}\n{}", about()));
        if theirs != case.data && case.delta_is_misread() {
            *kinds.entry("DELTA misread by C").or_default() += 1;
            theirs.clone_from(&case.data);
        }
        assert!(n == case.data.len() && theirs == case.data, "C reads other bytes\n{}", about());
        let parsed = Chunk::parse(&chunk).unwrap_or_else(|e| panic!("{e}\n{}", about()));
        assert!(Pool::new(1).decompress(&parsed).as_ref() == Ok(&case.data), "{}", about());
        let kind = if parsed.header().special().is_some() {
            "special"
        } else if parsed.header().is_stored() {
            "stored"
        } else if parsed.header().has_dictionary() {
            "with dictionary"
        } else {
            "streams"
        };
        *kinds.entry(kind).or_default() += 1;
    }
    eprintln!("{total} chunks, 0 mismatches: {kinds:?}");
}

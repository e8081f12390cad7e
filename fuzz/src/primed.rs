//! No stale memory: what a decode gives does not depend on what its context, scratch and output held before.
//!
//! ```text
//!         new memory    buffers given    codec contexts and pools
//! once    zeros         zeros            new
//! again   ones          ones             have decoded other chunks: with dictionaries and without, whole and damaged
//! ```

use blosc_core::codec::context::DecodeContext;
use blosc_core::{Chunk, Codec, Decoder, Level, Params, Pool, Split};
use blosc_testkit::memory::filled;
use std::sync::LazyLock;

/// What a decode finds.
#[derive(Clone, Copy)]
pub struct Before {
    /// The byte that its scratch and its output are full of.
    pub fill: u8,
    used: bool,
}

/// Decodes twice, over different pasts.
///
/// # Panics
/// If the outcomes differ.
pub fn twice<T: PartialEq>(mut decode: impl FnMut(Before) -> T) -> T {
    let mut over = |fill, used| filled(fill, || decode(Before { fill, used }));
    let first = over(0x00, false);
    assert!(first == over(0xFF, true), "the outcome depends on what memory held before");
    first
}

/// Chunks that leave something behind in a context; the last one leaves a dictionary and half a stream.
static OTHERS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let data: Vec<u8> = (0..4_000u32).flat_map(|n| (n * n / 3 % 1000).to_le_bytes()).collect();
    let mut others = Vec::new();
    for (codec, dictionary) in
        [(Codec::Zlib, false), (Codec::Zstd, false), (Codec::Lz4, true), (Codec::Zstd, true)]
    {
        let params = Params::new(4).codec(codec).level(3).shuffle().split(Split::Never).blocksize(Some(1000));
        let whole = blosc_core::compress(&params.dictionary(dictionary), &data).expect("a small chunk");
        let mut damaged = whole.clone();
        damaged.iter_mut().rev().take(20).for_each(|byte| *byte ^= 0x55);
        others.extend([whole, damaged]);
    }
    others
});

impl Before {
    /// A buffer of `len` bytes.
    pub fn bytes(self, len: usize) -> Vec<u8> {
        vec![self.fill; len]
    }

    /// Codec contexts.
    pub fn context(self) -> DecodeContext {
        self.others().fold(DecodeContext::new(), |context, chunk| {
            let (mut work, mut out) = (self.bytes(Decoder::work_len(&chunk)), self.bytes(chunk.nbytes()));
            let mut decoder = Decoder::with_context(Level::best(), &mut work, context);
            let _ = decoder.decode(&chunk, &mut out[..]);
            decoder.into_context()
        })
    }

    /// A pool of one thread.
    pub fn pool(self) -> Pool {
        let mut pool = Pool::new(1);
        self.others().for_each(|chunk| drop(pool.decompress(&chunk)));
        pool
    }

    fn others(self) -> impl Iterator<Item = Chunk<'static>> {
        let others = if self.used { &OTHERS[..] } else { &[] };
        others.iter().map(|bytes| Chunk::parse(bytes).expect("a chunk whose header is sound"))
    }
}

//! `blpk info`: the lines of bloscpack 0.16, in its order.

use super::text::{Say, double, maybe, repr};
use blosc_frame::Error;
use blosc_frame::bloscpack::{Bloscpack, Layout, MetaCodec};
use blosc_frame::io::ReadAt;

fn python(b: bool) -> &'static str {
    if b { "True" } else { "False" }
}

/// Prints everything about a file.
pub fn print<R: ReadAt>(say: &Say, pack: &Bloscpack<R>) -> Result<(), Error> {
    let h = pack.header();
    let version = match h.layout {
        Layout::V0 => 0,
        Layout::V1 => 1,
        Layout::V2 => 2,
        Layout::Mono | Layout::V3 => 3,
    };
    let count = |n: Option<u64>| n.map_or_else(|| "-1".into(), |n| n.to_string());
    say.line("BloscpackHeader:");
    say.line(format_args!("    format_version: {version}"));
    say.line(format_args!("    offsets: {}", python(h.offsets)));
    say.line(format_args!("    metadata: {}", python(h.metadata)));
    say.line(format_args!("    checksum: '{}'", h.checksum));
    say.line(format_args!("    typesize: {}", h.typesize));
    say.line(format_args!("    chunk_size: {}", maybe(h.chunk_size.map(u64::from))));
    say.line(format_args!("    last_chunk: {}", maybe(h.last_chunk.map(u64::from))));
    say.line(format_args!("    nchunks: {}", count(h.nchunks)));
    say.line(format_args!("    max_app_chunks: {}", h.max_app));
    if h.offsets {
        let first: Vec<String> =
            (0..5).filter_map(|i| pack.chunk_offset(i)).map(|at| at.to_string()).collect();
        say.line("'offsets':");
        say.line(format_args!("[{},...]", first.join(",")));
    }
    if let Some(metadata) = pack.metadata() {
        say.line("Metadata:");
        say.line(repr(metadata));
    }
    if let Some(m) = pack.meta_header() {
        let codec = if m.codec == MetaCodec::Zlib { "zlib" } else { "None" };
        say.line("MetadataHeader:");
        say.line("    magic_format: b'JSON'");
        say.line(format_args!("    meta_options: '{:08b}'", m.options));
        say.line(format_args!("    meta_checksum: '{}'", m.checksum));
        say.line(format_args!("    meta_codec: '{codec}'"));
        say.line(format_args!("    meta_level: {}", m.level));
        say.line(format_args!("    meta_size: {}", double(m.size.into())));
        say.line(format_args!("    max_meta_size: {}", double(m.max_size.into())));
        say.line(format_args!("    meta_comp_size: {}", double(m.comp_size.into())));
        say.line("    user_codec: b''");
    }
    if pack.nchunks() > 0 {
        print_chunk(say, &pack.chunk_bytes(0)?);
    }
    Ok(())
}

fn print_chunk(say: &Say, chunk: &[u8]) {
    let Some(&[version, versionlz, flags, typesize, ref sizes @ ..]) = chunk.first_chunk::<16>() else {
        return;
    };
    let word =
        |at: usize| sizes.get(at..).and_then(|s| s.first_chunk()).map_or(0, |w| u32::from_le_bytes(*w));
    let codec =
        ["blosclz", "lz4", "snappy", "zlib", "zstd"].get(usize::from(flags >> 5)).unwrap_or(&"unknown");
    say.line("First chunk blosc header:");
    say.line(format_args!(
        "OrderedDict([('version', {version}), ('versionlz', {versionlz}), ('flags', {flags}), ('typesize', {typesize}), \
         ('nbytes', {}), ('blocksize', {}), ('ctbytes', {})])",
        word(0),
        word(4),
        word(8)
    ));
    say.line("First chunk blosc flags: ");
    say.line(format_args!(
        "OrderedDict([('byte_shuffle', {}), ('pure_memcpy', {}), ('bit_shuffle', {}), ('split_blocks', {}), ('codec', '{codec}')])",
        python(flags & 1 != 0),
        python(flags & 2 != 0),
        python(flags & 4 != 0),
        python(flags & 16 != 0)
    ));
}

//! The two compressions that browsers take.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

/// Brotli at its best, for a window that every browser has.
pub(crate) fn brotli(content: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let settings = brotli::enc::BrotliEncoderParams {
        quality: 11,
        lgwin: 22,
        size_hint: content.len(),
        ..Default::default()
    };
    brotli::BrotliCompress(&mut &content[..], &mut out, &settings)
        .expect("writing to memory cannot fail");
    out
}

/// Gzip at its best, for what has no brotli: plain HTTP, mostly.
pub(crate) fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let written = encoder.write_all(content).and_then(|()| encoder.finish());
    written.expect("writing to memory cannot fail")
}

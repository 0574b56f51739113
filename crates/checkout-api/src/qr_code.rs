//! QR codes as the outlines of their dark modules: drawn by the proxy for a payment that it has just opened, and by the page for
//! everything else.

use std::fmt::Write as _;

use qrcode::bits::Bits;
use qrcode::{Color, EcLevel, Version};
use serde::{Deserialize, Serialize};

/// Modules of white around the code. Source: ISO/IEC 18004, 6.3.8: four on every side.
const QUIET_ZONE: usize = 4;
/// The largest version. Source: ISO/IEC 18004, 6.1.
const LARGEST_VERSION: i16 = 40;

/// A QR code in units of its modules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QrCode {
    /// Width and height, quiet zone included.
    pub side: usize,
    /// SVG path data: one bar for each run of dark modules.
    pub path: String,
}

impl QrCode {
    /// Draws `text`; `None` for an empty text and for one that no code holds.
    ///
    /// The code is the smallest that holds the text with error correction level M, and corrects as much more as fits into
    /// that size. Everything is encoded as bytes: the search for shorter encodings would save a few modules and cost
    /// kilobytes of WebAssembly.
    pub fn draw(text: &str) -> Option<Self> {
        if text.is_empty() {
            return None;
        }
        let code = encode(text)?;
        let width = code.width();
        let colors = code.to_colors();
        let mut path = String::new();
        for (y, row) in colors.chunks(width).enumerate() {
            let mut x = 0;
            for run in row.chunk_by(|a, b| a == b) {
                if run.first() == Some(&Color::Dark) {
                    let (left, top, length) = (x + QUIET_ZONE, y + QUIET_ZONE, run.len());
                    // Writing to a text cannot fail.
                    let _ = write!(path, "M{left} {top}h{length}v1h-{length}z");
                }
                x += run.len();
            }
        }
        Some(Self {
            side: width + 2 * QUIET_ZONE,
            path,
        })
    }
}

fn encode(text: &str) -> Option<qrcode::QrCode> {
    let mut versions = (1..=LARGEST_VERSION).map(Version::Normal);
    let with_level = |version, level| {
        let mut bits = Bits::new(version);
        bits.push_byte_data(text.as_bytes()).ok()?;
        bits.push_terminator(level).ok()?;
        qrcode::QrCode::with_bits(bits, level).ok()
    };
    versions.find_map(|version| {
        let code = with_level(version, EcLevel::M)?;
        let better = [EcLevel::H, EcLevel::Q]
            .into_iter()
            .find_map(|level| with_level(version, level));
        Some(better.unwrap_or(code))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The dark modules that a path covers, as `(x, y)`.
    fn covered(path: &str) -> Vec<(usize, usize)> {
        let mut modules = Vec::new();
        for bar in path.split('M').skip(1) {
            let (start, rest) = bar.split_once('h').unwrap();
            let (x, y) = start.split_once(' ').unwrap();
            let (x, y): (usize, usize) = (x.parse().unwrap(), y.parse().unwrap());
            let length: usize = rest.split_once('v').unwrap().0.parse().unwrap();
            modules.extend((x..x + length).map(|x| (x, y)));
        }
        modules
    }

    #[test]
    fn the_path_covers_exactly_the_dark_modules() {
        let text = "bitcoin:tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx?amount=0.00030973";
        let drawn = QrCode::draw(text).unwrap();
        let modules = covered(&drawn.path);
        let code = encode(text).unwrap();
        assert_eq!(drawn.side, code.width() + 8);
        let inside = QUIET_ZONE..QUIET_ZONE + code.width();
        for y in 0..drawn.side {
            for x in 0..drawn.side {
                let is_dark = inside.contains(&x)
                    && inside.contains(&y)
                    && code[(x - QUIET_ZONE, y - QUIET_ZONE)] == Color::Dark;
                assert_eq!(modules.contains(&(x, y)), is_dark, "module {x},{y}");
            }
        }
    }

    #[test]
    fn free_room_corrects_more_errors() {
        let level = |length| {
            encode(&"x".repeat(length))
                .unwrap()
                .error_correction_level()
        };
        // ISO/IEC 18004, table 7: version 3 holds 42 bytes at level M, version 4 holds 46 at Q.
        assert_eq!(level(42), EcLevel::M);
        assert_eq!(level(46), EcLevel::Q);
    }

    #[test]
    fn the_smallest_code_that_holds_the_text_is_taken() {
        assert_eq!(QrCode::draw("bitcoin:tb1q").unwrap().side, 21 + 8);
        assert_eq!(QrCode::draw(&"x".repeat(62)).unwrap().side, 33 + 8);
        assert_eq!(QrCode::draw(&"x".repeat(63)).unwrap().side, 37 + 8);
    }

    #[test]
    fn a_text_that_no_code_holds_is_not_drawn() {
        assert_eq!(QrCode::draw(""), None);
        assert_eq!(QrCode::draw(&"x".repeat(2332)), None);
    }
}

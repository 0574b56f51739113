//! A QR code as the outline of its dark modules.

use core::fmt::Write as _;

use qrcode::QrCode;
use qrcode::bits::Bits;
use qrcode::types::{Color, EcLevel, QrError, Version};

/// Modules of white around the code. Source: ISO/IEC 18004, 6.3.8: four on every side.
const QUIET_ZONE: usize = 4;

/// A QR code in units of its modules.
#[derive(Debug, PartialEq, Eq)]
pub struct QrPath {
    /// Width and height, quiet zone included.
    pub side: usize,
    /// SVG path data: one bar for each run of dark modules.
    pub path: String,
}

/// Draws `text` with error correction level M; `None` for an empty text and for one that no code holds.
///
/// Everything is encoded as bytes: finding shorter encodings would save a few modules and cost the customer kilobytes.
pub fn draw(text: &str) -> Option<QrPath> {
    if text.is_empty() {
        return None;
    }
    let code = (1..=40).find_map(|version| encode(text, Version::Normal(version)).ok())?;
    let (width, modules) = (code.width(), code.into_colors());
    let mut path = String::new();
    for (y, row) in modules.chunks(width).enumerate() {
        let mut x = 0;
        for run in row.chunk_by(|a, b| a == b) {
            if run[0] == Color::Dark {
                let (left, top, length) = (x + QUIET_ZONE, y + QUIET_ZONE, run.len());
                let _ = write!(path, "M{left} {top}h{length}v1h-{length}z");
            }
            x += run.len();
        }
    }
    Some(QrPath {
        side: width + 2 * QUIET_ZONE,
        path,
    })
}

fn encode(text: &str, version: Version) -> Result<QrCode, QrError> {
    let mut bits = Bits::new(version);
    bits.push_byte_data(text.as_bytes())?;
    bits.push_terminator(EcLevel::M)?;
    QrCode::with_bits(bits, EcLevel::M)
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
        let drawn = draw(text).unwrap();
        let modules = covered(&drawn.path);
        let version = Version::Normal(i16::try_from((drawn.side - 8 - 17) / 4).unwrap());
        let code = encode(text, version).unwrap();
        for y in 0..drawn.side {
            for x in 0..drawn.side {
                let inside = (4..drawn.side - 4).contains(&x) && (4..drawn.side - 4).contains(&y);
                let dark = inside && code[(x.wrapping_sub(4), y.wrapping_sub(4))] == Color::Dark;
                assert_eq!(modules.contains(&(x, y)), dark, "module {x},{y}");
            }
        }
    }

    #[test]
    fn the_smallest_code_that_holds_the_text_is_taken() {
        assert_eq!(draw("bitcoin:tb1q").unwrap().side, 21 + 8);
        assert_eq!(draw(&"x".repeat(62)).unwrap().side, 33 + 8);
        assert_eq!(draw(&"x".repeat(63)).unwrap().side, 37 + 8);
    }

    #[test]
    fn what_no_code_holds_is_not_drawn() {
        assert_eq!(draw(""), None);
        assert_eq!(draw(&"x".repeat(2332)), None);
    }
}

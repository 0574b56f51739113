//! A QR code as the outline of its dark modules.

use qrcodegen::{QrCode, QrCodeEcc, QrSegment, Version};

use crate::decimal::decimal;

/// Modules of white around the code. Source: ISO/IEC 18004, 6.3.8: four on every side.
const QUIET_ZONE: i32 = 4;

/// A QR code in units of its modules.
#[derive(Debug, PartialEq, Eq)]
pub struct QrPath {
    /// Width and height, quiet zone included.
    pub side: u32,
    /// SVG path data: one bar for each run of dark modules.
    pub path: String,
}

/// Draws `text`; `None` for an empty text and for one that no code holds.
///
/// The code is the smallest that holds the text with error correction level M, and corrects as much more as fits into
/// that size. Everything is encoded as bytes: finding shorter encodings would save a few modules and cost the customer
/// kilobytes.
pub fn draw(text: &str) -> Option<QrPath> {
    if text.is_empty() {
        return None;
    }
    let code = encode(text)?;
    let mut path = String::new();
    for y in 0..code.size() {
        let mut x = 0;
        while x < code.size() {
            let start = x;
            while code.get_module(x, y) {
                x += 1;
            }
            if x > start {
                bar(&mut path, start + QUIET_ZONE, y + QUIET_ZONE, x - start);
            }
            x += 1;
        }
    }
    Some(QrPath {
        side: (code.size() + 2 * QUIET_ZONE).unsigned_abs(),
        path,
    })
}

fn encode(text: &str) -> Option<QrCode> {
    let bytes = [QrSegment::make_bytes(text.as_bytes())];
    let (least, most) = (Version::MIN, Version::MAX);
    QrCode::encode_segments_advanced(&bytes, QrCodeEcc::Medium, least, most, None, true).ok()
}

fn bar(path: &mut String, left: i32, top: i32, length: i32) {
    let [left, top, length] = [left, top, length].map(|place| decimal(place.unsigned_abs()));
    path.push_str(&["M", &left, " ", &top, "h", &length, "v1h-", &length, "z"].concat());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The dark modules that a path covers, as `(x, y)`.
    fn covered(path: &str) -> Vec<(i32, i32)> {
        let mut modules = Vec::new();
        for bar in path.split('M').skip(1) {
            let (start, rest) = bar.split_once('h').unwrap();
            let (x, y) = start.split_once(' ').unwrap();
            let (x, y): (i32, i32) = (x.parse().unwrap(), y.parse().unwrap());
            let length: i32 = rest.split_once('v').unwrap().0.parse().unwrap();
            modules.extend((x..x + length).map(|x| (x, y)));
        }
        modules
    }

    #[test]
    fn the_path_covers_exactly_the_dark_modules() {
        let text = "bitcoin:tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx?amount=0.00030973";
        let drawn = draw(text).unwrap();
        let modules = covered(&drawn.path);
        let code = encode(text).unwrap();
        assert_eq!(drawn.side, code.size().unsigned_abs() + 8);
        for y in 0..code.size() + 8 {
            for x in 0..code.size() + 8 {
                // What lies outside the code is light.
                let dark = code.get_module(x - 4, y - 4);
                assert_eq!(modules.contains(&(x, y)), dark, "module {x},{y}");
            }
        }
    }

    #[test]
    fn room_that_is_left_corrects_more_errors() {
        let level = |length| {
            encode(&"x".repeat(length))
                .unwrap()
                .error_correction_level()
        };
        // ISO/IEC 18004, table 7: version 3 holds 42 bytes at level M, version 4 holds 46 at Q.
        assert_eq!(level(42), QrCodeEcc::Medium);
        assert_eq!(level(46), QrCodeEcc::Quartile);
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

//! A QR code as SVG.

use core::fmt::Write as _;

use qrcode::{Color, EcLevel, QrCode};

/// Light modules around the code. Source: ISO/IEC 18004, "quiet zone".
const QUIET: usize = 4;

/// The code of a text, black on white whatever the page's colours are; `None` when the text is too long for one.
pub(super) fn svg(text: &str) -> Option<String> {
    let code = QrCode::with_error_correction_level(text, EcLevel::M).ok()?;
    let width = code.width();
    let mut path = String::new();
    for (index, color) in code.to_colors().into_iter().enumerate() {
        if color == Color::Dark {
            let (x, y) = (index % width + QUIET, index / width + QUIET);
            write!(path, "M{x} {y}h1v1h-1z").expect("a String takes all");
        }
    }
    let size = width + 2 * QUIET;
    Some(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {size} {size}\" \
         shape-rendering=\"crispEdges\"><path fill=\"#fff\" d=\"M0 0h{size}v{size}H0z\"/>\
         <path d=\"{path}\"/></svg>"
    ))
}

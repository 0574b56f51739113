//! A QR code as SVG.

use core::fmt::Write as _;

use qrcodegen::{QrCode, QrCodeEcc};

/// Light modules around the code. Source: ISO/IEC 18004, "quiet zone".
const QUIET: i32 = 4;

/// The code of a text, black on white whatever the page's colours are; `None` when the text is too long for one.
pub(super) fn svg(text: &str) -> Option<String> {
    let code = QrCode::encode_text(text, QrCodeEcc::Medium).ok()?;
    let width = code.size();
    let mut path = String::new();
    for (y, x) in (0..width).flat_map(|y| (0..width).map(move |x| (y, x))) {
        if code.get_module(x, y) {
            write!(path, "M{} {}h1v1h-1z", x + QUIET, y + QUIET).expect("a String takes all");
        }
    }
    let size = width + 2 * QUIET;
    Some(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {size} {size}\" \
         shape-rendering=\"crispEdges\"><path fill=\"#fff\" d=\"M0 0h{size}v{size}H0z\"/>\
         <path d=\"{path}\"/></svg>"
    ))
}

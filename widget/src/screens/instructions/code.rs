//! The QR code: with the amount in it, or of the address alone for wallets that do not understand more.

use checkout_api::AttemptView;
use web_sys::Node;

use crate::checkout::Checkout;
use crate::decimal::decimal;
use crate::markup::{Tag, drawing, tag};
use crate::qr;
use crate::screens::coins;

use super::names;

/// The code. On a phone, which cannot scan itself, it waits behind a switch; another exchanges it for that of the
/// address. Both are boxes to tick, and the style sheet does the rest.
pub(super) fn show(checkout: Checkout, attempt: &AttemptView, rest: bool) -> Node {
    let amount = coins(attempt.amount_in_crypto.as_str(), &attempt.asset);
    let values = [("amount", amount.as_str()), ("network", &attempt.network)];
    let label = checkout.sentence("qr_address", &names(attempt));
    let bare = picture(&attempt.address, &label);
    let code = tag("div", "code").with(switch(checkout, "qr-show", "qr_show"));
    if rest || attempt.qr_string == attempt.address {
        return code.with(bare.test("qr")).into();
    }
    let whole = picture(&attempt.qr_string, &checkout.sentence("qr", &values));
    code.with(whole.test("qr"))
        .with(
            tag("div", "bare")
                .with(bare.test("qr-bare"))
                .with(tag("p", "quiet").text(checkout.word("qr_plain_hint"))),
        )
        .with(switch(checkout, "qr-toggle", "qr_plain"))
        .into()
}

/// A box to tick, with its words.
fn switch(checkout: Checkout, name: &'static str, key: &'static str) -> Tag {
    tag("label", &["switch ", name].concat())
        .test(name)
        .with(tag("input", "tick-box").attr("type", "checkbox"))
        .text(checkout.word(key))
}

/// A code that holds `content`; an empty frame for what no code holds.
pub(super) fn picture(content: &str, label: &str) -> Tag {
    let frame = tag("div", "qr");
    let Some(code) = qr::draw(content) else {
        return frame;
    };
    let side = decimal(code.side);
    let view_box = ["0 0 ", &side, " ", &side].concat();
    frame.with(drawing("", &view_box, &code.path, Some(label)))
}

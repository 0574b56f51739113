//! What to send, exactly.

use checkout_api::{AttemptView, OrderView};
use web_sys::Node;

use crate::checkout::Checkout;
use crate::markup::{tag, text};
use crate::screens::copy::{self, ToCopy};
use crate::screens::ltr;

use super::{due, names};

/// The amount, or the rest of it. The figure is a label of the button: pressing on it copies too, the bare number, since
/// the field of a wallet takes no more.
pub(super) fn show(
    checkout: Checkout,
    order: &OrderView,
    attempt: &AttemptView,
    rest: bool,
) -> Node {
    let value = due(attempt);
    let (test, label) = if rest {
        ("remaining", "still_to_send")
    } else {
        ("amount", "send_exactly")
    };
    let exactly = tag("label", "exactly")
        .attr("for", "copy-amount")
        .attr("dir", "ltr")
        .with(tag("span", "number").test(test).text(value))
        .with(text("\u{a0}"))
        .with(tag("span", "unit").text(attempt.asset.as_str()));
    let price = (!rest).then(|| {
        let price = checkout.money(order.amount.as_str(), &order.currency);
        tag("p", "price-beside")
            .with(ltr(["≈ ", &price].concat()))
            .into()
    });
    let figures = tag("div", "")
        .with(tag("p", "label").text(checkout.word(label)))
        .with(exactly)
        .all(price);
    let copy = ToCopy {
        test: "copy-amount",
        place: ".number",
        value: value.to_owned(),
        words: checkout.word("copy"),
        label: checkout.sentence("copy_amount", &names(attempt)),
    };
    tag("div", "amount")
        .with(figures)
        .with(copy::button(checkout, copy))
        .into()
}

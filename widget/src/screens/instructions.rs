//! Where to send what: amount, address, QR code, and what helps to send it rightly. The same wherever something is
//! still to be sent.

mod address;
mod amount;
mod code;
mod compare;
mod exchange;
mod handoff;

use checkout_api::{AttemptView, OrderView};
use web_sys::Node;

use crate::checkout::Checkout;
use crate::markup::{Tag, tag};
use crate::phase::is_partly_paid;

/// How to pay an attempt, or the rest of it: then the amount is the rest, and QR code and link, which name the full
/// amount, give way to the bare address.
pub(super) fn show(checkout: Checkout, order: &OrderView, attempt: &AttemptView) -> Node {
    let rest = is_partly_paid(attempt);
    let aids = tag("div", "aids")
        .with(compare::show(checkout, attempt))
        .with(exchange::show(checkout, order, attempt))
        .with(handoff::show(checkout, order));
    // In the order in which a phone shows it and a keyboard goes through it; wide screens put the code first.
    let columns = tag("div", "columns")
        .with(amount::show(checkout, order, attempt, rest))
        .all(warnings(checkout, attempt))
        .with(address::show(checkout, attempt, rest))
        .with(
            tag("div", "beside")
                .with(code::show(checkout, attempt, rest))
                .with(aids),
        )
        .with(tag("p", "scam quiet").text(checkout.word("scam")));
    tag("div", "instructions").with(columns).into()
}

fn warnings(checkout: Checkout, attempt: &AttemptView) -> Option<Node> {
    if attempt.warnings.is_empty() {
        return None;
    }
    let lines = attempt.warnings.iter().map(|warning| {
        tag("li", "")
            .attr("dir", "auto")
            .text(warning.text.as_str())
            .into()
    });
    let list = tag("ul", "warnings")
        .attr("aria-label", checkout.word("warnings"))
        .test("warnings");
    Some(list.all(lines).into())
}

/// What is to be sent: all of it, or the rest.
fn due(attempt: &AttemptView) -> &str {
    if is_partly_paid(attempt) {
        attempt.remaining_in_crypto.as_str()
    } else {
        attempt.amount_in_crypto.as_str()
    }
}

/// An aid that opens in its place.
fn aid(name: &'static str, summary: Tag) -> Tag {
    tag("details", &["aid ", name].concat())
        .test([name, "-aid"].concat())
        .with(summary)
}

/// What opens an aid.
fn summary(checkout: Checkout, name: &'static str) -> Tag {
    tag("summary", "").test(name).text(checkout.word(name))
}

/// The two gaps of many sentences.
fn names(attempt: &AttemptView) -> [(&'static str, &str); 2] {
    [
        ("asset", attempt.asset.as_str()),
        ("network", attempt.network.as_str()),
    ]
}

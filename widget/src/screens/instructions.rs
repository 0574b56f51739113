//! Where to send what: amount, QR code, address. The same wherever something is still to be sent.

use checkout_api::{AttemptView, OrderView};
use web_sys::Node;

use crate::checkout::Checkout;
use crate::decimal::decimal;
use crate::grouping::groups;
use crate::links;
use crate::markup::{drawing, tag, text};
use crate::phase::is_partly_paid;
use crate::qr;

use super::copy::{self, Shown};
use super::{coins, ltr};

/// How to pay an attempt, or the rest of it: then the amount is the rest, and QR code and link, which name the full
/// amount, give way to the bare address.
pub(super) fn show(checkout: Checkout, order: &OrderView, attempt: &AttemptView) -> Node {
    let rest = is_partly_paid(attempt);
    tag("div", "instructions")
        .with(amount(checkout, order, attempt, rest))
        .all(warnings(checkout, attempt))
        .with(
            tag("div", "target")
                .with(code(checkout, attempt, rest))
                .with(destination(checkout, attempt, rest)),
        )
        .into()
}

fn amount(checkout: Checkout, order: &OrderView, attempt: &AttemptView, rest: bool) -> Node {
    let (value, label) = if rest {
        (&attempt.remaining_in_crypto, "still_to_send")
    } else {
        (&attempt.amount_in_crypto, "send_exactly")
    };
    let value = value.as_str();
    let exactly = tag("p", "exactly")
        .attr("dir", "ltr")
        .with(
            tag("span", "number")
                .test(if rest { "remaining" } else { "amount" })
                .text(value),
        )
        .with(text("\u{a0}"))
        .with(tag("span", "unit").text(attempt.asset.as_str()));
    let names = [
        ("asset", attempt.asset.as_str()),
        ("network", attempt.network.as_str()),
    ];
    let label_of_copy = checkout.sentence("copy_amount", &names);
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
    tag("div", "amount")
        .with(figures)
        .with(copy::button(
            checkout,
            Shown::Amount,
            value.to_owned(),
            label_of_copy,
        ))
        .into()
}

fn warnings(checkout: Checkout, attempt: &AttemptView) -> Option<Node> {
    if attempt.warnings.is_empty() {
        return None;
    }
    let lines = attempt.warnings.iter().map(|warning| {
        tag("li", "")
            .attr("dir", "auto")
            .text(warning.as_str())
            .into()
    });
    let list = tag("ul", "warnings")
        .attr("aria-label", checkout.word("warnings"))
        .test("warnings");
    Some(list.all(lines).into())
}

fn code(checkout: Checkout, attempt: &AttemptView, rest: bool) -> Node {
    let content = if rest {
        &attempt.address
    } else {
        &attempt.qr_string
    };
    let frame = tag("div", "qr").test("qr");
    let Some(code) = qr::draw(content) else {
        return frame.into();
    };
    let side = decimal(code.side);
    let amount = coins(attempt.amount_in_crypto.as_str(), &attempt.asset);
    let names = [
        ("amount", amount.as_str()),
        ("asset", attempt.asset.as_str()),
        ("network", attempt.network.as_str()),
    ];
    let label = checkout.sentence(if rest { "qr_address" } else { "qr" }, &names);
    let view_box = ["0 0 ", &side, " ", &side].concat();
    frame
        .with(drawing("", &view_box, &code.path, Some(&label)))
        .into()
}

fn destination(checkout: Checkout, attempt: &AttemptView, rest: bool) -> Node {
    let names = [
        ("asset", attempt.asset.as_str()),
        ("network", attempt.network.as_str()),
    ];
    let groups = groups(&attempt.address)
        .into_iter()
        .map(|group| tag("span", "").text(group).into());
    let label = checkout.sentence("copy_address", &names);
    let copy = copy::button(checkout, Shown::Address, attempt.address.clone(), label);
    let wallet = (!rest && links::is_wallet(&attempt.qr_string)).then(|| {
        // From within a frame only the whole page may leave for another program.
        tag("a", "primary wallet")
            .attr("href", attempt.qr_string.as_str())
            .attr("target", "_top")
            .test("wallet-link")
            .text(checkout.word("open_wallet"))
            .into()
    });
    tag("div", "destination")
        .with(tag("p", "label").text(checkout.sentence("to_address", &names)))
        .with(
            tag("p", "address")
                .attr("dir", "ltr")
                .test("address")
                .all(groups),
        )
        .with(tag("div", "line").with(copy).all(wallet))
        .into()
}

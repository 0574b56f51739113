//! The receipt: on the screen a button, on paper all there is.

use checkout_api::{Environment, OrderView, SignedReceipt};
use reactive_graph::prelude::*;
use web_sys::Node;

use crate::checkout::Checkout;
use crate::decimal::decimal;
use crate::markup::{Tag, drawing, live, nothing, tag};
use crate::qr;

use super::{button, coins, ltr};

/// "Print receipt".
pub(super) fn print_button(checkout: Checkout) -> Node {
    let print = move || checkout.print_receipt();
    button("secondary", checkout.word("print"), print)
        .test("print-receipt")
        .into()
}

/// The sheet that is printed, once the proxy has signed it. On the screen it is not seen.
pub(super) fn sheet(checkout: Checkout) -> Node {
    tag("div", "receipt")
        .test("receipt")
        .with(live(move || {
            let order = checkout.order.get_untracked();
            match (order, checkout.receipt()) {
                (Some(order), Some(issued)) => filled(checkout, &order, &issued),
                _ => nothing(),
            }
        }))
        .into()
}

/// `issued` is the answer of GET /v1/checkout/receipt; what it lacks is left out.
fn filled(checkout: Checkout, order: &OrderView, issued: &SignedReceipt) -> Node {
    let receipt = &issued.receipt;
    let said = |text: &Option<String>| text.clone().unwrap_or_default();
    let mut top = tag("div", "")
        .with(tag("p", "from").with(tag("bdi", "").text(order.store.name.as_str())))
        .with(tag("h2", "").text(checkout.word("receipt")));
    if order.environment == Environment::Test {
        top = top.with(tag("p", "test").text(checkout.word("test_hint")));
    }
    let price = checkout.money(order.amount.as_str(), &order.currency);
    let sum = tag("p", "sum")
        .with(tag("bdi", "").text(order.title.as_str()))
        .with(ltr(price));
    let paid = coins(&receipt.received_in_crypto, &said(&receipt.asset));
    let paid = [paid.as_str(), " · ", &said(&receipt.network)].concat();
    let rows = tag("dl", "");
    let rows = row(
        checkout,
        rows,
        "receipt_date",
        &checkout.moment(&receipt.paid_at),
    );
    let rows = row(checkout, rows, "receipt_reference", &receipt.reference);
    let rows = row(checkout, rows, "receipt_order", &order.id);
    let rows = row(checkout, rows, "receipt_paid", &paid);
    let rows = row(checkout, rows, "receipt_address", &said(&receipt.address));
    let rows = row(
        checkout,
        rows,
        "receipt_transaction",
        &said(&receipt.transaction_hash),
    );
    let code = issued.code.as_deref();
    top.with(sum)
        .with(rows)
        .all(code.map(|code| proof(checkout, order, code)))
        .into()
}

#[inline(never)]
fn row(checkout: Checkout, rows: Tag, name: &'static str, value: &str) -> Tag {
    if value.is_empty() {
        return rows;
    }
    rows.with(tag("dt", "").text(checkout.word(name)))
        .with(tag("dd", "").with(tag("bdi", "").text(value)))
}

/// The code by which the store tells this receipt from a forged one, for eyes and for a camera.
fn proof(checkout: Checkout, order: &OrderView, code: &str) -> Node {
    let drawn = qr::draw(code).map(|drawn| {
        let side = decimal(drawn.side);
        let view_box = ["0 0 ", &side, " ", &side].concat();
        drawing("", &view_box, &drawn.path, None)
    });
    let store = [("store", order.store.name.as_str())];
    let words = tag("div", "")
        .with(tag("p", "label").text(checkout.word("receipt_code")))
        .with(ltr(code).test("receipt-code"))
        .with(tag("p", "quiet").text(checkout.sentence("receipt_hint", &store)));
    tag("div", "proof").all(drawn).with(words).into()
}

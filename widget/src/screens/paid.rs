//! The good end.

use std::rc::Rc;

use checkout_api::{OrderView, Status};
use leptos::prelude::*;
use web_sys::Node;

use crate::checkout::{Checkout, remember};
use crate::links;
use crate::markup::{drawing, live, nothing, tag};

use super::ending::{new_purchase, reference};
use super::summary::help_link;
use super::{coins, heading, paragraph, progress, receipt, root, with_amount};

/// A tick, from one end of the pen to the other.
const TICK: &str = "M9.6 17.4 4.5 12.3l1.7-1.7 3.4 3.4 8.2-8.2 1.7 1.7z";

/// The order is paid.
pub(super) fn show(checkout: Checkout) -> Node {
    let Some(order) = checkout.order.get() else {
        return nothing();
    };
    let tick = drawing("tick", "0 0 24 24", TICK, None);
    let thanks = checkout.sentence("thanks", &[("store", &order.store.name)]);
    if untrack(|| checkout.receipt()).is_none() {
        checkout.load_receipt(false);
    }
    let screen = root(order.status.as_str())
        .attr("class", "screen done")
        .with(tick)
        .with(heading(checkout.word("paid")))
        .with(paragraph(thanks));
    let screen = match too_much(&order) {
        Some(excess) => screen.with(
            tag("div", "box")
                .with(with_amount(checkout, "overpaid", &excess))
                .with(paragraph(checkout.word("overpaid_hint")))
                .all(help_link(checkout, &order, "plain")),
        ),
        None => screen,
    };
    let back = order.return_url.clone().filter(|url| links::is_page(url));
    let back = back.map(|url| go_back(checkout, url, &order.store.name));
    let again = new_purchase(checkout, "plain");
    screen
        .with(contradicted(checkout))
        .with(progress::transaction(checkout))
        .with(reference(checkout, &order))
        .with(
            tag("div", "actions")
                .all(back)
                .all((!order.reverted).then(|| receipt::print_button(checkout)))
                .all(again),
        )
        .with(receipt::sheet(checkout))
        .into()
}

/// What the customer should know when the service takes back what it said.
fn contradicted(checkout: Checkout) -> Node {
    let reverted = |order: &Rc<OrderView>| order.reverted;
    let reverted = remember(Box::new(move || {
        let is = checkout
            .order
            .with(|order| order.as_ref().is_some_and(reverted));
        if is { "yes" } else { "" }.to_owned()
    }));
    live(move || {
        let is_quiet = reverted.get().is_empty();
        let Some(order) = checkout.order.get_untracked().filter(|_| !is_quiet) else {
            return nothing();
        };
        let words = checkout.sentence("reverted", &[("store", &order.store.name)]);
        tag("div", "box doubtful")
            .attr("role", "status")
            .test("reverted")
            .with(paragraph(words))
            .all(help_link(checkout, &order, "plain"))
            .into()
    })
}

fn too_much(order: &OrderView) -> Option<String> {
    let attempt = order.attempt.as_ref()?;
    let excess = attempt.excess_in_crypto.as_ref()?;
    (order.status == Status::Overpaid).then(|| coins(excess.as_str(), &attempt.asset))
}

/// The way back to the shop, out of the frame.
fn go_back(checkout: Checkout, url: String, store: &str) -> Node {
    let close = move || {
        if let Some(parts) = checkout.parts() {
            parts.host.emit("close", &wasm_bindgen::JsValue::NULL);
        }
    };
    tag("a", "primary")
        .attr("href", url)
        .attr("target", "_top")
        .attr("part", "button")
        .text(checkout.sentence("return", &[("store", store)]))
        .on_click(close)
        .into()
}

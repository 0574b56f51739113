//! The good end.

use std::rc::Rc;

use checkout_api::{LatePayment, OrderView, Status};
use reactive_graph::graph::untrack;
use reactive_graph::prelude::*;
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
    let back = way_back(checkout, &order, "primary");
    let again = new_purchase(checkout, "plain");
    screen
        .with(afterwards(checkout))
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

/// What else the customer should know: that the service takes back what it said, that more has arrived, or that it
/// came late and counts.
fn afterwards(checkout: Checkout) -> Node {
    let said = |order: &Rc<OrderView>| match order.late_payment {
        _ if order.reverted => "reverted",
        Some(LatePayment::Second) => "second_payment",
        Some(LatePayment::Counted) => "late",
        None => "",
    };
    let said = remember(Box::new(move || {
        let said = checkout.order.with(|order| order.as_ref().map(said));
        said.unwrap_or_default().to_owned()
    }));
    live(move || {
        let (key, class) = match said.get().as_str() {
            "reverted" => ("reverted", "box doubtful"),
            "second_payment" => ("second_payment", "box"),
            "late" => ("late", "box"),
            _ => return nothing(),
        };
        let Some(order) = checkout.order.get_untracked() else {
            return nothing();
        };
        let words = checkout.sentence(key, &[("store", &order.store.name)]);
        checkout.say(words.clone());
        let help = (key != "late").then(|| help_link(checkout, &order, "plain"));
        tag("div", class)
            .test(key)
            .with(paragraph(words))
            .all(help.flatten())
            .into()
    })
}

fn too_much(order: &OrderView) -> Option<String> {
    let attempt = order.attempt.as_ref()?;
    let excess = attempt.excess_in_crypto.as_ref()?;
    (order.status == Status::Overpaid).then(|| coins(excess.as_str(), &attempt.asset))
}

/// The way back to the shop, out of the frame.
pub(super) fn way_back(checkout: Checkout, order: &OrderView, class: &'static str) -> Option<Node> {
    let url = order
        .return_url
        .as_deref()
        .filter(|url| links::is_page(url))?;
    let close = move || {
        if let Some(parts) = checkout.parts() {
            parts.host.emit("close", &wasm_bindgen::JsValue::NULL);
        }
    };
    let words = checkout.sentence("return", &[("store", &order.store.name)]);
    let link = tag("a", class).attr("href", url).attr("target", "_top");
    Some(link.test("return").text(words).on_click(close).into())
}

//! The last minute: what is prepared now could arrive too late, so a new quote comes before the address.

use checkout_api::{AttemptView, OrderView};
use reactive_graph::prelude::*;
use reactive_graph::signal::RwSignal;
use web_sys::Node;

use crate::checkout::Checkout;
use crate::markup::tag;
use crate::phase::is_partly_paid;
use crate::screens::ending::new_quote;
use crate::screens::{button, focus, paragraph};

/// Not once something has arrived or is said to be on its way, and only where a new quote can be had: without one,
/// nothing is gained by hiding the address.
pub(super) fn may_renew(order: &OrderView, attempt: &AttemptView) -> bool {
    let is_under_way =
        attempt.marked_as_paid || attempt.confirmations.is_some() || is_partly_paid(attempt);
    order.can_open_attempt && !is_under_way
}

/// A new quote first, the address of this one second.
pub(super) fn show(checkout: Checkout, crypto_code: String, insists: RwSignal<bool>) -> Node {
    // Who was about to copy is not left without a place on the page.
    let focused = checkout.parts().and_then(|parts| {
        let focused = parts.root.query_selector(".instructions :focus");
        focused.ok().flatten()
    });
    if focused.is_some() {
        focus(checkout, String::from(".guard h3"));
    }
    let (title, hint) = (checkout.word("guard"), checkout.word("guard_hint"));
    checkout.say([title.as_str(), ". ", &hint].concat());
    let insist = move || {
        insists.set(true);
        focus(checkout, String::from(".instructions button"));
    };
    let anyway = button("secondary", checkout.word("guard_anyway"), insist);
    tag("div", "box guard")
        .test("guard")
        .with(tag("h3", "").attr("tabindex", "-1").text(title))
        .with(paragraph(hint))
        .with(paragraph(checkout.word("if_sent")))
        .with(
            tag("div", "actions")
                .with(new_quote(checkout, crypto_code))
                .with(anyway.test("guard-anyway")),
        )
        .into()
}

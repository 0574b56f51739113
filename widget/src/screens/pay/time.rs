//! The time left: in whole minutes while there is plenty, then by the second.

use reactive_graph::prelude::*;
use web_sys::Node;

use crate::checkout::Checkout;
use crate::countdown;
use crate::markup::{live_text, tag};

/// How long the price is held.
pub(super) fn left(checkout: Checkout) -> Node {
    let seconds = checkout.seconds_left;
    tag("p", "countdown")
        .attr("role", "timer")
        .attr("aria-live", "off")
        .test("countdown")
        .live_attr("data-urgent", move || {
            countdown::is_urgent(seconds.get()).then(String::new)
        })
        .with(live_text(move || words(checkout, seconds.get())))
        .into()
}

fn words(checkout: Checkout, seconds: u32) -> String {
    if seconds == 0 {
        return checkout.word("time_up");
    }
    let time = match (countdown::held(seconds), checkout.parts()) {
        (Some((number, unit)), Some(parts)) => parts.language.duration(number, unit),
        _ => countdown::clock(seconds),
    };
    checkout.sentence("held", &[("time", &time)])
}

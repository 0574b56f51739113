//! Sending the payment.

mod guard;
mod sent;
mod time;

use reactive_graph::prelude::*;
use reactive_graph::signal::RwSignal;
use web_sys::Node;

use crate::checkout::{Checkout, remember};
use crate::countdown;
use crate::markup::{live, nothing, tag};
use crate::phase::is_partly_paid;

use super::{button, coins, heading, instructions, paragraph, root, with_amount};

/// How to pay, how long, and what to do afterwards.
pub(super) fn show(checkout: Checkout) -> Node {
    let Some(order) = checkout.order.get() else {
        return nothing();
    };
    let Some(attempt) = &order.attempt else {
        return nothing();
    };
    let names = [
        ("asset", attempt.asset.as_str()),
        ("network", attempt.network.as_str()),
    ];
    let top = tag("div", "top")
        .with(heading(checkout.sentence("pay", &names)))
        .with(time::left(checkout));
    let other = order.can_open_attempt.then(|| {
        let choose = move || checkout.choose_again();
        button("plain", checkout.word("other_asset"), choose).into()
    });
    root("awaiting_payment")
        .with(top)
        .with(what_to_send(checkout))
        .with(sent::show(checkout))
        .all(other)
        .into()
}

/// The instructions; they change when a part of the payment arrives, and give way when little time is left.
pub(super) fn what_to_send(checkout: Checkout) -> Node {
    let received = checkout.watch(|_, attempt| {
        is_partly_paid(attempt).then(|| attempt.received_in_crypto.as_str().to_owned())
    });
    let seconds = checkout.seconds_left;
    let insists = RwSignal::new(false);
    let may_renew = checkout
        .watch(|order, attempt| guard::may_renew(order, attempt).then(|| String::from("late")));
    let haste = remember(Box::new(move || match seconds.get() {
        0 => String::from("up"),
        left if countdown::is_urgent(left) && !insists.get() => may_renew.get(),
        _ => String::new(),
    }));
    live(move || {
        let (received, haste) = (received.get(), haste.get());
        let Some(order) = checkout.order.get_untracked() else {
            return nothing();
        };
        let Some(attempt) = &order.attempt else {
            return nothing();
        };
        if haste == "late" {
            return guard::show(checkout, attempt.crypto_code.clone(), insists);
        }
        // Only the server says that it expired; but what is sent from here on would come late.
        if !haste.is_empty() && received.is_empty() {
            return tag("div", "box doubtful")
                .with(paragraph(checkout.word("expired_hint")))
                .with(paragraph(checkout.word("if_sent")))
                .into();
        }
        let part = (!received.is_empty()).then(|| {
            let received = coins(&received, &attempt.asset);
            tag("div", "box")
                .with(with_amount(checkout, "part_received", &received))
                .into()
        });
        tag("div", "rest")
            .all(part)
            .with(instructions::show(checkout, &order, attempt))
            .into()
    })
}

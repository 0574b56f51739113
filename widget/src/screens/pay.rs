//! Sending the payment.

use reactive_graph::computed::Memo;
use reactive_graph::prelude::*;
use web_sys::Node;

use crate::checkout::{Checkout, remember};
use crate::countdown;
use crate::markup::{live, live_text, nothing, tag};
use crate::phase::is_partly_paid;

use super::{
    button, coins, heading, instructions, paragraph, root, typed, while_idle, with_amount,
};

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
        .with(time_left(checkout));
    let other = order.can_open_attempt.then(|| {
        let choose = move || checkout.choose_again();
        button("plain", checkout.word("other_asset"), choose).into()
    });
    root("awaiting_payment")
        .with(top)
        .with(what_to_send(checkout))
        .with(sent(checkout))
        .all(other)
        .into()
}

/// The instructions; they change when a part of the payment arrives.
pub(super) fn what_to_send(checkout: Checkout) -> Node {
    let received = checkout.watch(|_, attempt| {
        is_partly_paid(attempt).then(|| attempt.received_in_crypto.as_str().to_owned())
    });
    let is_up = time_is_up(checkout);
    live(move || {
        let received = received.get();
        let is_up = !is_up.get().is_empty();
        let Some(order) = checkout.order.get_untracked() else {
            return nothing();
        };
        let Some(attempt) = &order.attempt else {
            return nothing();
        };
        if is_up && received.is_empty() {
            // Only the server says that it expired; but what is sent from here on would come late.
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

fn time_is_up(checkout: Checkout) -> Memo<String> {
    let seconds = checkout.seconds_left;
    remember(Box::new(move || match seconds.get() {
        0 => String::from("up"),
        _ => String::new(),
    }))
}

fn time_left(checkout: Checkout) -> Node {
    let seconds = checkout.seconds_left;
    let is_up = time_is_up(checkout);
    live(move || {
        if !is_up.get().is_empty() {
            return tag("p", "countdown up")
                .test("countdown")
                .text(checkout.word("time_up"))
                .into();
        }
        tag("p", "countdown")
            .attr("role", "timer")
            .attr("aria-live", "off")
            .test("countdown")
            .live_attr("data-urgent", move || {
                countdown::is_urgent(seconds.get()).then(String::new)
            })
            .with(tag("span", "unseen").text(checkout.word("time")))
            .with(live_text(move || countdown::clock(seconds.get())))
            .into()
    })
}

/// "I have paid", with an address for the receipt.
fn sent(checkout: Checkout) -> Node {
    let marked = checkout.watch(|_, attempt| attempt.marked_as_paid.then(|| String::from("yes")));
    live(move || {
        if !marked.get().is_empty() {
            return tag("p", "box").text(checkout.word("marked")).into();
        }
        let email = tag("input", "")
            .attr("type", "email")
            .attr("id", "email")
            .attr("autocomplete", "email")
            .attr("maxlength", "254")
            .attr("dir", "ltr");
        let mark = move || checkout.mark_paid(&typed(checkout));
        let paid = button("secondary", checkout.word("i_have_paid"), mark).test("i-have-paid");
        let paid = while_idle(checkout, paid);
        // No form: Enter in the field of an address must not say that something was paid.
        tag("div", "sent")
            .with(
                tag("label", "")
                    .attr("for", "email")
                    .text(checkout.word("email")),
            )
            .with(tag("div", "line").with(email).with(paid))
            .into()
    })
}

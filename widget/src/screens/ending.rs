//! The ends that nobody wished for. Each says what happened, that the money is not lost, what to do next, whom to ask
//! and by which reference.

use checkout_api::{Flow, OrderView};
use reactive_graph::prelude::*;
use web_sys::Node;

use crate::checkout::Checkout;
use crate::markup::{Tag, nothing, tag};
use crate::phase::is_partly_paid;

use super::copy::{self, ToCopy};
use super::summary::help_link;
use super::{button, coins, heading, hosted, paid, paragraph, pay, root, while_idle, with_amount};

/// Less arrived than asked for.
pub(super) fn underpaid(checkout: Checkout) -> Node {
    end(
        checkout,
        "underpaid",
        "underpaid",
        &["underpaid_hint"],
        |screen, order| {
            let rest = order
                .attempt
                .as_ref()
                .filter(|attempt| is_partly_paid(attempt));
            let Some(attempt) = rest else {
                return screen.all(hosted::way_back(checkout));
            };
            let missing = coins(attempt.remaining_in_crypto.as_str(), &attempt.asset);
            screen
                .with(with_amount(checkout, "missing", &missing))
                .with(pay::what_to_send(checkout))
        },
    )
}

/// The payment did not go through.
pub(super) fn failed(checkout: Checkout) -> Node {
    end(
        checkout,
        "failed",
        "failed",
        &["failed_hint", "if_sent"],
        |screen, order| screen.all(actions(checkout, order, true)),
    )
}

/// The order was called off.
pub(super) fn cancelled(checkout: Checkout) -> Node {
    let left = checkout.order.with(|order| {
        let order = order.as_ref();
        order.is_some_and(|order| order.flow == Flow::Hosted && order.can_open_attempt)
    });
    // The service's word for a page that was closed before anything was shown to pay to.
    let title = if left { "hosted_left" } else { "cancelled" };
    end(
        checkout,
        "cancelled",
        title,
        &["cancelled_hint", "if_sent"],
        |screen, order| screen.all(actions(checkout, order, true)),
    )
}

/// Time ran out. The new quote stands where the old code was.
pub(super) fn expired(checkout: Checkout) -> Node {
    end(
        checkout,
        "expired",
        "expired",
        &["expired_hint", "if_sent"],
        |screen, order| screen.all(actions(checkout, order, true)),
    )
}

/// The invoice was not trustworthy: there is no address to show.
pub(super) fn blocked(checkout: Checkout) -> Node {
    end(
        checkout,
        "blocked",
        "blocked",
        &["blocked_hint"],
        |screen, order| screen.all(actions(checkout, order, false)),
    )
}

/// One bad end; `name` is its status, `title` the key of its heading.
fn end(
    checkout: Checkout,
    name: &'static str,
    title: &'static str,
    hints: &[&'static str],
    remedy: impl FnOnce(Tag, &OrderView) -> Tag,
) -> Node {
    let Some(order) = checkout.order.get() else {
        return nothing();
    };
    let screen = root(name)
        .with(tag("div", "mark").attr("aria-hidden", "true").text("!"))
        .with(heading(checkout.word(title)))
        .all(hints.iter().map(|hint| paragraph(checkout.word(hint))));
    remedy(screen, &order)
        .with(
            tag("div", "contact")
                .with(reference(checkout, &order))
                .with(
                    tag("div", "actions")
                        .all(help_link(checkout, &order, "secondary"))
                        .all(paid::way_back(checkout, &order, "plain")),
                ),
        )
        .into()
}

/// What can be done about it here: a new quote in the same asset, or another asset.
fn actions(checkout: Checkout, order: &OrderView, renew: bool) -> Option<Node> {
    if !order.can_open_attempt {
        return new_purchase(checkout, "primary");
    }
    if order.flow == Flow::Hosted {
        let again = hosted::again(checkout, "hosted_again");
        return Some(tag("div", "actions").with(again).into());
    }
    let other = |class| {
        let choose = move || checkout.choose_again();
        button(class, checkout.word("other_asset"), choose)
    };
    let attempt = order.attempt.as_ref().filter(|_| renew);
    let actions = tag("div", "actions");
    let Some(attempt) = attempt else {
        return Some(actions.with(other("primary").test("new-quote")).into());
    };
    let code = attempt.crypto_code.clone();
    // Where the code was, the next one will be.
    let slot = tag("div", "qr slot").with(new_quote(checkout, code));
    let beside = tag("div", "").with(other("plain"));
    Some(tag("div", "target").with(slot).with(beside).into())
}

/// Asks for the same asset again at today's price.
pub(super) fn new_quote(checkout: Checkout, crypto_code: String) -> Tag {
    let renew = move || checkout.renew(crypto_code.clone());
    let renew = button("primary", checkout.word("new_quote"), renew);
    while_idle(checkout, renew.test("new-quote"))
}

/// Leaves this order for another by the same door, where that opens more than one.
pub(super) fn new_purchase(checkout: Checkout, class: &'static str) -> Option<Node> {
    let parts = checkout.parts().filter(|parts| parts.host.repeatable());
    let again = move || checkout.start_over();
    parts.map(|_| button(class, checkout.word("new_purchase"), again).into())
}

/// What to quote when asking for help.
pub(super) fn reference(checkout: Checkout, order: &OrderView) -> Node {
    let id = tag("bdi", "id").attr("dir", "ltr").text(order.id.as_str());
    let copy = ToCopy {
        test: "copy-reference",
        place: ".id",
        value: order.id.clone(),
        words: checkout.word("copy"),
        label: checkout.word("copy_reference"),
    };
    tag("div", "line")
        .with(
            tag("p", "quiet")
                .with(tag("span", "").text(checkout.word("reference")))
                .with(id),
        )
        .with(copy::button(checkout, copy))
        .into()
}

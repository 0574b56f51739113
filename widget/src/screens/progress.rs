//! Waiting for the chain.

use checkout_api::Confirmations;
use leptos::prelude::*;
use web_sys::Node;

use crate::checkout::Checkout;
use crate::links;
use crate::markup::{live, nothing, tag};
use crate::phase::is_partly_paid;

use super::{button, heading, hosted, paragraph, pay, root};

/// Bars up to this many blocks; beyond, one bar fills up.
const MOST_BARS: u32 = 12;

/// The payment is said to be on its way.
pub(super) fn checking(checkout: Checkout) -> Node {
    let partly = partly_paid(checkout);
    let again = tag("details", "again")
        .live_attr("open", move || (!partly.get().is_empty()).then(String::new))
        .with(tag("summary", "").text(checkout.word("show_again")))
        .with(pay::what_to_send(checkout));
    root("checking")
        .with(tag("div", "pulse").attr("aria-hidden", "true"))
        .with(heading(checkout.word("checking")))
        .with(paragraph(checkout.word("checking_hint")))
        .with(paragraph(checkout.word("come_back")))
        .with(transaction(checkout))
        .with(again)
        .all(other_asset(checkout))
        .into()
}

/// The payment is on the chain and gathers blocks.
pub(super) fn processing(checkout: Checkout) -> Node {
    root("processing")
        .with(tag("div", "pulse found").attr("aria-hidden", "true"))
        .with(heading(checkout.word("processing")))
        .with(blocks(checkout))
        .with(what_is_left_to_do(checkout))
        .with(transaction(checkout))
        .all(hosted::way_back(checkout))
        .into()
}

/// Nothing, once enough is on its way; else the rest can be sent while the part that came gathers blocks.
fn what_is_left_to_do(checkout: Checkout) -> Node {
    let partly = partly_paid(checkout);
    live(move || {
        if partly.get().is_empty() {
            return tag("div", "rest")
                .with(paragraph(checkout.word("processing_hint")))
                .with(paragraph(checkout.word("come_back")))
                .into();
        }
        pay::what_to_send(checkout)
    })
}

fn partly_paid(checkout: Checkout) -> Memo<String> {
    checkout.watch(|_, attempt| is_partly_paid(attempt).then(|| String::from("yes")))
}

fn blocks(checkout: Checkout) -> Node {
    let seen = checkout.watch(|_, attempt| {
        let Confirmations { count, required } = attempt.confirmations?;
        Some([count.to_string(), required.to_string()].join("/"))
    });
    let mut heard = false;
    live(move || {
        let _ = seen.get();
        let order = checkout.order.get_untracked();
        let attempt = order.as_ref().and_then(|order| order.attempt.as_ref());
        let Some(Confirmations { count, required }) = attempt.and_then(|a| a.confirmations) else {
            return nothing();
        };
        let (done, all) = (count.min(required).to_string(), required.to_string());
        let values = [("count", done.as_str()), ("required", all.as_str())];
        let words = checkout.parts().map(|parts| {
            let language = &parts.language;
            language.counted("confirmations", required, &values)
        });
        let words = words.unwrap_or_default();
        if heard {
            checkout.said.set(words.clone());
        }
        heard = true;
        let bars = (0..required.min(MOST_BARS)).map(|bar| {
            // Of many blocks each bar stands for several.
            let reached = u64::from(bar) * u64::from(required.max(1))
                < u64::from(count) * u64::from(required.min(MOST_BARS));
            tag("span", if reached { "on" } else { "" }).into()
        });
        tag("div", "blocks")
            .test("confirmations")
            .with(tag("div", "bars").attr("aria-hidden", "true").all(bars))
            .with(paragraph(words))
            .into()
    })
}

/// Where the transaction can be looked at.
pub(super) fn transaction(checkout: Checkout) -> Node {
    let url = checkout.watch(|_, attempt| attempt.explorer_url.clone());
    live(move || {
        let url = url.get();
        if !links::is_page(&url) {
            return nothing();
        }
        tag("a", "plain")
            .attr("href", url)
            .attr("target", "_blank")
            .attr("rel", "noopener noreferrer")
            .text(checkout.word("explorer"))
            .into()
    })
}

fn other_asset(checkout: Checkout) -> Option<Node> {
    let open = checkout
        .order
        .with(|order| order.as_ref().is_some_and(|order| order.can_open_attempt));
    let choose = move || checkout.choose_again();
    open.then(|| button("plain", checkout.word("other_asset"), choose).into())
}

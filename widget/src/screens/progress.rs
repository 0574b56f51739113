//! Waiting for the chain.

use checkout_api::Confirmations;
use reactive_graph::computed::Memo;
use reactive_graph::prelude::*;
use web_sys::Node;

use crate::block_time::{Estimate, estimate};
use crate::checkout::Checkout;
use crate::decimal::decimal;
use crate::links;
use crate::markup::{live, live_text, nothing, tag};
use crate::phase::is_partly_paid;

use super::copy::{self, ToCopy};
use super::{button, heading, hosted, ltr, paragraph, pay, root};

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
        .with(heading(checkout.word("checking")))
        .with(paragraph(checkout.word("checking_hint")))
        .with(steps(checkout, 0, nothing()))
        .with(checked(checkout))
        .with(transaction(checkout))
        .with(paragraph(checkout.word("come_back")))
        .with(again)
        .all(other_asset(checkout))
        .into()
}

/// The payment is on the chain and gathers blocks.
pub(super) fn processing(checkout: Checkout) -> Node {
    root("processing")
        .with(heading(checkout.word("processing")))
        .with(what_is_left_to_do(checkout))
        .with(steps(checkout, 1, blocks(checkout)))
        .with(checked(checkout))
        .with(transaction(checkout))
        .all(hosted::way_back(checkout))
        .into()
}

/// The way of a payment. `now` is the step that it is at, and `how_far` how far it is there.
fn steps(checkout: Checkout, now: usize, how_far: Node) -> Node {
    let mut how_far = Some(how_far);
    let keys = ["step_seen", "step_confirming", "step_done"];
    let list = keys.into_iter().enumerate().map(|(number, key)| {
        let words = tag("p", "").text(checkout.word(key));
        if number < now {
            return tag("li", "passed").with(words).into();
        }
        if number > now {
            return tag("li", "").with(words).into();
        }
        tag("li", "now")
            .attr("aria-current", "step")
            .with(words)
            .all(how_far.take())
            .into()
    });
    tag("ol", "steps")
        .attr("aria-label", checkout.word("steps"))
        .test("steps")
        .all(list)
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
        Some([decimal(count).as_str(), "/", &decimal(required)].concat())
    });
    live(move || {
        let _ = seen.get();
        let order = checkout.order.get_untracked();
        let attempt = order.as_ref().and_then(|order| order.attempt.as_ref());
        let Some((attempt, Confirmations { count, required })) =
            attempt.and_then(|attempt| Some((attempt, attempt.confirmations?)))
        else {
            return nothing();
        };
        let (done, all) = (decimal(count.min(required)), decimal(required));
        let values = [("count", done.as_str()), ("required", all.as_str())];
        let words = checkout.parts().map(|parts| {
            let language = &parts.language;
            language.counted("confirmations", required, &values)
        });
        let words = words.unwrap_or_default();
        checkout.confirm(count, required, &words);
        let bars = (0..required.min(MOST_BARS)).map(|bar| {
            // Of many blocks each bar stands for several.
            let reached = u64::from(bar) * u64::from(required.max(1))
                < u64::from(count) * u64::from(required.min(MOST_BARS));
            tag("span", if reached { "on" } else { "" }).into()
        });
        let wait = match estimate(&attempt.network, count, required) {
            Some(Estimate::Soon) => checkout.word("estimate_soon"),
            Some(Estimate::About(number, unit)) => {
                let parts = checkout.parts();
                let time = parts.map(|parts| parts.language.duration(number, unit));
                checkout.sentence("estimate", &[("time", &time.unwrap_or_default())])
            }
            None => String::new(),
        };
        tag("div", "blocks")
            .with(tag("div", "bars").attr("aria-hidden", "true").all(bars))
            .with(tag("p", "").test("confirmations").text(words))
            .with(tag("p", "quiet").test("estimate").text(wait))
            .into()
    })
}

/// How fresh it is: a line that ticks, and is read aloud only where somebody goes to it.
pub(super) fn checked(checkout: Checkout) -> Node {
    let is_known =
        checkout.watch(|order, _| order.checked_seconds_ago.map(|_| String::from("yes")));
    live(move || {
        if is_known.get().is_empty() {
            return nothing();
        }
        let words = move || {
            let parts = checkout.parts();
            let ago = parts.map(|parts| parts.language.relative(checkout.checked_for.get(), false));
            checkout.sentence("checked", &[("ago", &ago.unwrap_or_default())])
        };
        tag("p", "quiet")
            .test("checked")
            .with(live_text(words))
            .into()
    })
}

/// The transaction's hash in full, to copy, and where it can be looked at.
pub(super) fn transaction(checkout: Checkout) -> Node {
    let seen = checkout.watch(|_, attempt| {
        let hash = attempt.transaction_hash.as_deref()?;
        let url = attempt.explorer_url.as_deref().unwrap_or_default();
        Some([hash, url].join("\n"))
    });
    live(move || {
        let seen = seen.get();
        let Some((hash, url)) = seen.split_once('\n') else {
            return nothing();
        };
        let label = checkout.word("copy_transaction");
        let explorer = links::is_page(url).then(|| {
            tag("a", "plain")
                .attr("href", url)
                .attr("target", "_blank")
                .attr("rel", "noopener noreferrer")
                .test("explorer")
                .text(checkout.word("explorer"))
                .into()
        });
        let copy = ToCopy {
            test: "copy-transaction",
            place: ".hash",
            value: hash.to_owned(),
            words: checkout.word("copy"),
            label,
        };
        tag("div", "transaction")
            .with(tag("p", "label").text(checkout.word("transaction")))
            .with(ltr(hash).attr("class", "hash").test("transaction"))
            .with(
                tag("div", "line")
                    .with(copy::button(checkout, copy))
                    .all(explorer),
            )
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

//! Which asset to pay in.
//!
//! Fresh prices change texts in their places: nothing is built anew, so that whoever reads, types or tabs is not
//! disturbed.

mod field;
mod network;
mod option;

use checkout_api::Quote;
use reactive_graph::prelude::*;
use web_sys::Node;

use self::field::Field;
use crate::checkout::{Checkout, Quotes, remember};
use crate::markup::{live, nothing, tag};

use super::coin;
use super::{
    button, coins, focus, focus_heading, heading, ltr, paragraph, root, while_idle, with_gap,
};

/// The list of assets, each with what the order costs in it, or the network of the one that was picked.
pub(super) fn show(checkout: Checkout) -> Node {
    checkout.confirming.set(String::new());
    if matches!(checkout.quotes.get(), Quotes::Awaited) {
        checkout.load_quotes();
    }
    let confirming = checkout.confirming;
    let field = Field::new();
    let back = checkout.choosing.get().then(|| {
        let go = move || checkout.choosing.set(false);
        let back = button("plain", checkout.word("back"), go);
        tag("div", "actions").with(back).into()
    });
    // Hidden, not taken away: who comes back finds it as it was.
    let pick = tag("div", "pick")
        .live_attr("hidden", move || {
            (!confirming.get().is_empty()).then(String::new)
        })
        .with(heading(checkout.word("choose")))
        .with(hint(checkout))
        .with(field.show(checkout))
        .with(missing(checkout))
        .with(list(checkout, field))
        .all(back);
    root("open").with(network::step(checkout)).with(pick).into()
}

/// What there is to know, and in its place for a moment that the prices have moved.
fn hint(checkout: Checkout) -> Node {
    tag("div", "hint")
        .live_attr("data-fresh", move || checkout.fresh.get().then(String::new))
        .with(paragraph(checkout.word("choose_hint")))
        .with(fresh(checkout))
        .into()
}

/// The prices have moved: for the eye, since a screen reader is told in its own way.
fn fresh(checkout: Checkout) -> Node {
    tag("p", "fresh")
        .attr("aria-hidden", "true")
        .test("prices-fresh")
        .live_attr("data-shown", move || checkout.fresh.get().then(String::new))
        .text(checkout.word("prices_fresh"))
        .into()
}

/// In place of the list, or above one in which nothing can be chosen.
fn missing(checkout: Checkout) -> Node {
    let is_missing = remember(Box::new(move || {
        let is_missing = match checkout.quotes.get() {
            Quotes::Awaited => false,
            Quotes::Missing => true,
            Quotes::Shown(quotes) => !quotes.iter().any(|quote| quote.available),
        };
        String::from(if is_missing { "yes" } else { "" })
    }));
    live(move || {
        if is_missing.get().is_empty() {
            return nothing();
        }
        let again = move || {
            checkout.quotes.set(Quotes::Awaited);
            checkout.load_quotes();
        };
        tag("div", "box doubtful")
            .with(paragraph(checkout.word("no_prices")))
            .with(button("secondary", checkout.word("retry"), again).test("retry"))
            .into()
    })
}

/// The assets. Built anew only when others are offered.
fn list(checkout: Checkout, field: Field) -> Node {
    let offered = remember(Box::new(move || match checkout.quotes.get() {
        Quotes::Awaited => String::from("awaited"),
        Quotes::Missing => String::new(),
        Quotes::Shown(quotes) => {
            let codes = quotes
                .iter()
                .flat_map(|quote| [quote.crypto_code.as_str(), "\n"]);
            codes.collect()
        }
    }));
    live(move || {
        let _ = offered.get();
        match checkout.quotes.get_untracked() {
            Quotes::Awaited => {
                let rows = (0..6).map(|_| tag("li", "bar").into());
                tag("ul", "options")
                    .attr("aria-busy", "true")
                    .all(rows)
                    .into()
            }
            Quotes::Shown(quotes) => options(checkout, field, &quotes),
            Quotes::Missing => nothing(),
        }
    })
}

/// The customer's last choice comes first; beside that the order is the proxy's.
fn options(checkout: Checkout, field: Field, quotes: &[Quote]) -> Node {
    let last = checkout
        .parts()
        .map(|parts| parts.host.recall())
        .unwrap_or_default();
    let is_last = |quote: &&Quote| quote.available && quote.crypto_code == last;
    let first = quotes.iter().filter(is_last);
    let others = quotes.iter().filter(|quote| !is_last(quote));
    let rows = first
        .map(|quote| option::row(checkout, field, quote, true))
        .chain(others.map(|quote| option::row(checkout, field, quote, false)));
    // Said outright: without its bullets Safari takes it for no list.
    tag("ul", "options").attr("role", "list").all(rows).into()
}

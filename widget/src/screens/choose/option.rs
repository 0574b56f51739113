//! One asset of the list.

use std::mem;
use std::rc::Rc;

use checkout_api::{Quote, Unavailable};
use reactive_graph::graph::untrack;
use reactive_graph::prelude::*;
use web_sys::Node;

use crate::checkout::{Checkout, remember};
use crate::markup::{Tag, live, live_text, tag};

use super::field::Field;
use super::{coin, coins, ltr};

/// A row of the list.
pub(super) fn row(checkout: Checkout, field: Field, quote: &Quote, is_last: bool) -> Node {
    let code: Rc<str> = quote.crypto_code.as_str().into();
    let is_available = {
        let code = Rc::clone(&code);
        move || checkout.quote(&code).is_some_and(|quote| quote.available)
    };
    let is_off = is_available.clone();
    let is_offered = is_available.clone();
    let picked = Rc::clone(&code);
    let pick = move || {
        if untrack(&is_offered) {
            checkout.pick(&picked);
        } else if let Some(quote) = untrack(|| checkout.quote(&picked)) {
            // Whoever presses it in spite of that hears why nothing happens.
            checkout.say(detail(checkout, &quote));
        }
    };
    let button = tag("button", "option")
        .attr("type", "button")
        .test(["asset-", &code].concat())
        // Not `disabled`: who moves by keyboard must reach the reason.
        .live_attr("aria-disabled", move || {
            (checkout.busy.get() || !is_available()).then(|| String::from("true"))
        })
        .live_attr("data-off", move || (!is_off()).then(String::new))
        .with(coin::mark(
            &quote.asset,
            &quote.network,
            checkout.has_several_networks(quote),
        ))
        .with(what(checkout, quote, &code, is_last))
        .with(cost(checkout, &quote.crypto_code))
        .on_click(pick);
    let quote = quote.clone();
    tag("li", "")
        .live_attr("hidden", move || (!field.finds(&quote)).then(String::new))
        .with(button)
        .into()
}

fn what(checkout: Checkout, quote: &Quote, code: &Rc<str>, is_last: bool) -> Tag {
    let mark = is_last.then(|| {
        tag("small", "last")
            .test("last-used")
            .text(checkout.word("last_used"))
            .into()
    });
    tag("span", "what")
        .with(tag("b", "").text(name(checkout, quote)))
        .with(tag("small", "").with(following(checkout, code, detail)))
        .with(tag("small", "limits").with(following(checkout, code, limits)))
        .all(mark)
}

/// A text that follows the quote.
fn following(checkout: Checkout, code: &Rc<str>, read: fn(Checkout, &Quote) -> String) -> Node {
    let code = Rc::clone(code);
    live_text(move || {
        let quote = checkout.quote(&code);
        quote.map_or_else(String::new, |quote| read(checkout, &quote))
    })
}

/// The asset's name; where the network tells it from another, that stands out.
pub(super) fn name(checkout: Checkout, quote: &Quote) -> String {
    if !quote.network.is_empty() && checkout.has_several_networks(quote) {
        on_network(quote)
    } else {
        quote.asset_name.clone()
    }
}

/// `USDT · Tron`
fn on_network(quote: &Quote) -> String {
    [quote.asset.as_str(), " · ", quote.network.as_str()].concat()
}

/// Why it cannot be chosen, else what the name leaves out.
pub(super) fn detail(checkout: Checkout, quote: &Quote) -> String {
    if let Some(reason) = quote.reason {
        why(checkout, quote, reason)
    } else if checkout.has_several_networks(quote) {
        quote.asset_name.clone()
    } else if !quote.network.is_empty() && quote.asset_name != quote.network {
        on_network(quote)
    } else {
        quote.asset.clone()
    }
}

/// What the order costs in it. An amount that has moved is marked for a moment.
pub(super) fn cost(checkout: Checkout, code: &str) -> Node {
    let code = code.to_owned();
    let amounts = remember(Box::new(move || {
        let quote = checkout
            .quote(&code)
            .filter(|quote| quote.amount_in_usd.is_some());
        quote.map_or_else(String::new, |quote| {
            let amount = quote.amount_in_crypto.as_ref();
            let usd = quote.amount_in_usd.as_ref();
            let [amount, usd] = [amount, usd].map(|text| text.map_or("", |text| text.as_str()));
            let amount = coins(amount, &quote.asset);
            [amount.as_str(), "\n", usd].concat()
        })
    }));
    let mut is_shown = false;
    live(move || {
        let amounts = amounts.get();
        let cost = tag("span", "cost");
        let has_moved = mem::replace(&mut is_shown, true);
        let Some((amount, usd)) = amounts.split_once('\n') else {
            return cost.into();
        };
        let usd = ["≈ ", &checkout.money(usd, "USD")].concat();
        let amount = tag("b", if has_moved { "moved" } else { "" }).with(ltr(amount));
        cost.with(amount)
            .with(tag("small", "").with(ltr(usd)))
            .into()
    })
}

/// The least and the most that can be sent, for an asset that can be chosen.
fn limits(checkout: Checkout, quote: &Quote) -> String {
    let min = quote.min.as_ref().map(|min| checkout.number(min.as_str()));
    let max = quote.max.as_ref().map(|max| checkout.number(max.as_str()));
    let key = match (&min, &max) {
        _ if !quote.available => return String::new(),
        (Some(_), Some(_)) => "between",
        (Some(_), None) => "from",
        (None, Some(_)) => "up_to",
        (None, None) => return String::new(),
    };
    let (min, max) = (min.unwrap_or_default(), max.unwrap_or_default());
    checkout.sentence(key, &[("min", &min), ("max", &max)])
}

fn why(checkout: Checkout, quote: &Quote, reason: Unavailable) -> String {
    let limit = match reason {
        Unavailable::AboveMaximum => &quote.max,
        _ => &quote.min,
    };
    let limit = limit.as_ref().map(|limit| checkout.number(limit.as_str()));
    let limit = coins(&limit.unwrap_or_default(), &quote.asset);
    match reason {
        Unavailable::BelowMinimum => checkout.sentence("below_minimum", &[("amount", &limit)]),
        Unavailable::AboveMaximum => checkout.sentence("above_maximum", &[("amount", &limit)]),
        Unavailable::NotPriced => checkout.word("not_priced"),
        Unavailable::UnknownAsset => checkout.word("unknown_asset"),
    }
}

//! Which asset to pay in.

use checkout_api::{Quote, Unavailable};
use leptos::prelude::*;
use web_sys::Node;

use crate::checkout::{Checkout, Quotes};
use crate::markup::{live, tag};

use super::coin;
use super::{button, coins, heading, ltr, paragraph, root, while_idle};

/// The list of assets, each with what the order costs in it.
pub(super) fn show(checkout: Checkout) -> Node {
    if matches!(checkout.quotes.get(), Quotes::Awaited) {
        checkout.load_quotes();
    }
    let screen = root("open")
        .with(heading(checkout.word("choose")))
        .with(paragraph(checkout.word("choose_hint")))
        .with(live(move || list(checkout)));
    let back = checkout.choosing.get().then(|| {
        let go = move || checkout.choosing.set(false);
        let back = button("plain", checkout.word("back"), go);
        tag("div", "actions").with(back).into()
    });
    screen.all(back).into()
}

fn list(checkout: Checkout) -> Node {
    let quotes = match checkout.quotes.get() {
        Quotes::Awaited => {
            let rows = (0..6).map(|_| tag("li", "bar").into());
            return tag("ul", "options")
                .attr("aria-busy", "true")
                .all(rows)
                .into();
        }
        Quotes::Shown(quotes) if quotes.iter().any(|quote| quote.available) => quotes,
        Quotes::Shown(quotes) if !quotes.is_empty() => {
            return tag("div", "")
                .with(unavailable(checkout))
                .with(options(checkout, &quotes))
                .into();
        }
        Quotes::Shown(_) | Quotes::Missing => return unavailable(checkout),
    };
    options(checkout, &quotes)
}

fn unavailable(checkout: Checkout) -> Node {
    let again = move || {
        checkout.quotes.set(Quotes::Awaited);
        checkout.load_quotes();
    };
    tag("div", "box")
        .with(paragraph(checkout.word("no_prices")))
        .with(button("secondary", checkout.word("retry"), again).test("retry"))
        .into()
}

fn options(checkout: Checkout, quotes: &[Quote]) -> Node {
    let rows = quotes.iter().map(|quote| {
        let same = quotes.iter().filter(|other| other.asset == quote.asset);
        let row = option(checkout, quote, same.count() > 1);
        tag("li", "").with(row).into()
    });
    tag("ul", "options").all(rows).into()
}

/// One asset. `ambiguous`: another one has the same symbol, so that the network must stand out.
fn option(checkout: Checkout, quote: &Quote, ambiguous: bool) -> Node {
    let on = [quote.asset.as_str(), " · ", quote.network.as_str()].concat();
    let known = !quote.network.is_empty();
    let name = if ambiguous && known {
        &on
    } else {
        &quote.asset_name
    };
    let detail = match (&quote.reason, known) {
        (Some(reason), _) => why(checkout, quote, *reason),
        (None, true) if !ambiguous && quote.asset_name != quote.network => on.clone(),
        (None, _) if ambiguous => quote.asset_name.clone(),
        (None, _) => quote.asset.clone(),
    };
    let what = tag("span", "what")
        .with(tag("b", "").text(name.as_str()))
        .with(tag("small", "").text(detail))
        .all(limits(checkout, quote).map(|limits| tag("small", "limits").text(limits).into()));
    let mut row = tag("button", "option")
        .attr("type", "button")
        .attr("part", "option")
        .test(["asset-", &quote.crypto_code].concat())
        .with(coin::mark(&quote.asset, &quote.network))
        .with(what)
        .with(cost(checkout, quote));
    if quote.available {
        let (code, id) = (quote.crypto_code.clone(), quote.quote_id.clone());
        row = while_idle(checkout, row).on_click(move || checkout.choose(code.clone(), id.clone()));
    } else {
        // Not `disabled`: who moves by keyboard must reach the reason.
        row = row.attr("aria-disabled", "true");
    }
    row.into()
}

fn cost(checkout: Checkout, quote: &Quote) -> Node {
    let cost = tag("span", "cost");
    let (Some(coin), Some(usd)) = (&quote.amount_in_crypto, &quote.amount_in_usd) else {
        return cost.into();
    };
    let usd = ["≈ ", &checkout.money(usd.as_str(), "USD")].concat();
    cost.with(tag("b", "").with(ltr(coins(coin.as_str(), &quote.asset))))
        .with(tag("small", "").with(ltr(usd)))
        .into()
}

/// The least and the most that can be sent, for an asset that can be chosen.
fn limits(checkout: Checkout, quote: &Quote) -> Option<String> {
    let min = quote.min.as_ref().map(|min| checkout.number(min.as_str()));
    let max = quote.max.as_ref().map(|max| checkout.number(max.as_str()));
    let key = match (&min, &max) {
        _ if !quote.available => return None,
        (Some(_), Some(_)) => "between",
        (Some(_), None) => "from",
        (None, Some(_)) => "up_to",
        (None, None) => return None,
    };
    let (min, max) = (min.unwrap_or_default(), max.unwrap_or_default());
    Some(checkout.sentence(key, &[("min", &min), ("max", &max)]))
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

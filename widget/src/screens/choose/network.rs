//! The network of an asset that lives on several, confirmed before an address is asked for.

use checkout_api::Quote;
use reactive_graph::graph::untrack;
use reactive_graph::prelude::*;
use web_sys::Node;

use crate::checkout::Checkout;
use crate::markup::{live, nothing, tag};
use crate::network;

use super::option::{cost, detail, name};
use super::{
    button, coin, focus, focus_heading, fresh, heading, ltr, paragraph, while_idle, with_gap,
};

/// The step, while there is something to confirm. Prices go on moving in it: what is opened is what it shows.
pub(super) fn step(checkout: Checkout) -> Node {
    let confirming = checkout.confirming;
    live(move || {
        let code = confirming.get();
        let Some(quote) = untrack(|| checkout.quote(&code)) else {
            return nothing();
        };
        focus_heading(checkout);
        untrack(|| confirm(checkout, &quote))
    })
}

fn confirm(checkout: Checkout, quote: &Quote) -> Node {
    let what = tag("span", "what")
        .with(tag("b", "").text(name(checkout, quote)))
        .with(tag("small", "").text(quote.asset_name.as_str()));
    let chosen = tag("div", "option")
        .with(coin::mark(&quote.asset, &quote.network, true))
        .with(what)
        .with(cost(checkout, &quote.crypto_code));
    let names = [
        ("asset", quote.asset.as_str()),
        ("network", quote.network.as_str()),
    ];
    tag("div", "step")
        .test("network")
        .with(heading(checkout.word("network")))
        .with(chosen)
        .with(tag("p", "loss").text(checkout.sentence("network_hint", &names)))
        .all(elsewhere(checkout, &quote.network))
        .with(fresh(checkout))
        .with(ways(checkout, quote))
        .into()
}

/// What others call the network, and what its addresses look like.
fn elsewhere(checkout: Checkout, network: &str) -> Vec<Node> {
    let Some(network) = network::known(network) else {
        return Vec::new();
    };
    let mut lines = vec![with_gap(checkout, "network_called", ltr(network.names))];
    if !network.example.is_empty() {
        let example = ltr(network.example).attr("class", "shape");
        lines.push(with_gap(checkout, "network_example", example));
    }
    lines
}

/// On, while it is offered, or back to the list.
fn ways(checkout: Checkout, quote: &Quote) -> Node {
    let code = quote.crypto_code.clone();
    let names = [("network", quote.network.as_str())];
    let words = checkout.sentence("network_confirm", &names);
    let back = move || {
        checkout.confirming.set(String::new());
        focus(checkout, ["[data-testid=\"asset-", &code, "\"]"].concat());
    };
    let code = quote.crypto_code.clone();
    let offered = quote.crypto_code.clone();
    let gone = live(move || match checkout.quote(&offered) {
        Some(quote) if quote.available => nothing(),
        Some(quote) => paragraph(detail(checkout, &quote)),
        None => paragraph(checkout.word("asset_gone")),
    });
    let go = move || {
        let quote = untrack(|| checkout.quote(&code));
        if let Some(quote) = quote.filter(|quote| quote.available) {
            checkout.take(quote);
        }
    };
    let go = button("primary", words, go).test("network-confirm");
    let back = button("plain", checkout.word("back"), back).test("network-back");
    let actions = tag("div", "actions")
        .with(while_idle(checkout, go))
        .with(back);
    tag("div", "ways").with(gone).with(actions).into()
}

//! What is bought, from whom, for how much: always on the screen.

use std::rc::Rc;

use checkout_api::{Environment, OrderView};
use leptos::prelude::*;
use web_sys::Node;

use crate::checkout::{Checkout, remember};
use crate::links;
use crate::markup::{live, nothing, tag};
use crate::phase::Phase;

use super::ltr;

/// The order's summary.
pub(super) fn show(checkout: Checkout) -> Node {
    let known = remember(Box::new(move || {
        if checkout.phase() == Phase::Stopped {
            return String::from("-");
        }
        let id = |order: &Rc<OrderView>| order.id.clone();
        checkout
            .order
            .with(|order| order.as_ref().map(id).unwrap_or_default())
    }));
    tag("aside", "summary")
        .attr("part", "summary")
        .attr("aria-label", checkout.word("order"))
        .with(live(move || {
            let known = known.get();
            match checkout.order.get_untracked() {
                Some(order) => summary(checkout, &order),
                None if known == "-" => nothing(),
                None => tag("div", "about")
                    .with(tag("div", "bar short"))
                    .with(tag("div", "bar wide"))
                    .into(),
            }
        }))
        .into()
}

fn summary(checkout: Checkout, order: &OrderView) -> Node {
    let store = &order.store;
    let initial = store.name.chars().next().map(String::from);
    let mut from = tag("p", "store")
        .with(
            tag("span", "initial")
                .attr("aria-hidden", "true")
                .text(initial.unwrap_or_default()),
        )
        .with(tag("bdi", "").text(store.name.as_str()));
    if order.environment == Environment::Test {
        from = from.with(
            tag("span", "test")
                .attr("title", checkout.word("test_hint"))
                .text(checkout.word("test")),
        );
    }
    let price = checkout.money(order.amount.as_str(), &order.currency);
    let Some(parts) = checkout.parts() else {
        return nothing();
    };
    let about = tag("div", "about")
        .with(from)
        .with(tag(&parts.host.heading(), "title").with(tag("bdi", "").text(order.title.as_str())))
        .with(tag("p", "price").with(ltr(price)));
    let help = help_link(checkout, order, "quiet help");
    tag("div", "order").with(about).all(help).into()
}

/// Where help is found about this order.
pub(super) fn help_link(
    checkout: Checkout,
    order: &OrderView,
    class: &'static str,
) -> Option<Node> {
    let url = links::support(order.store.support_url.as_deref()?, &order.id)?;
    let words = checkout.sentence("help", &[("store", &order.store.name)]);
    let link = tag("a", class).attr("href", url).attr("target", "_blank");
    Some(link.attr("rel", "noopener noreferrer").text(words).into())
}

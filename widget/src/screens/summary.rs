//! What is bought, from whom, for how much: always on the screen.

use std::rc::Rc;

use checkout_api::{Environment, OrderView, Status, StoreView};
use reactive_graph::graph::untrack;
use reactive_graph::prelude::*;
use web_sys::Node;

use crate::checkout::{Checkout, remember};
use crate::links;
use crate::markup::{Tag, live, nothing, tag};
use crate::phase::Phase;

use super::ltr;

/// The order's summary.
pub(super) fn show(checkout: Checkout) -> Node {
    let known = remember(Box::new(move || {
        if checkout.phase() == Phase::Stopped {
            return String::from("-");
        }
        let id = |order: &Rc<OrderView>| order.id.clone();
        let asks = checkout.phase() == Phase::Giving;
        let id = checkout.order.with(|order| order.as_ref().map(id));
        id.unwrap_or_else(|| if asks { "?" } else { "" }.to_owned())
    }));
    tag("aside", "summary")
        .attr("aria-label", checkout.word("order"))
        .with(live(move || {
            let known = known.get();
            let donation = untrack(|| checkout.donation());
            match (checkout.order.get_untracked(), donation) {
                (Some(order), _) => summary(checkout, &order),
                _ if known == "-" => nothing(),
                (None, Some(donation)) => {
                    let (store, environment) = (&donation.store, donation.environment);
                    let about = about(checkout, store, environment, &donation.title);
                    tag("div", "order").with(about).into()
                }
                (None, None) => tag("div", "live")
                    .with(tag("div", "bar"))
                    .with(tag("div", "bar"))
                    .into(),
            }
        }))
        .all(checkout.parts().map(|parts| parts.host.menu()))
        .into()
}

fn summary(checkout: Checkout, order: &OrderView) -> Node {
    let price = checkout.money(order.amount.as_str(), &order.currency);
    let about = about(checkout, &order.store, order.environment, &order.title)
        .with(tag("p", "price").with(ltr(price)));
    let help = help_link(checkout, order, "quiet help");
    tag("div", "order").with(about).all(help).into()
}

/// Who it is for, and what.
fn about(checkout: Checkout, store: &StoreView, environment: Environment, title: &str) -> Tag {
    let initial = store.name.chars().next().map(String::from);
    let mut from = tag("p", "store")
        .with(
            tag("span", "initial")
                .attr("aria-hidden", "true")
                .text(initial.unwrap_or_default()),
        )
        .with(tag("bdi", "").text(store.name.as_str()));
    if environment == Environment::Test {
        from = from.with(
            tag("span", "test")
                .attr("title", checkout.word("test_hint"))
                .text(checkout.word("test")),
        );
    }
    let parts = checkout.parts();
    let heading = parts.map_or_else(|| String::from("p"), |parts| parts.host.heading());
    tag("div", "about")
        .with(from)
        .with(tag(&heading, "title").with(tag("bdi", "").text(title)))
}

/// Where help is found about this order. An e-mail says at once which order it is about and how it stands when the link
/// is followed.
pub(super) fn help_link(
    checkout: Checkout,
    order: &OrderView,
    class: &'static str,
) -> Option<Node> {
    let url = order.store.support_url.clone()?;
    links::support(&url, "", &[])?;
    let words = checkout.sentence("help", &[("store", &order.store.name)]);
    let filled = move || {
        let order = checkout.order.get()?;
        let attempt = order.attempt.as_ref();
        let hash = attempt.and_then(|attempt| attempt.transaction_hash.as_deref());
        let subject = [order.store.name.as_str(), " · ", &order.id].concat();
        let reference = [&checkout.word("reference"), " ", order.id.as_str()].concat();
        let hash = hash.map(|hash| [&checkout.word("transaction"), ": ", hash].concat());
        let end = ending_of(order.status).map(|key| checkout.word(key));
        let lines = [
            Some(order.title.clone()),
            Some(reference),
            end,
            hash,
            // Where the customer begins to write.
            Some(String::new()),
        ];
        let lines: Vec<&str> = lines.iter().flatten().map(String::as_str).collect();
        links::support(&url, &subject, &lines)
    };
    let link = tag("a", class)
        .live_attr("href", filled)
        .attr("target", "_blank");
    Some(
        link.attr("rel", "noopener noreferrer")
            .test("help")
            .text(words)
            .into(),
    )
}

/// The heading of an end, by its key.
fn ending_of(status: Status) -> Option<&'static str> {
    match status {
        Status::Open | Status::AwaitingPayment => None,
        Status::Overpaid => Some("paid"),
        // The keys of the other headings are the words of their statuses.
        other => Some(other.as_str()),
    }
}

//! Before there is an order: waiting for it, and what to do when it cannot be had.

use checkout_api::ErrorCode;
use reactive_graph::graph::untrack;
use reactive_graph::prelude::*;
use web_sys::Node;

use crate::api::Problem;
use crate::browser::window;
use crate::checkout::Checkout;
use crate::markup::{live, live_text, tag};

use super::{button, heading, paragraph, root};

/// The shape of what is to come.
pub(super) fn loading(checkout: Checkout) -> Node {
    let bars = ["bar wide", "bar", "bar", "bar", "bar"];
    root("loading")
        .attr("aria-busy", "true")
        .with(tag("p", "unseen").text(checkout.word("loading")))
        .all(bars.map(|class| tag("div", class).into()))
        .into()
}

/// The order cannot be shown. What may pass is tried again by itself; the button is for who cannot wait.
pub(super) fn show(checkout: Checkout) -> Node {
    let why = move || -> Node {
        let problem = checkout.problem.get().unwrap_or(Problem::Network);
        let (words, reference) = explanation(checkout, &problem);
        checkout.say(words.clone());
        let why = tag("div", "rest").with(paragraph(words));
        match reference {
            Some(reference) => why.with(tag("p", "quiet").text(reference)).into(),
            None => why.into(),
        }
    };
    let when = move || match checkout.retry_in.get() {
        0 => String::new(),
        left => {
            let parts = checkout.parts();
            let left = parts.map(|parts| parts.language.relative(left, true));
            checkout.sentence("retrying", &[("in", &left.unwrap_or_default())])
        }
    };
    let retry = move || match untrack(|| checkout.problem.get()) {
        // Another version of this page is what helps; in a shop's own page the shop's is not ours to load again.
        Some(Problem::Unreadable) if checkout.is_page() => reload(),
        _ => checkout.begin(),
    };
    root("stopped")
        .with(heading(checkout.word("stopped")))
        .with(live(why))
        .with(paragraph(checkout.word("nothing_lost")))
        .with(
            tag("div", "actions")
                .with(button("primary", checkout.word("retry"), retry).test("retry"))
                .with(tag("p", "quiet").test("retrying").with(live_text(when))),
        )
        .into()
}

fn reload() {
    // Refused only to a page that may not go anywhere.
    let _ = window().location().reload();
}

/// What happened in the customer's words, and the reference to quote.
pub(super) fn explanation(checkout: Checkout, problem: &Problem) -> (String, Option<String>) {
    let body = match problem {
        Problem::Network => return (checkout.word("no_network"), None),
        Problem::Unreadable => return (checkout.word("unreadable"), None),
        Problem::Refused(body) => body,
    };
    let words = match body.code {
        Some(ErrorCode::NotFound) => checkout.word("gone"),
        Some(ErrorCode::RateLimited | ErrorCode::ServiceUnavailable) => {
            checkout.word("service_busy")
        }
        Some(ErrorCode::QuoteExpired) => checkout.word("price_moved"),
        Some(ErrorCode::AmountOutOfRange | ErrorCode::AssetUnavailable) => {
            checkout.word("asset_gone")
        }
        Some(ErrorCode::AttemptInProgress | ErrorCode::RequestInProgress) => {
            checkout.word("in_progress")
        }
        Some(ErrorCode::OrderClosed) => checkout.word("closed"),
        // The rest are mistakes of the shop or ours: the proxy's own words help whoever is asked for help.
        _ => body.message.clone(),
    };
    let reference = body
        .request_id
        .as_ref()
        .map(|id| checkout.sentence("request", &[("id", id)]));
    (words, reference)
}

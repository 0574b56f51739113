//! What stands above every screen: a lost connection, a service that is late, a wish that was not granted.

use std::rc::Rc;

use checkout_api::OrderView;
use leptos::prelude::*;
use web_sys::Node;

use crate::api::Problem;
use crate::checkout::{Checkout, remember};
use crate::markup::{live, live_text, nothing, tag};

use super::stopped::explanation;

/// The banners that apply.
pub(super) fn show(checkout: Checkout) -> Node {
    tag("div", "banners")
        .attr("role", "status")
        .with(connection(checkout))
        .with(refusal(checkout))
        .into()
}

fn connection(checkout: Checkout) -> Node {
    let state = remember(Box::new(move || {
        let late = |order: &Rc<OrderView>| order.delayed && order.attempt.is_some();
        if checkout.lost.get() {
            String::from("offline")
        } else if checkout
            .order
            .with(|order| order.as_ref().is_some_and(late))
        {
            String::from("delayed")
        } else {
            String::new()
        }
    }));
    live(move || {
        let key = match state.get().as_str() {
            "" => return nothing(),
            "offline" => "offline",
            _ => "delayed",
        };
        let ago = move || {
            let heard = checkout.order.with(|order| {
                order
                    .as_ref()
                    .and_then(|order| order.checked_seconds_ago)
                    .unwrap_or_default()
            });
            let silent = checkout.silent_for.get() + heard;
            let parts = checkout.parts();
            let ago = parts.map_or_else(String::new, |parts| parts.language.ago(silent));
            checkout.sentence("checked", &[("ago", &ago)])
        };
        let words = checkout.word(key);
        tag("div", "banner")
            .test("offline")
            .with(tag("p", "").text(words))
            // Read once when it appears, not at every second.
            .with(
                tag("p", "quiet")
                    .attr("aria-hidden", "true")
                    .with(live_text(ago)),
            )
            .into()
    })
}

fn refusal(checkout: Checkout) -> Node {
    live(move || {
        let Some(problem) = checkout.problem.get() else {
            return nothing();
        };
        if !untrack(|| checkout.has_screen()) {
            return nothing();
        }
        let (words, reference) = explanation(checkout, &problem);
        let banner = tag("div", "banner bad").with(tag("p", "").text(words));
        match (reference, problem) {
            (Some(reference), Problem::Refused(_)) => {
                banner.with(tag("p", "quiet").text(reference)).into()
            }
            _ => banner.into(),
        }
    })
}

//! What stands above every screen: a lost connection, a service that is late, a wish that was not granted.

use std::rc::Rc;

use checkout_api::OrderView;
use reactive_graph::graph::untrack;
use reactive_graph::prelude::*;
use web_sys::Node;

use crate::api::Problem;
use crate::checkout::{Checkout, remember};
use crate::markup::{live, nothing, tag};
use crate::phase::Phase;

use super::give;
use super::progress;
use super::stopped::explanation;

/// The banners that apply. Each is told once as it appears.
pub(super) fn show(checkout: Checkout) -> Node {
    tag("div", "banners")
        .with(connection(checkout))
        .with(refusal(checkout))
        .into()
}

fn connection(checkout: Checkout) -> Node {
    let state = remember(Box::new(move || {
        let late = |order: &Rc<OrderView>| order.delayed && order.attempt.is_some();
        let is_late = || {
            checkout
                .order
                .with(|order| order.as_ref().is_some_and(late))
        };
        let state = if checkout.lost.get() {
            "offline"
        } else if is_late() {
            "delayed"
        } else if checkout.back.get() {
            "back"
        } else {
            ""
        };
        state.to_owned()
    }));
    live(move || {
        let (key, class) = match state.get().as_str() {
            "offline" => ("offline", "banner"),
            "delayed" => ("delayed", "banner"),
            "back" => ("back_online", "banner good"),
            _ => return nothing(),
        };
        let words = checkout.word(key);
        checkout.say(words.clone());
        let banner = tag("div", class)
            .test(if key == "delayed" { "offline" } else { key })
            .with(tag("p", "").text(words));
        let is_shown_below = matches!(
            untrack(|| checkout.phase()),
            Phase::Checking | Phase::Processing
        );
        if is_shown_below || key == "back_online" {
            return banner.into();
        }
        banner.with(progress::checked(checkout)).into()
    })
}

fn refusal(checkout: Checkout) -> Node {
    live(move || {
        let Some(problem) = checkout.problem.get() else {
            return nothing();
        };
        // A slip is told beside the field in which it was made.
        if untrack(|| !checkout.has_screen() || give::is_slip(checkout, &problem)) {
            return nothing();
        }
        let (words, reference) = explanation(checkout, &problem);
        checkout.say(words.clone());
        let banner = tag("div", "banner").with(tag("p", "").text(words));
        match (reference, problem) {
            (Some(reference), Problem::Refused(_)) => {
                banner.with(tag("p", "quiet").text(reference)).into()
            }
            _ => banner.into(),
        }
    })
}

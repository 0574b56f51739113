//! Banners above every screen: a lost connection, delayed updates, a refused request.

use leptos::prelude::*;

use crate::components::{Button, CheckedAgo, Look, problem_text};
use crate::i18n::use_i18n;
use crate::state::phase::{Phase, is_partly_paid};
use crate::state::{Checkout, use_checkout};

/// The banners that apply. Each is announced as it appears.
#[component]
pub(super) fn Banners() -> impl IntoView {
    view! {
        <div class="banners">
            <ConnectionBanner />
            <RefusalBanner />
        </div>
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Link {
    Fine,
    Offline,
    Delayed,
    Back,
}

fn link(checkout: Checkout) -> Link {
    let is_delayed = checkout.order.with(|order| {
        order
            .as_ref()
            .is_some_and(|order| order.delayed && order.attempt.is_some())
    });
    if checkout.is_offline.get() {
        Link::Offline
    } else if is_delayed {
        Link::Delayed
    } else if checkout.is_back.get() {
        Link::Back
    } else {
        Link::Fine
    }
}

/// What being offline means for the order: an address stays valid, and a payment that was sent is safe.
fn offline_key(checkout: Checkout) -> &'static str {
    if is_sent(checkout) {
        "offline_sent"
    } else if checkout.phase.get_untracked() == Phase::Paying {
        "offline_paying"
    } else {
        "offline"
    }
}

fn is_sent(checkout: Checkout) -> bool {
    let phase = checkout.phase.get_untracked();
    let is_waiting = matches!(
        phase,
        Phase::Checking | Phase::Processing | Phase::Underpaid
    );
    let is_seen = checkout.order.with_untracked(|order| {
        let attempt = order.as_ref().and_then(|order| order.attempt.as_ref());
        attempt.is_some_and(|attempt| {
            attempt.marked_as_paid || attempt.confirmations.is_some() || is_partly_paid(attempt)
        })
    });
    is_waiting || is_seen
}

#[component]
fn ConnectionBanner() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let link = Memo::new(move |_| link(checkout));
    move || {
        let (key, test, class) = match link.get() {
            Link::Fine => return None,
            Link::Offline => (offline_key(checkout), "offline", "banner"),
            Link::Delayed if is_sent(checkout) => ("delayed_sent", "offline", "banner"),
            Link::Delayed => ("delayed", "offline", "banner"),
            Link::Back => ("back_online", "back_online", "banner good"),
        };
        let text = i18n.text(key);
        checkout.announce(text.clone());
        let is_on_screen = matches!(
            checkout.phase.get_untracked(),
            Phase::Checking | Phase::Processing
        );
        let has_age = key != "back_online" && !is_on_screen;
        Some(view! {
            <div class=class part="banner" data-testid=test>
                <p>{text}</p>
                {has_age.then(|| view! { <CheckedAgo /> })}
            </div>
        })
    }
}

#[component]
fn RefusalBanner() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    move || {
        let problem = checkout.problem.get()?;
        // A refused donation is reported beside the field of its amount.
        let is_in_field = problem.is_about_amount() && !checkout.has_order();
        if !checkout.has_screen() || is_in_field {
            return None;
        }
        let (text, reference) = problem_text(i18n, &problem);
        checkout.announce(text.clone());
        let again = move || {
            checkout.is_unfinished().then(|| {
                view! {
                    <Button
                        look=Look::Secondary
                        text=i18n.text("retry")
                        on_press=move || checkout.press_again()
                        test_id=Some("press-again")
                        waits=true
                    />
                }
            })
        };
        Some(view! {
            <div class="banner" part="banner">
                <p>{text}</p>
                {reference.map(|reference| view! { <p class="quiet">{reference}</p> })}
                {again}
            </div>
        })
    }
}

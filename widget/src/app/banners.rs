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

/// The key of what is wrong with the connection, or was until now. An address stays valid offline, and a payment that was sent
/// is safe.
fn connection_key(checkout: Checkout) -> Option<&'static str> {
    let is_delayed = checkout.order.with(|order| {
        order
            .as_ref()
            .is_some_and(|order| order.delayed && order.attempt.is_some())
    });
    Some(if checkout.is_offline.get() {
        match checkout.phase.get() {
            _ if is_sent(checkout) => "offline_sent",
            Phase::Paying => "offline_paying",
            _ => "offline",
        }
    } else if is_delayed {
        if is_sent(checkout) {
            "delayed_sent"
        } else {
            "delayed"
        }
    } else if checkout.is_back.get() {
        "back_online"
    } else {
        return None;
    })
}

fn is_sent(checkout: Checkout) -> bool {
    let is_waiting = matches!(
        checkout.phase.get(),
        Phase::Checking | Phase::Processing | Phase::Underpaid
    );
    let is_seen = checkout.order.with(|order| {
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
    let key = Memo::new(move |_| connection_key(checkout));
    let has_age = Memo::new(move |_| {
        let has_own = matches!(
            checkout.phase.get(),
            Phase::Checking | Phase::Processing | Phase::Underpaid
        );
        key.get() != Some("back_online") && !has_own
    });
    move || {
        let key = key.get()?;
        let (test, class) = match key {
            "back_online" => (key, "banner good"),
            _ => ("offline", "banner"),
        };
        let text = i18n.text(key);
        checkout.announce(text.clone());
        Some(view! {
            <div class=class part="banner" data-testid=test>
                <p>{text}</p>
                {move || has_age.get().then(|| view! { <CheckedAgo /> })}
            </div>
        })
    }
}

#[component]
fn RefusalBanner() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    move || {
        let problem = checkout.problem.get()?;
        // A refused donation or address is reported beside its field.
        let is_in_field =
            problem.is_about_amount() && !checkout.has_order() || problem.is_about_address();
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

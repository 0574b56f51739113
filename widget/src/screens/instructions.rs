//! The payment instructions: amount, address, QR code, and what helps to send it right. The same wherever something is still to
//! be sent.

mod address;
mod help;
mod payment;

use std::sync::Arc;

use florin_checkout_api::{AttemptView, OrderView};
use leptos::html::Div;
use leptos::prelude::*;

use self::address::CheckAddress;
use self::help::ExchangeHelp;
pub(super) use self::help::Handoff;
pub(super) use self::payment::PaymentByWallet;
use self::payment::payment_to_draw;
use crate::components::{Button, Look, NewPriceButton, focus, keyed};
use crate::format::time;
use crate::i18n::use_i18n;
use crate::state::phase::is_partly_paid;
use crate::state::use_checkout;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Haste {
    Calm,
    /// A payment that is prepared now could arrive too late, and a new price is available.
    LastMinute,
    /// A payment that is sent now arrives too late.
    TimeUp,
}

/// The instructions. They change when a part of the payment arrives, and give way when little time is left.
#[component]
pub(super) fn WhatToSend() -> impl IntoView {
    let checkout = use_checkout();
    let received = checkout.follow(|_, attempt| attempt.received_in_crypto.as_str().to_owned());
    let is_partly = checkout.follow(|_, attempt| is_partly_paid(attempt));
    let may_renew = checkout.follow(may_renew);
    let insists = RwSignal::new(false);
    let haste = Memo::new(move |_| match checkout.seconds_left.get() {
        // The rest of a part payment stays due.
        0 if !is_partly.get() => Haste::TimeUp,
        left if time::is_urgent(left) && !insists.get() && may_renew.get() => Haste::LastMinute,
        _ => Haste::Calm,
    });
    let key = Memo::new(move |_| (received.get(), haste.get()));
    keyed(key, move |(_, haste)| {
        let Some(order) = checkout.order.get_untracked() else {
            return ().into_any();
        };
        let Some(attempt) = &order.attempt else {
            return ().into_any();
        };
        match haste {
            Haste::LastMinute => {
                let crypto_code = attempt.crypto_code.clone();
                view! { <LastMinute crypto_code=crypto_code insists=insists /> }.into_any()
            }
            // Only the server decides that it expired; but what is sent from here on would come late.
            Haste::TimeUp => {
                let renewable = order.can_open_attempt.then(|| attempt.crypto_code.clone());
                view! { <TimeUp crypto_code=renewable /> }.into_any()
            }
            Haste::Calm => view! {
                <div class="rest">
                    <Instructions order=Arc::clone(&order) attempt=attempt />
                </div>
            }
            .into_any(),
        }
    })
}

/// In place of the address once it is too late to use it. `crypto_code`: a new price is available in this asset.
#[component]
fn TimeUp(crypto_code: Option<String>) -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let hint = if crypto_code.is_some() {
        "time_up_hint"
    } else {
        "old_address"
    };
    let hint = i18n.text(hint);
    checkout.announce(format!("{}. {hint}", i18n.text("time_up")));
    view! {
        <div class="box doubtful" part="box" data-testid="time-up">
            <p>{hint}</p>
            <p>{i18n.text("if_sent")}</p>
            {crypto_code
                .map(|crypto_code| {
                    view! {
                        <div class="actions">
                            <NewPriceButton crypto_code=crypto_code />
                        </div>
                    }
                })}
        </div>
    }
}

/// How to pay an attempt, or the rest of it: drawn by the page's script, with these aids beside the code.
#[component]
fn Instructions<'a>(order: Arc<OrderView>, attempt: &'a AttemptView) -> impl IntoView + use<> {
    let checkout = use_checkout();
    let payment = payment_to_draw(checkout, &order, attempt);
    let place = NodeRef::<Div>::new();
    place.on_load(move |place| {
        if let Some(shared) = checkout.shared() {
            shared.host.instructions(&place, &payment);
        }
    });
    view! {
        <div class="instructions" node_ref=place>
            <div class="aids">
                <CheckAddress address=attempt.address.clone() />
                <ExchangeHelp attempt=attempt />
                <Handoff store=order.store.id.clone() />
            </div>
        </div>
    }
}

/// Returns `true` until something has arrived or the customer says that it was sent, where a new price is available:
/// without one, to hide the address gains nothing.
fn may_renew(order: &OrderView, attempt: &AttemptView) -> bool {
    let is_under_way =
        attempt.marked_as_paid || attempt.confirmations.is_some() || is_partly_paid(attempt);
    order.can_open_attempt && !is_under_way
}

/// A new price first, the address of this one second.
#[component]
fn LastMinute(crypto_code: String, insists: RwSignal<bool>) -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    // The focus was in the instructions, which go away.
    let focused = checkout.shared().and_then(|shared| {
        let focused = shared.root.query_selector(".instructions :focus");
        focused.ok().flatten()
    });
    if focused.is_some() {
        focus(checkout, String::from(".guard h3"));
    }
    let (title, hint) = (i18n.text("guard"), i18n.text("guard_hint"));
    checkout.announce(format!("{title}. {hint}"));
    let insist = move || {
        insists.set(true);
        focus(checkout, String::from(".instructions button"));
    };
    view! {
        <div class="box guard" part="box" data-testid="guard">
            <h3 tabindex="-1">{title}</h3>
            <p>{hint}</p>
            <p>{i18n.text("if_sent")}</p>
            <div class="actions">
                <NewPriceButton crypto_code=crypto_code />
                <Button
                    look=Look::Secondary
                    text=i18n.text("guard_anyway")
                    on_press=insist
                    test_id=Some("guard-anyway")
                />
            </div>
        </div>
    }
}

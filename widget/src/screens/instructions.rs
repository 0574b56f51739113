//! Where to send what: amount, address, QR code, and what helps to send it right. The same wherever something is still to
//! be sent.

mod address;
mod aid;
mod amount;
mod check_address;
mod code;
mod exchange;
mod handoff;
mod last_minute;
mod warnings;

use std::sync::Arc;

use florin_checkout_api::{AttemptView, OrderView};
use leptos::prelude::*;

use self::address::Destination;
use self::aid::names;
use self::amount::AmountToSend;
use self::check_address::CheckAddress;
use self::code::PaymentCode;
use self::exchange::ExchangeHelp;
use self::handoff::Handoff;
use self::last_minute::{LastMinute, may_renew};
use self::warnings::Warnings;
use crate::components::{Ltr, NewPriceButton, Sentence, coins, renewed};
use crate::format::short_amount::trimmed;
use crate::format::{countdown, links};
use crate::i18n::use_i18n;
use crate::state::phase::is_partly_paid;
use crate::state::use_checkout;

/// What the time left allows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Haste {
    /// Pay.
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
    let received = checkout.follow(|_, attempt| {
        is_partly_paid(attempt).then(|| attempt.received_in_crypto.as_str().to_owned())
    });
    let may_renew = checkout.follow(may_renew);
    let insists = RwSignal::new(false);
    let haste = Memo::new(move |_| match checkout.seconds_left.get() {
        0 => Haste::TimeUp,
        left if countdown::is_urgent(left) && !insists.get() && may_renew.get() => {
            Haste::LastMinute
        }
        _ => Haste::Calm,
    });
    let key = Memo::new(move |_| (received.get(), haste.get()));
    renewed(key, move |(received, haste)| {
        let Some(order) = checkout.order.get_untracked() else {
            return ().into_any();
        };
        let Some(attempt) = &order.attempt else {
            return ().into_any();
        };
        let part = match (haste, received) {
            (Haste::LastMinute, _) => {
                let crypto_code = attempt.crypto_code.clone();
                return view! { <LastMinute crypto_code=crypto_code insists=insists /> }.into_any();
            }
            // Only the server decides that it expired; but what is sent from here on would come late.
            (Haste::TimeUp, None) => {
                let renewable = order.can_open_attempt.then(|| attempt.crypto_code.clone());
                return view! { <TimeUp crypto_code=renewable /> }.into_any();
            }
            (_, received) => received.map(|received| {
                let received = coins(&trimmed(&received), &attempt.asset);
                view! {
                    <div class="box" part="box">
                        <Sentence key="part_received">
                            <Ltr text=received />
                        </Sentence>
                    </div>
                }
            }),
        };
        view! { <div class="rest">{part} <Instructions order=Arc::clone(&order) attempt=attempt /></div> }
        .into_any()
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

/// How to pay an attempt, or the rest of it: amount, code and link name what is still due.
///
/// In the order in which a phone shows it and a keyboard goes through it; wide screens put the code first.
#[component]
fn Instructions<'a>(order: Arc<OrderView>, attempt: &'a AttemptView) -> impl IntoView + use<> {
    let i18n = use_i18n();
    let store = [("store", order.store.name.as_str())];
    view! {
        <div class="instructions">
            <div class="columns">
                <AmountToSend order=&order attempt=attempt />
                <Warnings attempt=attempt />
                <Destination attempt=attempt />
                {attempt.verified.then(|| view! { <Verified attempt=attempt /> })}
                <div class="beside">
                    <PaymentCode attempt=attempt />
                    <div class="aids">
                        <CheckAddress address=attempt.address.clone() />
                        <ExchangeHelp attempt=attempt />
                        <Handoff store=order.store.id.clone() />
                    </div>
                </div>
                <p class="scam quiet">{i18n.text_with("recovery_phrase", &store)}</p>
            </div>
        </div>
    }
}

/// That the proxy has checked the address; on request, what it has checked.
#[component]
fn Verified<'a>(attempt: &'a AttemptView) -> impl IntoView + use<> {
    let i18n = use_i18n();
    let base = use_checkout().shared().map(|shared| shared.host.base());
    let base = base.unwrap_or_default();
    let text = i18n.text_with("verified", &[("host", links::host(&base))]);
    if attempt.qr_string == attempt.address {
        return view! {
            <p class="verified quiet" data-testid="verified">
                {text}
            </p>
        }
        .into_any();
    }
    view! {
        <details class="verified quiet" data-testid="verified-aid">
            <summary data-testid="verified">{text}</summary>
            <p>{i18n.text_with("verified_hint", &names(attempt))}</p>
        </details>
    }
    .into_any()
}

//! Waiting for the blockchain.

use florin_checkout_api::Confirmations;
use leptos::html::Div;
use leptos::prelude::*;

use super::instructions::{Handoff, PaymentByWallet, WhatToSend};
use super::receipt::AskForEmail;
use crate::components::{
    CheckedAgo, Heading, HelpLink, HostedPageLink, Look, Ltr, OtherAssetButton, Sentence,
    Transaction, coins,
};
use crate::format::time::{Estimate, estimate};
use crate::i18n::{I18n, use_i18n};
use crate::state::use_checkout;
use florin_money::trimmed;

/// A bar for each confirmation up to this many; beyond, one bar for all.
const MOST_BARS: u32 = 12;

#[component]
pub(super) fn Checking() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let can_change = checkout
        .order
        .with_untracked(|order| order.as_ref().is_some_and(|order| order.can_open_attempt));
    let due = checkout.order.with_untracked(|order| {
        let attempt = order.as_ref()?.attempt.as_ref()?;
        let amount = trimmed(attempt.amount_in_crypto.as_str());
        let due = coins(&amount, &attempt.asset);
        Some(format!("{due} · {}", attempt.network))
    });
    view! {
        <div class="screen" data-testid="status-checking">
            <Heading text=i18n.text("checking") />
            <p class="received" data-testid="due">
                <Ltr text=due.unwrap_or_default() />
            </p>
            <p>{i18n.text("checking_hint")}" "{i18n.text("detected_automatically")}</p>
            <WalletProgress />
            <HelpLink class="primary wallet-help" part="button primary" />
            <Steps current=0 />
            <CheckedAgo />
            <Transaction />
            <details class="again">
                <summary>{i18n.text("show_again")}</summary>
                <WhatToSend />
            </details>
            {can_change.then(|| view! { <OtherAssetButton look=Look::Plain /> })}
        </div>
    }
}

#[component]
fn WalletProgress() -> impl IntoView {
    let checkout = use_checkout();
    let hint = checkout.follow(|_, attempt| attempt.transaction_hint.clone());
    move || {
        hint.get()?;
        let order = checkout.order.get_untracked()?;
        let attempt = order.attempt.as_ref()?;
        Some(view! { <PaymentByWallet order=&order attempt=attempt /> })
    }
}

#[component]
pub(super) fn Processing() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let received = checkout.follow(|_, attempt| {
        let amount = trimmed(attempt.received_in_crypto.as_str());
        let is_known = attempt.received_in_local_currency.is_some();
        is_known.then(|| coins(&amount, &attempt.asset))
    });
    // The gateway's own page asks for the address itself.
    let has_attempt = checkout
        .order
        .with_untracked(|order| order.as_ref().is_some_and(|order| order.attempt.is_some()));
    let received = move || {
        received.get().map(|amount| {
            view! {
                <div class="received" data-testid="received">
                    <Sentence key="amount_received">
                        <Ltr text=amount />
                    </Sentence>
                </div>
            }
        })
    };
    let handoff = checkout.order.get_untracked();
    let handoff = handoff.map(|order| view! { <Handoff store=order.store.id.clone() /> });
    view! {
        <div class="screen" data-testid="status-processing">
            <Heading text=i18n.text("processing") />
            {received}
            <p>{i18n.text("processing_hint")}</p>
            <p>{i18n.text("come_back")}</p>
            <Steps current=1 />
            <CheckedAgo />
            <Transaction />
            {has_attempt
                .then(|| {
                    view! {
                        <AskForEmail label="email" action="email_receipt" look=Look::Secondary />
                    }
                })}
            <Notify />
            {handoff}
            <HostedPageLink look=Look::Plain key="hosted_open" />
        </div>
    }
}

/// Where confirmations take a minute or longer: a button that has the customer notified, which the page's script draws.
#[component]
fn Notify() -> impl IntoView {
    let checkout = use_checkout();
    let is_slow = checkout.follow(|_, attempt| {
        let seen = attempt.confirmations;
        let left = seen.and_then(|seen| estimate(&attempt.network, seen.count, seen.required));
        matches!(left, Some(Estimate::About(..)))
    });
    let place = NodeRef::<Div>::new();
    place.on_load(move |place| {
        if let Some(shared) = checkout.shared() {
            shared.host.notify_button(&place);
        }
    });
    move || {
        is_slow
            .get()
            .then(|| view! { <div class="live" node_ref=place></div> })
    }
}

/// The steps of a payment; `current` is under way.
#[component]
fn Steps(current: usize) -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let confirmations = checkout.follow(|_, attempt| attempt.confirmations);
    let confirming = move || match confirmations.get() {
        Some(seen) if current == 1 => confirmation_step(i18n, seen),
        _ => i18n.text("step_confirmation"),
    };
    let texts = [
        i18n.text("step_found").into_any(),
        confirming.into_any(),
        i18n.text("step_paid").into_any(),
    ];
    let steps = texts.into_iter().enumerate().map(|(number, text)| {
        let is_current = number == current;
        let class = match number {
            _ if is_current => "now",
            _ if number < current => "passed",
            _ => "",
        };
        view! {
            <li class=class aria-current=is_current.then_some("step")>
                <p data-testid=(number == 1).then_some("confirmations")>{text}</p>
                {(is_current && number == 1).then(|| view! { <ConfirmationBars /> })}
            </li>
        }
    });
    view! {
        <ol class="steps" part="steps" aria-label=i18n.text("steps") data-testid="steps">
            {steps.collect_view()}
        </ol>
    }
}

/// `Confirming 1 of 3`, or `Confirmed`.
fn confirmation_step(i18n: I18n, Confirmations { count, required }: Confirmations) -> String {
    if count >= required {
        return i18n.text("step_confirmed");
    }
    let (count, required) = (count.to_string(), required.to_string());
    let values = [("count", count.as_str()), ("required", required.as_str())];
    i18n.text_with("step_confirming_count", &values)
}

/// How many confirmations there are, as bars, and about how long the rest takes. The step above has their number.
#[component]
fn ConfirmationBars() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let seen = checkout.follow(|_, attempt| {
        let confirmations = attempt.confirmations;
        confirmations.map(|seen| (seen.count, seen.required, attempt.network.clone()))
    });
    move || {
        let (count, required, network) = seen.get()?;
        let confirmations = Confirmations { count, required };
        let (done, all) = (count.min(required).to_string(), required.to_string());
        let values = [("count", done.as_str()), ("required", all.as_str())];
        let text = i18n.plural("confirmations", required, &values);
        checkout.announce_confirmations(count, required, &text);
        Some(view! {
            <div class="blocks">
                <div class="bars" aria-hidden="true">
                    {bars(confirmations)}
                </div>
                <p class="quiet" data-testid="estimate">
                    {time_left(i18n, &network, confirmations)}
                </p>
            </div>
        })
    }
}

fn bars(Confirmations { count, required }: Confirmations) -> AnyView {
    if required > MOST_BARS {
        let percent = u64::from(count.min(required)) * 100 / u64::from(required);
        let size = format!("{percent}%");
        return view! {
            <span>
                <span class="on" style:max-width=size></span>
            </span>
        }
        .into_any();
    }
    let class = |bar| if bar < count { "on" } else { "" };
    let bars = (0..required).map(|bar| view! { <span class=class(bar)></span> });
    bars.collect_view().into_any()
}

fn time_left(i18n: I18n, network: &str, seen: Confirmations) -> Option<String> {
    Some(match estimate(network, seen.count, seen.required)? {
        Estimate::Soon => i18n.text("estimate_soon"),
        Estimate::About(number, unit) => {
            let time = i18n.duration(number, unit);
            i18n.text_with("estimate", &[("time", &time)])
        }
    })
}

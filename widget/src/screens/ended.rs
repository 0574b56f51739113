//! The ends without a full payment. Each says what happened, that the money is not lost, what to do next, where to get
//! help, and by which reference.

use std::sync::Arc;

use checkout_api::Flow;
use leptos::prelude::*;

use super::instructions::WhatToSend;
use crate::components::{
    Heading, HelpLink, HostedPageLink, Look, Ltr, NewPriceButton, NewPurchaseButton,
    NewSessionButton, OrderReference, OtherAssetButton, ReturnLink, Sentence, coins,
};
use crate::i18n::use_i18n;
use crate::state::phase::is_partly_paid;
use crate::state::use_checkout;

/// Less arrived than asked for.
#[component]
pub(super) fn Underpaid() -> impl IntoView {
    let order = use_checkout().order.get_untracked();
    let rest = order.and_then(|order| {
        let attempt = order.attempt.as_ref()?;
        let rest = coins(attempt.remaining_in_crypto.as_str(), &attempt.asset);
        is_partly_paid(attempt).then_some(rest)
    });
    let remedy = match rest {
        Some(rest) => view! {
            <Sentence key="missing">
                <Ltr text=rest />
            </Sentence>
            <WhatToSend />
        }
        .into_any(),
        None => view! { <HostedPageLink look=Look::Plain key="hosted_open" /> }.into_any(),
    };
    view! { <End name="underpaid" hints=&["underpaid_hint"] remedy=remedy /> }
}

/// The payment did not go through.
#[component]
pub(super) fn Failed() -> impl IntoView {
    let remedy = view! { <NextAttempt renews=true /> }.into_any();
    view! { <End name="failed" hints=&["failed_hint", "if_sent"] remedy=remedy /> }
}

/// The order was cancelled.
#[component]
pub(super) fn Cancelled() -> impl IntoView {
    let order = use_checkout().order.get_untracked();
    // The gateway's status for a page that was closed before it showed an address.
    let is_left =
        order.is_some_and(|order| order.flow == Flow::Hosted && order.can_open_attempt);
    let title = if is_left { "hosted_left" } else { "cancelled" };
    let remedy = view! { <NextAttempt renews=true /> }.into_any();
    view! { <End name="cancelled" title=title hints=&["cancelled_hint", "if_sent"] remedy=remedy /> }
}

/// Time ran out. The new price is where the old code was.
#[component]
pub(super) fn Expired() -> impl IntoView {
    let remedy = view! { <NextAttempt renews=true /> }.into_any();
    view! { <End name="expired" hints=&["expired_hint", "if_sent"] remedy=remedy /> }
}

/// The invoice did not pass the checks: there is no address to show.
#[component]
pub(super) fn Blocked() -> impl IntoView {
    let remedy = view! { <NextAttempt renews=false /> }.into_any();
    view! { <End name="blocked" hints=&["blocked_hint"] remedy=remedy /> }
}

/// One end; `name` is its status, `title` the key of its heading where that differs.
#[component]
fn End(
    name: &'static str,
    #[prop(optional)] title: Option<&'static str>,
    hints: &'static [&'static str],
    remedy: AnyView,
) -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let order = checkout.order.get_untracked()?;
    let hints = hints.iter().map(|hint| view! { <p>{i18n.text(hint)}</p> });
    Some(view! {
        <div class="screen" data-testid=format!("status-{name}")>
            <div class="mark" aria-hidden="true">
                "!"
            </div>
            <Heading text=i18n.text(title.unwrap_or(name)) />
            {hints.collect_view()}
            {remedy}
            <div class="contact">
                <OrderReference order=Arc::clone(&order) />
                <div class="actions">
                    <HelpLink class="secondary" part="button secondary" />
                    <ReturnLink look=Look::Plain />
                </div>
            </div>
        </div>
    })
}

/// A new price in the same asset, or another asset. `renews`: the same asset can be tried again.
#[component]
fn NextAttempt(renews: bool) -> impl IntoView {
    let order = use_checkout().order.get_untracked()?;
    let attempt = order.attempt.as_ref().filter(|_| renews);
    Some(match attempt {
        _ if !order.can_open_attempt => {
            view! { <NewPurchaseButton look=Look::Primary /> }.into_any()
        }
        _ if order.flow == Flow::Hosted => view! {
            <div class="actions">
                <NewSessionButton key="hosted_again" />
            </div>
        }
        .into_any(),
        None => view! {
            <div class="actions">
                <OtherAssetButton look=Look::Primary test="new-quote" />
            </div>
        }
        .into_any(),
        Some(attempt) => view! {
            <div class="target">
                <div class="qr slot" part="qr">
                    <NewPriceButton crypto_code=attempt.crypto_code.clone() />
                </div>
                <div>
                    <OtherAssetButton look=Look::Plain />
                </div>
            </div>
        }
        .into_any(),
    })
}

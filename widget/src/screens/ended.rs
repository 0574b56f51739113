//! The ends without a full payment. Each says what happened, that the money is not lost, what to do next, where to get
//! help, and by which reference.

use florin_checkout_api::{BlockedReason, Flow};
use leptos::prelude::*;

use crate::components::{
    Heading, HelpLink, Look, NewPriceButton, NewPurchaseButton, NewSessionButton, OrderReference,
    OtherAssetButton, ReturnLink,
};
use crate::i18n::use_i18n;
use crate::state::phase::has_received;
use crate::state::use_checkout;

#[component]
pub(super) fn Failed() -> impl IntoView {
    let title = use_i18n().text("failed");
    let remedy = view! { <NextAttempt renews=true /> }.into_any();
    view! { <End name="failed" title=title hints=&["failed_network", "if_sent"] remedy=remedy /> }
}

#[component]
pub(super) fn NotReceived() -> impl IntoView {
    let title = use_i18n().text("expired");
    let remedy = view! { <NextAttempt renews=true /> }.into_any();
    view! { <End name="failed" title=title hints=&["not_received", "if_sent"] remedy=remedy /> }
}

#[component]
pub(super) fn Cancelled() -> impl IntoView {
    let order = use_checkout().order.get_untracked()?;
    // The gateway's status for a page that was closed before it showed an address.
    let is_left = order.flow == Flow::Hosted && order.can_open_attempt;
    let title = if is_left { "hosted_left" } else { "cancelled" };
    let hints: &[_] = if order.attempt.as_ref().is_some_and(has_received) {
        &["if_sent"]
    } else {
        &["cancelled_hint", "if_sent"]
    };
    let remedy = view! { <NextAttempt renews=true /> }.into_any();
    let title = use_i18n().text(title);
    Some(view! { <End name="cancelled" title=title hints=hints remedy=remedy /> })
}

#[component]
pub(super) fn Expired() -> impl IntoView {
    let order = use_checkout().order.get_untracked();
    let can_renew = order.is_some_and(|order| order.can_open_attempt);
    let hints: &[_] = if can_renew {
        &["expired_hint", "if_sent"]
    } else {
        &["old_address", "if_sent"]
    };
    let remedy = view! { <NextAttempt renews=true /> }.into_any();
    let title = use_i18n().text("expired");
    view! { <End name="expired" title=title hints=hints remedy=remedy /> }
}

/// The invoice did not pass the checks: there is no address to show.
#[component]
pub(super) fn Blocked() -> impl IntoView {
    let order = use_checkout().order.get_untracked()?;
    let title = use_i18n().text("blocked");
    // The customer may have paid to the first address: no second payment is offered.
    Some(
        if order.blocked_reason == Some(BlockedReason::AddressChanged) {
            let hints = &["old_address", "if_sent"];
            view! { <End name="blocked" title=title hints=hints remedy=().into_any() is_help_first=true /> }
        } else {
            let remedy = view! { <NextAttempt renews=false /> }.into_any();
            view! { <End name="blocked" title=title hints=&["blocked_hint"] remedy=remedy /> }
        },
    )
}

/// One end; `name` is its status, `title` its heading, `hints` the keys of its sentences. `is_help_first`: to contact the
/// store is the next step.
#[component]
fn End(
    name: &'static str,
    title: String,
    hints: &'static [&'static str],
    remedy: AnyView,
    #[prop(optional)] is_help_first: bool,
) -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let order = checkout.order.get_untracked()?;
    let (help, help_part) = if is_help_first {
        ("primary", "button primary")
    } else {
        ("secondary", "button secondary")
    };
    let hints = hints.iter().map(|hint| view! { <p>{i18n.text(hint)}</p> });
    Some(view! {
        <div class="screen" data-testid=format!("status-{name}")>
            <div class="mark" aria-hidden="true">
                "!"
            </div>
            <Heading text=title />
            {hints.collect_view()}
            {remedy}
            <div class="contact">
                <OrderReference order=&order />
                <div class="actions">
                    <HelpLink class=help part=help_part />
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
        _ if !order.can_open_attempt => view! {
            <div class="actions next">
                <NewPurchaseButton look=Look::Primary />
            </div>
        }
        .into_any(),
        _ if order.flow == Flow::Hosted => view! {
            <div class="actions next">
                <NewSessionButton key="hosted_again" />
            </div>
        }
        .into_any(),
        None => view! {
            <div class="actions next">
                <OtherAssetButton look=Look::Primary key="choose_other" test_id="new-quote" />
            </div>
        }
        .into_any(),
        Some(attempt) => view! {
            <div class="actions next">
                <NewPriceButton crypto_code=attempt.crypto_code.clone() />
                <OtherAssetButton look=Look::Plain key="choose_other" />
            </div>
        }
        .into_any(),
    })
}

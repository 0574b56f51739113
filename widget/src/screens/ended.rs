//! The ends without a full payment. Each says what happened, that the money is not lost, what to do next, where to get
//! help, and by which reference.

use florin_checkout_api::{BlockedReason, Flow};
use leptos::prelude::*;

use super::refund::AskForRefundAddress;
use crate::components::{
    Heading, HelpLink, Look, NewPriceButton, NewPurchaseButton, NewSessionButton, OrderReference,
    OtherAssetButton, ReturnLink,
};
use crate::i18n::use_i18n;
use crate::state::phase::{Phase, has_received};
use crate::state::use_checkout;

/// Classes of the marks: something is left to do or to find out, nothing is, and a danger.
const OPEN: &str = "mark doubtful";
const OVER: &str = "mark over";
const STOPPED: &str = "mark";

/// An end without a payment.
#[component]
pub(super) fn Ended(phase: Phase) -> impl IntoView {
    let order = use_checkout().order.get_untracked()?;
    let can_renew = order.can_open_attempt;
    let has_received = order.attempt.as_ref().is_some_and(has_received);
    // The customer may have paid to the first address: no second payment is offered.
    let is_changed = order.blocked_reason == Some(BlockedReason::AddressChanged);
    let (name, mark, title, hints): (_, _, _, &[_]) = match phase {
        Phase::Failed => ("failed", OPEN, "failed", &["failed_network"]),
        Phase::NotReceived => ("failed", OVER, "expired", &["not_received", "if_sent"]),
        Phase::Expired if can_renew => ("expired", OVER, "expired", &["expired_hint", "if_sent"]),
        Phase::Expired => ("expired", OVER, "expired", &["old_address", "if_sent"]),
        Phase::Blocked if is_changed => {
            let hints = &["address_changed", "if_sent_changed"];
            ("blocked", STOPPED, "blocked", hints)
        }
        Phase::Blocked => ("blocked", STOPPED, "blocked", &["blocked_hint"]),
        _ if has_received => ("cancelled", OPEN, "cancelled", &["if_sent"]),
        // The gateway's status for a page that was closed before it showed an address.
        _ if order.flow == Flow::Hosted && can_renew => {
            let hints = &["cancelled_hint", "if_sent"];
            ("cancelled", OVER, "hosted_left", hints)
        }
        _ => (
            "cancelled",
            OVER,
            "cancelled",
            &["cancelled_hint", "if_sent"],
        ),
    };
    let renewal = match phase {
        Phase::Blocked => None,
        Phase::Failed => Some("retry"),
        _ => Some("new_price"),
    };
    let remedy = (!is_changed).then(|| view! { <NextAttempt renewal=renewal /> });
    let (title, remedy) = (use_i18n().text(title), remedy.into_any());
    Some(
        view! { <End name=name mark=mark title=title hints=hints remedy=remedy is_help_first=is_changed /> },
    )
}

/// One end; `name` is its status, `title` its heading, `hints` the keys of its sentences. `is_help_first`: to contact the
/// store is the next step.
#[component]
fn End(
    name: &'static str,
    mark: &'static str,
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
    let store = [("store", order.store.name.as_str())];
    let hints = hints.iter().map(|hint| i18n.text_with(hint, &store));
    let hints = hints.map(|hint| view! { <p>{hint}</p> });
    Some(view! {
        <div class="screen" data-testid=format!("status-{name}")>
            <div class=mark aria-hidden="true">
                "!"
            </div>
            <Heading text=title />
            {hints.collect_view()}
            <AskForRefundAddress />
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

/// A new price in the same asset, or another asset. `renewal`: what the button for the same asset says, if it can be tried again.
#[component]
fn NextAttempt(renewal: Option<&'static str>) -> impl IntoView {
    let order = use_checkout().order.get_untracked()?;
    let attempt = order.attempt.as_ref().zip(renewal);
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
        Some((attempt, key)) => view! {
            <div class="actions next">
                <NewPriceButton crypto_code=attempt.crypto_code.clone() key=key />
                <OtherAssetButton look=Look::Plain key="choose_other" />
            </div>
        }
        .into_any(),
    })
}

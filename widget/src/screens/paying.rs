//! Sending the payment: by the instructions, or on the gateway's own page, where a hosted order is paid.
//!
//! The link leads only to an address that the proxy has checked. What its customer does there, and where the page sends
//! them afterwards, proves nothing: that screen stays until the proxy reports another status.

use florin_checkout_api::{AttemptView, OrderView};
use florin_money::Network;
use leptos::prelude::*;

use super::instructions::WhatToSend;
use crate::components::{
    Button, Countdown, Heading, HostedPageLink, Look, NewSessionButton, OtherAssetButton, focus,
    hosted_page,
};
use crate::format::networks::coin_name;
use crate::i18n::{I18n, use_i18n};
use crate::screens::receipt::{AskForEmail, Email, EmailField, KeptEmail, is_none_or_email};
use crate::state::phase::is_partly_paid;
use crate::state::use_checkout;

#[component]
pub(super) fn Paying() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let order = checkout.order.get_untracked()?;
    let attempt = order.attempt.as_ref()?;
    let title = title(i18n, attempt);
    let is_partly = checkout.follow(|_, attempt| is_partly_paid(attempt));
    let is_over = Memo::new(move |_| checkout.seconds_left.get() == 0);
    // The rest of a part payment is still due: its screen stays as it is.
    let is_time_up = Memo::new(move |_| is_over.get() && !is_partly.get());
    // What is delivered by email has its address before anything is paid.
    let needs_email = checkout.follow(|order, _| order.email_required);
    let asks_first = needs_email.get_untracked();
    let can_change = checkout.follow(|order: &OrderView, _| order.can_open_attempt);
    Some(view! {
        <div class="screen" data-testid="status-awaiting_payment">
            <div class="top">
                <h2 tabindex="-1" part="heading">
                    {move || if is_time_up.get() { i18n.text("time_up") } else { title.clone() }}
                </h2>
                {move || (!is_over.get()).then(|| view! { <Countdown /> })}
            </div>
            {move || {
                if needs_email.get() {
                    return view! {
                        <AskForEmail label="email_delivery" action="give_go" look=Look::Primary />
                    }
                        .into_any();
                }
                if asks_first {
                    focus(checkout, String::from("h2"));
                }
                view! {
                    <WhatToSend />
                    <ConfirmSent />
                }
                    .into_any()
            }}
            {move || {
                can_change
                    .get()
                    .then(|| view! { <OtherAssetButton look=Look::Plain test_id="other-asset" /> })
            }}
        </div>
    })
}

/// `Pay with Bitcoin` for a coin on its own network, `Send USDT on Tron` for an asset that exists on several.
fn title(i18n: I18n, attempt: &AttemptView) -> String {
    let (asset, network) = (attempt.asset.as_str(), attempt.network.as_str());
    if Network::coin_of(network) == asset {
        i18n.text_with("pay_with", &[("asset", coin_name(asset, network))])
    } else {
        i18n.text_with("pay", &[("asset", asset), ("network", network)])
    }
}

/// The field and the button, until the customer has pressed it. A small window keeps the button at its lower edge.
#[component]
fn ConfirmSent() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let is_marked = checkout.follow(|_, attempt| attempt.marked_as_paid);
    let email = Email::new();
    // What was kept last; empty for none.
    let kept = RwSignal::new(String::new());
    // The address itself is not in the order: it was typed on another page, or before a reload.
    let is_kept = checkout.order.with_untracked(|order| {
        let order = order.as_ref();
        order.is_some_and(|order| order.email_kept)
    });
    let asks = RwSignal::new(!is_kept);
    let change = move || {
        asks.set(true);
        focus(checkout, String::from("#email"));
    };
    let keep = move || {
        let typed = email.typed();
        let is_new = kept.with_untracked(|kept| *kept != typed);
        if is_new && is_none_or_email(&typed) {
            let sent = typed.clone();
            checkout.keep_email(sent, move |is_kept| {
                if is_kept {
                    kept.set(typed);
                }
            });
        }
    };
    let mark = move || {
        let typed = email.typed();
        if is_none_or_email(&typed) {
            checkout.mark_paid(&typed);
        } else {
            email.reject(checkout);
        }
    };
    move || {
        if is_marked.get() {
            return view! {
                <p class="box" part="box">
                    {i18n.text("marked")}
                </p>
            }
            .into_any();
        }
        // No form: Enter in the field of an address must not report a payment.
        view! {
            <div class="sent">
                <p class="quiet detected">{i18n.text("detected_automatically")}</p>
                {move || {
                    if asks.get() {
                        view! {
                            <EmailField email=email label="email" kept=kept on_change=keep.into() />
                        }
                            .into_any()
                    } else {
                        view! { <KeptEmail on_change=change.into() /> }.into_any()
                    }
                }}
                <div class="confirm">
                    <Button
                        look=Look::Secondary
                        text=i18n.text("i_have_paid")
                        on_press=mark
                        test_id=Some("i-have-paid")
                        waits=true
                    />
                </div>
            </div>
        }
        .into_any()
    }
}

/// What the framed page may do: run its program, keep its own storage, send its forms, open a wallet or an explorer. It
/// may not navigate the shop's page.
const FRAME_SANDBOX: &str = "allow-scripts allow-same-origin allow-forms allow-popups";

#[component]
pub(super) fn Hosted() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let embeds = checkout.shared().is_some_and(|shared| shared.host.embed());
    match hosted_page(checkout) {
        Some(url) if embeds => view! {
            <div class="embedded" data-testid="status-hosted">
                <h2 class="unseen" part="heading" tabindex="-1">
                    {i18n.text("hosted")}
                </h2>
                <iframe
                    title=i18n.text("hosted")
                    sandbox=FRAME_SANDBOX
                    allow="clipboard-write"
                    referrerpolicy="strict-origin"
                    src=url
                    data-testid="hosted-frame"
                ></iframe>
                <HostedPageLink look=Look::Plain key="hosted_open" />
            </div>
        }
        .into_any(),
        page => view! {
            <div class="screen" data-testid="status-hosted">
                <Heading text=i18n.text("hosted_continue") />
                <p>{i18n.text("hosted_hint")}</p>
                <p>{i18n.text("come_back")}</p>
                <div class="actions">
                    {if page.is_some() {
                        view! { <HostedPageLink look=Look::Primary key="hosted_go" /> }.into_any()
                    } else {
                        view! { <NewSessionButton key="hosted_go" /> }.into_any()
                    }}
                </div>
            </div>
        }
        .into_any(),
    }
}

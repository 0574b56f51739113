//! Sending the payment: by the instructions, or on the gateway's own page, where a hosted order is paid.
//!
//! The link leads only to an address that the proxy has checked. What its customer does there, and where the page sends
//! them afterwards, proves nothing: that screen stays until the proxy reports another status.

use florin_checkout_api::{AttemptView, OrderView};
use florin_money::Network;
use leptos::prelude::*;

use super::instructions::WhatToSend;
use crate::components::{
    Button, CheckedAgo, Countdown, Heading, HelpLink, HostedPageLink, Look, NewSessionButton,
    OrderReference, OtherAssetButton, ReturnLink, Transaction, coins, focus, hosted_page, isolated,
    send_more,
};
use crate::format::networks::coin_name;
use crate::i18n::{I18n, use_i18n};
use crate::screens::receipt::AskForEmail;
use crate::state::use_checkout;
use florin_money::{padded, trimmed};

#[component]
pub(super) fn Paying() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let order = checkout.order.get_untracked()?;
    let attempt = order.attempt.as_ref()?;
    let title = title(i18n, attempt);
    let is_over = Memo::new(move |_| checkout.seconds_left.get() == 0);
    // What is delivered by email has its address before anything is paid.
    let needs_email = checkout.follow(|order, _| order.email_required);
    let asks_first = needs_email.get_untracked();
    let can_change = checkout.follow(|order: &OrderView, _| order.can_open_attempt);
    Some(view! {
        <div class="screen" data-testid="status-awaiting_payment">
            <div class="top">
                <h2 tabindex="-1" part="heading">
                    {move || if is_over.get() { i18n.text("time_up") } else { title.clone() }}
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

/// `Pay with Bitcoin` for a coin on its own network, `Pay with USDT on Tron` for an asset that exists on several.
fn title(i18n: I18n, attempt: &AttemptView) -> String {
    let (asset, network) = (attempt.asset.as_str(), attempt.network.as_str());
    if Network::coin_of(network) == asset {
        i18n.text_with("pay_with", &[("asset", coin_name(asset, network))])
    } else {
        i18n.text_with("pay", &[("asset", asset), ("network", network)])
    }
}

/// The button, until the customer has pressed it: what arrives is found without it. A small window keeps it at its lower edge
/// once the customer has used a way to pay.
#[component]
fn ConfirmSent() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let is_marked = checkout.follow(|_, attempt| attempt.marked_as_paid);
    move || {
        if is_marked.get() {
            return view! {
                <p class="box" part="box">
                    {i18n.text("marked")}
                </p>
            }
            .into_any();
        }
        view! {
            <div class="confirm">
                <Button
                    look=Look::Plain
                    text=i18n.text("i_have_paid")
                    on_press=move || checkout.mark_paid()
                    test_id=Some("i-have-paid")
                    waits=true
                />
            </div>
        }
        .into_any()
    }
}

/// The rest of a payment, from the first part that was seen until the whole is. Of a hosted order it is paid on the gateway's page.
#[component]
pub(super) fn Underpaid() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let order = checkout.order.get_untracked()?;
    let title = move || {
        let rest = checkout
            .order
            .with(|order| send_more(i18n, order.as_deref()));
        rest.unwrap_or_else(|| i18n.text("underpaid"))
    };
    let is_over = Memo::new(move |_| checkout.seconds_left.get() == 0);
    let time_left = move || {
        if is_over.get() {
            view! { <p>{i18n.text("no_hurry")}</p> }.into_any()
        } else {
            view! { <Countdown /> }.into_any()
        }
    };
    let rest = if order.attempt.is_some() {
        view! {
            <Part />
            <WhatToSend />
        }
        .into_any()
    } else {
        view! { <HostedPageLink look=Look::Primary key="hosted_go" /> }.into_any()
    };
    Some(view! {
        <div class="screen" data-testid="status-underpaid">
            <div class="top">
                <div class="mark doubtful" aria-hidden="true">
                    "!"
                </div>
                <h2 tabindex="-1" part="heading">
                    {title}
                </h2>
                {time_left}
            </div>
            {rest}
            <CheckedAgo />
            <Transaction />
            <div class="contact">
                <OrderReference order=&order />
                <div class="actions">
                    <HelpLink class="secondary" part="button secondary" />
                    <ReturnLink look=Look::Plain />
                </div>
            </div>
        </div>
    })
}

/// How much has arrived, as a bar, and what to do with the rest.
#[component]
fn Part() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let part = checkout.follow(|_, attempt| {
        let amount = trimmed(attempt.amount_in_crypto.as_str());
        let received = trimmed(attempt.received_in_crypto.as_str());
        [padded(received, &amount), amount]
    });
    let asset = checkout.follow(|_, attempt| attempt.asset.clone());
    move || {
        let ([received, amount], asset) = (part.get(), asset.get());
        let values = [isolated(&received), isolated(&coins(&amount, &asset))];
        let values = [("received", &*values[0]), ("amount", &*values[1])];
        view! {
            <label class="part">
                <progress value=received.clone() max=amount></progress>
                {i18n.text_with("part_bar", &values)}
            </label>
            <p>{i18n.text("send_rest")}</p>
        }
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

//! The ways out of an order: help, the shop, another purchase, the gateway's page.

use florin_checkout_api::{OrderView, Status};
use leptos::prelude::*;

use super::{Button, CopyButton, Look};
use crate::format::links;
use crate::i18n::{I18n, use_i18n};
use crate::state::{Checkout, PaymentScreens, use_checkout};

/// Where to get help about this order. An email says which order it is about, and its state when the link is followed.
#[component]
pub(crate) fn HelpLink(
    class: &'static str,
    #[prop(optional)] part: Option<&'static str>,
) -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let offer = checkout.offer.get_untracked();
    let url = match offer {
        Some(offer) => offer.store.support_url.clone(),
        None => checkout.page_store().and_then(|store| store.support_url()),
    };
    let url = url.filter(|url| links::support(url, "", &[]).is_some());
    let store = checkout.store_name();
    url.map(|url| {
        let name = store.clone();
        let href = move || {
            let Some(order) = checkout.order.get() else {
                let title = checkout.offer.get().map(|offer| offer.title.clone());
                let title = title.unwrap_or_default();
                return links::support(&url, &name, &[&title, ""]);
            };
            let has_texts = checkout.payment_screens.get() == PaymentScreens::Loaded;
            let (subject, lines) = request_for_help(i18n, &order, has_texts);
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            links::support(&url, &subject, &lines)
        };
        view! {
            <a
                class=class
                part=part
                href=href
                target="_blank"
                rel="noopener noreferrer"
                data-testid="help"
            >
                {i18n.text_with("help", &[("store", &store)])}
            </a>
        }
    })
}

/// Subject and lines of an email that asks for help. `has_texts`: the texts after the asset choice are loaded.
fn request_for_help(i18n: I18n, order: &OrderView, has_texts: bool) -> (String, Vec<String>) {
    let subject = format!("{} · {}", order.store.name, order.id);
    let attempt = order.attempt.as_ref();
    let hash = attempt.and_then(|attempt| attempt.transaction_hash.as_deref());
    let lines = [
        Some(order.title.clone()),
        Some(format!("{} {}", i18n.text("reference"), order.id)),
        status_key(order.status)
            .filter(|_| has_texts)
            .map(|key| i18n.text(key)),
        hash.filter(|_| has_texts)
            .map(|hash| format!("{}: {hash}", i18n.text("transaction"))),
        // Where the customer begins to write.
        Some(String::new()),
    ];
    (subject, lines.into_iter().flatten().collect())
}

fn status_key(status: Status) -> Option<&'static str> {
    match status {
        Status::Open | Status::AwaitingPayment => None,
        Status::Overpaid => Some("paid"),
        // The keys of the other headings are the words of their statuses.
        other => Some(other.into()),
    }
}

/// The way back to the shop, out of the frame; without an order, that of the page's store.
#[component]
pub(crate) fn ReturnLink(look: Look) -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let url = match checkout.order.get_untracked() {
        Some(order) => order.return_url.clone(),
        None => checkout.page_store().and_then(|store| store.return_url()),
    };
    let store = checkout.store_name();
    url.filter(|url| links::is_page(url)).map(|url| {
        view! {
            <a
                class=look.class()
                part=look.part()
                href=url
                target="_top"
                data-testid="return"
                on:click=move |_| checkout.close()
            >
                {i18n.text_with("return", &[("store", &store)])}
            </a>
        }
    })
}

/// Leaves this order for another, where the same attributes open more than one.
#[component]
pub(crate) fn NewPurchaseButton(look: Look) -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    checkout.is_repeatable().then(|| {
        view! { <Button look=look text=i18n.text("new_purchase") on_press=move || checkout.start_over() /> }
    })
}

#[component]
pub(crate) fn OrderReference<'a>(order: &'a OrderView) -> impl IntoView + use<> {
    let i18n = use_i18n();
    view! {
        <div class="line">
            <p class="quiet">
                <span>{i18n.text("reference")}</span>
                <bdi class="id" dir="ltr">
                    {order.id.clone()}
                </bdi>
            </p>
            <CopyButton
                id="copy-reference"
                place=".id"
                value=order.id.clone()
                label=i18n.text("copy_reference")
            />
        </div>
    }
}

/// The address of the gateway's page, where a hosted order is paid. `None` while there is no session, or an address that
/// is none of a page.
pub(crate) fn hosted_page(checkout: Checkout) -> Option<String> {
    let order = checkout.order.get_untracked()?;
    let url = order.payment_process_url.clone();
    url.filter(|url| links::is_page(url))
}

/// The gateway's page, out of every frame: it has the window to itself.
#[component]
pub(crate) fn HostedPageLink(look: Look, key: &'static str) -> impl IntoView {
    let i18n = use_i18n();
    hosted_page(use_checkout()).map(|url| {
        view! {
            <a
                class=look.class()
                part=look.part()
                href=url
                target="_top"
                referrerpolicy="strict-origin"
                data-testid="hosted-link"
            >
                {i18n.text(key)}
            </a>
        }
    })
}

/// Opens another session on the gateway's page, after the last one ended.
#[component]
pub(crate) fn NewSessionButton(key: &'static str) -> impl IntoView {
    let checkout = use_checkout();
    view! {
        <Button
            look=Look::Primary
            text=use_i18n().text(key)
            on_press=move || checkout.open_session()
            test_id=Some("new-session")
            waits=true
        />
    }
}

#[component]
pub(crate) fn Transaction() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let seen = checkout.follow(|_, attempt| {
        let url = attempt.explorer_url.clone();
        let hash = attempt.transaction_hash.as_ref();
        // Until the gateway has seen it, the one that the customer's wallet named.
        let hash = hash.or(attempt.transaction_hint.as_ref());
        (hash.cloned(), url)
    });
    move || {
        let (hash, url) = seen.get();
        hash.map(|hash| {
            view! {
                <div class="transaction">
                    <p class="label">{i18n.text("transaction")}</p>
                    <Hash hash=&hash />
                    <div class="line">
                        <CopyButton
                            id="copy-transaction"
                            place=".hash"
                            value=hash
                            label=i18n.text("copy_transaction")
                        />
                        <ExplorerLink url=url />
                    </div>
                </div>
            }
        })
    }
}

/// A transaction's hash with its middle hidden from eyes alone: it is selected, copied and read out whole.
#[component]
pub(crate) fn Hash<'a>(hash: &'a str) -> impl IntoView + use<> {
    let (start, rest) = hash.split_at_checked(8).unwrap_or((hash, ""));
    let cut = rest.len().saturating_sub(8);
    let (middle, end) = rest.split_at_checked(cut).unwrap_or(("", rest));
    view! {
        <bdi dir="ltr" class="hash" title=hash.to_owned() data-testid="transaction">
            {start.to_owned()}
            <span class="cut">{middle.to_owned()}</span>
            {end.to_owned()}
        </bdi>
    }
}

#[component]
pub(crate) fn ExplorerLink(url: Option<String>) -> impl IntoView {
    let url = url.filter(|url| links::is_page(url));
    url.map(|url| {
        view! {
            <a
                class="plain"
                part="button plain"
                href=url
                target="_blank"
                rel="noopener noreferrer"
                data-testid="explorer"
            >
                {use_i18n().text("explorer")}
            </a>
        }
    })
}

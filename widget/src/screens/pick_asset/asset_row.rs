//! The rows of the list: an asset, or a coin with several networks.

use std::sync::Arc;

use florin_checkout_api::{Quote, Unavailable};
use leptos::prelude::*;

use super::search::is_found;
use crate::components::{AssetIcon, Ltr, focus_heading, keyed};
use crate::i18n::{I18n, use_i18n};
use crate::state::{Checkout, use_checkout};

/// An asset. One that a row of its coin stands for is shown among the networks of that coin, when it is searched for, and as
/// the last choice.
#[component]
pub(super) fn AssetRow<'a>(
    quote: &'a Quote,
    search: RwSignal<String>,
    is_last: bool,
) -> impl IntoView + use<> {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let code = quote.crypto_code.clone();
    let detail = move || {
        let quote = checkout.quote(&code);
        quote.map_or_else(String::new, |quote| detail(checkout, i18n, &quote))
    };
    let is_folded = quote.is_folded && !is_last;
    let found = quote.clone();
    let is_hidden = move || {
        let coin = checkout.choosing_network.get();
        if coin.is_empty() {
            search.with(|typed| (is_folded && typed.is_empty()) || !is_found(typed, &found))
        } else {
            coin != found.asset
        }
    };
    let code = quote.crypto_code.clone();
    view! {
        <Row
            class="option"
            test_id=format!("asset-{code}")
            codes=vec![code.clone()]
            icon=view! { <AssetIcon asset=&quote.asset badge=quote.badge.as_deref() /> }.into_any()
            name=quote.name.clone()
            is_last=is_last
            detail=Arc::new(detail)
            is_hidden=Box::new(is_hidden)
            on_press=Box::new(move || checkout.pick(&code))
        />
    }
}

/// A coin on several networks, which are the next step.
#[component]
pub(super) fn CoinRow<'a>(
    coin: &'a [&'a Quote],
    search: RwSignal<String>,
) -> impl IntoView + use<> {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let first = coin.first()?;
    let (asset, code) = (first.asset.clone(), first.crypto_code.clone());
    let codes: Vec<_> = coin.iter().map(|quote| quote.crypto_code.clone()).collect();
    let count = u32::try_from(codes.len()).unwrap_or(u32::MAX);
    let networks = i18n.plural(
        "networks",
        count,
        &[("count", &i18n.number(&count.to_string()))],
    );
    let listed = codes.clone();
    let detail = move || match checkout.quote(&code) {
        // One reason stands for all.
        Some(quote) if !is_any_available(checkout, &listed) => detail(checkout, i18n, &quote),
        _ => networks.clone(),
    };
    let is_hidden = move || {
        search.with(|typed| !typed.is_empty())
            || checkout.choosing_network.with(|coin| !coin.is_empty())
    };
    let icon = view! { <AssetIcon asset=&first.asset badge=None /> };
    Some(view! {
        <Row
            class="option has-more"
            test_id=format!("networks-{asset}")
            codes=codes
            icon=icon.into_any()
            name=first.asset_name.clone()
            is_last=false
            detail=Arc::new(detail)
            is_hidden=Box::new(is_hidden)
            on_press=Box::new(move || {
                checkout.choosing_network.set(asset.clone());
                focus_heading(checkout);
            })
        />
    })
}

fn is_any_available(checkout: Checkout, codes: &[String]) -> bool {
    let is_available = |code: &String| checkout.quote(code).is_some_and(|quote| quote.available);
    codes.iter().any(is_available)
}

/// A row of the list. `codes`: the assets that it stands for.
#[component]
fn Row(
    class: &'static str,
    test_id: String,
    codes: Vec<String>,
    icon: AnyView,
    name: String,
    is_last: bool,
    detail: Arc<dyn Fn() -> String + Send + Sync>,
    is_hidden: Box<dyn Fn() -> bool + Send>,
    on_press: Box<dyn Fn()>,
) -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let is_available = Memo::new({
        let codes = codes.clone();
        move |_| is_any_available(checkout, &codes)
    });
    let reason = Arc::clone(&detail);
    let press = move |_| {
        if is_available.get_untracked() {
            on_press();
        } else {
            // A press on an unavailable asset announces the reason.
            checkout.announce(untrack(|| reason()));
        }
    };
    view! {
        <li hidden=is_hidden>
            // Not `disabled`: the reason must be reachable by keyboard.
            <button
                type="button"
                class=class
                part="option"
                data-testid=test_id
                aria-disabled=move || {
                    (checkout.is_busy.get() || !is_available.get()).then_some("true")
                }
                data-off=move || (!is_available.get()).then_some("")
                on:click=press
            >
                {icon}
                <span class="what">
                    <b>{name}</b>
                    <small>{move || detail()}</small>
                    {is_last
                        .then(|| {
                            view! {
                                <small class="last" data-testid="last-used">
                                    {i18n.text("last_used")}
                                </small>
                            }
                        })}
                </span>
                <Cost codes=codes />
            </button>
        </li>
    }
}

/// What the order costs in an asset, or in a coin where its networks agree: the price in money stands beside the list. An
/// amount that has changed is marked for a moment.
#[component]
pub(super) fn Cost(codes: Vec<String>) -> impl IntoView {
    let checkout = use_checkout();
    let amounts = Memo::new(move |_| {
        let mut amounts = codes
            .iter()
            .filter_map(|code| checkout.quote(code)?.amount_shown);
        let first = amounts.next()?;
        amounts.all(|other| other == first).then_some(first)
    });
    let mut is_shown = false;
    keyed(amounts, move |amounts| {
        let class = if is_shown { "moved" } else { "" };
        is_shown = true;
        let content = amounts.map(|amount| {
            view! {
                <b class=class>
                    <Ltr text=amount />
                </b>
            }
        });
        view! { <span class="cost">{content}</span> }.into_any()
    })
}

/// What its row says below the name: with the reason, and what would fit where the price is known.
pub(super) fn detail(checkout: Checkout, i18n: I18n, quote: &Quote) -> String {
    let Some(reason) = quote.reason else {
        return quote.detail.clone();
    };
    let (key, key_with_price) = match reason {
        Unavailable::BelowMinimum => ("below_minimum", "below_minimum_price"),
        Unavailable::AboveMaximum => ("above_maximum", "above_maximum_price"),
        Unavailable::NotPriced => ("not_priced", ""),
        Unavailable::UnknownAsset => ("unknown_asset", ""),
    };
    let amount = quote.limit_shown.as_deref().unwrap_or_default();
    let why = match &quote.limit_in_order_currency {
        Some(price) => {
            let price = checkout.money(price.as_str());
            i18n.text_with(key_with_price, &[("amount", amount), ("price", &price)])
        }
        None => i18n.text_with(key, &[("amount", amount)]),
    };
    format!("{} · {why}", quote.detail)
}

/// Notes that the prices have changed: for eyes, since screen readers get an announcement.
#[component]
pub(super) fn FreshPrices() -> impl IntoView {
    let checkout = use_checkout();
    view! {
        <p
            class="fresh"
            aria-hidden="true"
            data-testid="prices-fresh"
            data-shown=move || checkout.has_fresh_quotes.get().then_some("")
        >
            {use_i18n().text("prices_fresh")}
        </p>
    }
}

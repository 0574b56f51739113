//! The rows of the list: an asset, or a coin with several networks.

use std::sync::Arc;

use florin_checkout_api::{Mark, Quote, Unavailable};
use florin_money::AmountText;
use leptos::prelude::*;

use super::search::is_found;
use crate::components::{AssetIcon, Ltr, focus_heading, keyed};
use crate::i18n::use_i18n;
use crate::state::{COIN_ROW, Checkout, use_checkout};

/// An asset. `led_to_by`: the rows that lead to it. One that a row of its coin stands for is shown among the networks of that coin, when it is searched for, and as
/// the last choice.
#[component]
pub(super) fn AssetRow<'a>(
    quote: &'a Quote,
    search: RwSignal<String>,
    is_last: bool,
    led_to_by: Vec<String>,
) -> impl IntoView + use<> {
    let checkout = use_checkout();
    let code = quote.crypto_code.clone();
    let detail = move || {
        let quote = checkout.quote(&code);
        quote.map_or_else(String::new, |quote| detail(checkout, &quote))
    };
    let is_folded = quote.is_folded && !is_last;
    let found = quote.clone();
    let is_hidden = move || {
        let within = checkout.within.get();
        if !within.is_empty() {
            return !led_to_by.contains(&within);
        }
        search.with(|typed| (is_folded && typed.is_empty()) || !is_found(typed, &found))
    };
    let code = quote.crypto_code.clone();
    let last = is_last.then_some("last_used");
    let marks = quote.marks.iter().map(|mark| match mark {
        Mark::Fastest => "fastest",
        Mark::LowestFee => "lowest_fee",
    });
    let marks = last.into_iter().chain(marks).collect();
    view! {
        <Row
            class="option"
            test_id=format!("asset-{code}")
            codes=vec![code.clone()]
            icon=view! { <AssetIcon quote=quote has_badge=true /> }.into_any()
            name=quote.name.clone()
            marks=marks
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
    let (row, code) = (
        format!("{COIN_ROW}{}", first.asset),
        first.crypto_code.clone(),
    );
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
        Some(quote) if !is_any_available(checkout, &listed) => detail(checkout, &quote),
        _ => networks.clone(),
    };
    let is_hidden = move || {
        search.with(|typed| !typed.is_empty()) || checkout.within.with(|row| !row.is_empty())
    };
    let icon = view! { <AssetIcon quote=first has_badge=false /> };
    Some(view! {
        <Row
            class="option has-more"
            test_id=row.clone()
            codes=codes
            icon=icon.into_any()
            name=first.asset_name.clone()
            marks=Vec::new()
            detail=Arc::new(detail)
            is_hidden=Box::new(is_hidden)
            on_press=Box::new(move || {
                checkout.within.set(row.clone());
                focus_heading(checkout);
            })
        />
    })
}

/// Its own picture, or the first letter of its name.
fn wallet_icon(name: &str, icon: &str) -> AnyView {
    if icon.is_empty() {
        let initial = name.chars().next().map(String::from);
        return view! { <span class="disc">{initial}</span> }.into_any();
    }
    view! { <img class="wallet-icon" src=icon.to_owned() alt="" /> }.into_any()
}

/// A wallet of this browser, by its row. The assets that it can pay are the next step.
#[component]
pub(super) fn WalletRow<'a>(
    row: &'a str,
    name: &'a str,
    icon: &'a str,
    payable: &'a [&'a Quote],
    search: RwSignal<String>,
) -> impl IntoView + use<> {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let mut assets: Vec<&str> = payable.iter().map(|quote| quote.asset.as_str()).collect();
    assets.dedup();
    let assets = assets.join(" · ");
    let is_hidden = move || {
        search.with(|typed| !typed.is_empty()) || checkout.within.with(|row| !row.is_empty())
    };
    let chosen = row.to_owned();
    view! {
        <Row
            class="option has-more"
            test_id=row.to_owned()
            codes=payable.iter().map(|quote| quote.crypto_code.clone()).collect()
            icon=wallet_icon(name, icon)
            name=i18n.text_with("wallet_pay", &[("wallet", name)])
            marks=Vec::new()
            detail=Arc::new(move || assets.clone())
            is_hidden=Box::new(is_hidden)
            on_press=Box::new(move || {
                checkout.within.set(chosen.clone());
                focus_heading(checkout);
            })
        />
    }
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
    marks: Vec<&'static str>,
    detail: Arc<dyn Fn() -> String + Send + Sync>,
    is_hidden: Box<dyn Fn() -> bool + Send>,
    on_press: Box<dyn Fn()>,
) -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let is_available = Memo::new({
        let codes = codes.clone();
        move |_| is_any_available(checkout, &codes)
    });
    let marks = marks.into_iter().map(|key| {
        view! {
            <small class="best" data-testid=key>
                {i18n.text(key)}
            </small>
        }
    });
    let marks = marks.collect_view();
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
                    <b>{name} {marks}</b>
                    <small>{move || detail()}</small>
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

/// What its row says below the name. Reads a signal.
pub(super) fn detail(checkout: Checkout, quote: &Quote) -> String {
    let reason = quote.reason.map(|reason| match reason {
        Unavailable::BelowMinimum => "below_minimum",
        Unavailable::AboveMaximum => "above_maximum",
        Unavailable::NotPriced => "not_priced",
        Unavailable::UnknownAsset => "unknown_asset",
    });
    let Some(shared) = checkout.shared() else {
        return String::new();
    };
    let offer = checkout.offer.get();
    shared.host.detail(
        offer.as_ref().map_or("", |offer| &offer.currency),
        &quote.detail,
        quote.takes_seconds,
        quote.fee_in_order_currency.as_ref().map(AmountText::as_str),
        reason,
        quote.limit_shown.as_deref(),
        quote
            .limit_in_order_currency
            .as_ref()
            .map(AmountText::as_str),
    )
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

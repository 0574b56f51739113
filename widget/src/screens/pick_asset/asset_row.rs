//! One asset of the list.

use std::sync::Arc;

use checkout_api::{Quote, Unavailable};
use leptos::prelude::*;

use super::search::is_found;
use crate::components::{AssetIcon, Ltr, coins, renewed};
use crate::format::short_amount::{shortened, trimmed};
use crate::i18n::{I18n, use_i18n};
use crate::state::{Checkout, use_checkout};

/// A row of the list.
#[component]
pub(super) fn AssetRow<'a>(
    quote: &'a Quote,
    search: RwSignal<String>,
    is_last: bool,
) -> impl IntoView + use<> {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let code: Arc<str> = quote.crypto_code.as_str().into();
    let several = checkout.has_several_networks(quote);
    let is_available = Memo::new({
        let code = Arc::clone(&code);
        move |_| checkout.quote(&code).is_some_and(|quote| quote.available)
    });
    let detail_text = move || {
        let quote = checkout.quote(&code);
        quote.map(|quote| detail(checkout, i18n, &quote))
    };
    let pick = {
        let (code, detail_text) = (quote.crypto_code.clone(), detail_text.clone());
        move |_| {
            if is_available.get_untracked() {
                checkout.pick(&code);
            } else if let Some(reason) = untrack(&detail_text) {
                // A press on an unavailable asset announces the reason.
                checkout.announce(reason);
            }
        }
    };
    let found = quote.clone();
    view! {
        <li hidden=move || !search.with(|typed| is_found(typed, &found))>
            // Not `disabled`: the reason must be reachable by keyboard.
            <button
                type="button"
                class="option"
                part="option"
                data-testid=format!("asset-{}", quote.crypto_code)
                aria-disabled=move || {
                    (checkout.is_busy.get() || !is_available.get()).then_some("true")
                }
                data-off=move || (!is_available.get()).then_some("")
                on:click=pick
            >
                <AssetIcon asset=&quote.asset network=&quote.network several=several />
                <span class="what">
                    <b>{name(checkout, quote)}</b>
                    <small>{detail_text}</small>
                    {is_last
                        .then(|| {
                            view! {
                                <small class="last" data-testid="last-used">
                                    {i18n.text("last_used")}
                                </small>
                            }
                        })}
                </span>
                <Cost crypto_code=quote.crypto_code.clone() />
            </button>
        </li>
    }
}

/// What the order costs in an asset. An amount that has changed is marked for a moment.
#[component]
pub(super) fn Cost(crypto_code: String) -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let amounts = Memo::new(move |_| {
        let quote = checkout.quote(&crypto_code)?;
        let amount = quote.amount_in_crypto.as_ref()?;
        let amount = coins(&shortened(amount.as_str()), &quote.asset);
        Some((amount, quote.amount_in_usd?.as_str().to_owned()))
    });
    let mut is_shown = false;
    renewed(amounts, move |amounts| {
        let class = if is_shown { "moved" } else { "" };
        is_shown = true;
        let content = amounts.map(|(amount, usd)| {
            view! {
                <b class=class>
                    <Ltr text=amount />
                </b>
                <small>
                    <Ltr text=format!("≈ {}", i18n.money(&usd, "USD")) />
                </small>
            }
        });
        view! { <span class="cost">{content}</span> }.into_any()
    })
}

/// The asset's name; where it exists on several networks, with its network.
pub(super) fn name(checkout: Checkout, quote: &Quote) -> String {
    if !quote.network.is_empty() && checkout.has_several_networks(quote) {
        on_network(quote)
    } else {
        quote.asset_name.clone()
    }
}

/// `USDT · Tron`
fn on_network(quote: &Quote) -> String {
    format!("{} · {}", quote.asset, quote.network)
}

/// Why it cannot be chosen, else what the name leaves out.
pub(super) fn detail(checkout: Checkout, i18n: I18n, quote: &Quote) -> String {
    if let Some(reason) = quote.reason {
        why(i18n, quote, reason)
    } else if checkout.has_several_networks(quote) {
        quote.asset_name.clone()
    } else if !quote.network.is_empty() && quote.asset_name != quote.network {
        on_network(quote)
    } else {
        quote.asset.clone()
    }
}

fn why(i18n: I18n, quote: &Quote, reason: Unavailable) -> String {
    let limit = match reason {
        Unavailable::AboveMaximum => &quote.max,
        _ => &quote.min,
    };
    let limit = limit.as_ref().map(|limit| trimmed(limit.as_str()));
    let limit = coins(&limit.unwrap_or_default(), &quote.asset);
    match reason {
        Unavailable::BelowMinimum => i18n.text_with("below_minimum", &[("amount", &limit)]),
        Unavailable::AboveMaximum => i18n.text_with("above_maximum", &[("amount", &limit)]),
        Unavailable::NotPriced => i18n.text("not_priced"),
        Unavailable::UnknownAsset => i18n.text("unknown_asset"),
    }
}

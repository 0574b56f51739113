//! Which asset to pay in.
//!
//! Fresh prices change texts in their places: nothing is built anew, so that reading, typing and tabbing go on.

mod asset_row;
mod confirm_network;
mod search;

use checkout_api::Quote;
use leptos::prelude::*;

use self::asset_row::AssetRow;
use self::confirm_network::ConfirmNetwork;
use self::search::SearchField;
use crate::components::{Button, Heading, Look};
use crate::i18n::use_i18n;
use crate::state::{Quotes, use_checkout};

/// Bars in place of the list until the prices are there.
const AWAITED_ROWS: usize = 6;

/// The list of assets, each with what the order costs in it, or the network of the one that was picked.
#[component]
pub(super) fn PickAsset() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    checkout.confirming.set(String::new());
    if matches!(checkout.quotes.get_untracked(), Quotes::Awaited) {
        checkout.load_quotes();
    }
    let search = RwSignal::new(String::new());
    let is_confirming = move || checkout.confirming.with(|code| !code.is_empty());
    let back = checkout.is_choosing.get_untracked().then(|| {
        view! {
            <div class="actions">
                <Button
                    look=Look::Plain
                    text=i18n.text("back")
                    on_press=move || checkout.is_choosing.set(false)
                />
            </div>
        }
    });
    view! {
        <div class="screen" data-testid="status-open">
            <ConfirmNetwork />
            // Hidden, not removed: a customer who comes back finds it as it was.
            <div class="pick" hidden=is_confirming>
                <Heading text=i18n.text("choose") />
                <div class="hint" data-fresh=move || checkout.has_fresh_quotes.get().then_some("")>
                    <p>{i18n.text("choose_hint")}</p>
                    <FreshPrices />
                </div>
                <SearchField search=search />
                <NoPrices />
                <AssetList search=search />
                {back}
            </div>
        </div>
    }
}

/// Notes that the prices have changed: for eyes, since a screen reader hears an announcement.
#[component]
fn FreshPrices() -> impl IntoView {
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

/// In place of the list, or above one in which nothing can be chosen.
#[component]
fn NoPrices() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let is_missing = Memo::new(move |_| match checkout.quotes.get() {
        Quotes::Awaited => false,
        Quotes::Missing => true,
        Quotes::Shown(quotes) => !quotes.iter().any(|quote| quote.available),
    });
    let retry = move || {
        checkout.quotes.set(Quotes::Awaited);
        checkout.load_quotes();
    };
    move || {
        is_missing.get().then(|| {
            view! {
                <div class="box doubtful" part="box">
                    <p>{i18n.text("no_prices")}</p>
                    <Button
                        look=Look::Secondary
                        text=i18n.text("retry")
                        on_press=retry
                        test_id=Some("retry")
                    />
                </div>
            }
        })
    }
}

/// What the list is made of: it is built anew only when other assets are offered.
#[derive(Clone, PartialEq, Eq)]
enum Offer {
    Awaited,
    Missing,
    Assets(Vec<String>),
}

/// The assets.
#[component]
fn AssetList(search: RwSignal<String>) -> impl IntoView {
    let checkout = use_checkout();
    let offer = Memo::new(move |_| match checkout.quotes.get() {
        Quotes::Awaited => Offer::Awaited,
        Quotes::Missing => Offer::Missing,
        Quotes::Shown(quotes) => {
            let codes = quotes.iter().map(|quote| quote.crypto_code.clone());
            Offer::Assets(codes.collect())
        }
    });
    move || {
        let _ = offer.get();
        match checkout.quotes.get_untracked() {
            Quotes::Missing => ().into_any(),
            Quotes::Awaited => {
                let bars = (0..AWAITED_ROWS).map(|_| view! { <li class="bar"></li> });
                view! {
                    <ul class="options" aria-busy="true">
                        {bars.collect_view()}
                    </ul>
                }
                .into_any()
            }
            Quotes::Shown(quotes) => view! { <Options quotes=&quotes search=search /> }.into_any(),
        }
    }
}

/// The customer's last choice comes first; beside that the order is the proxy's.
#[component]
fn Options<'a>(quotes: &'a [Quote], search: RwSignal<String>) -> impl IntoView + use<> {
    let shared = use_checkout().shared();
    let last = shared
        .map(|shared| shared.host.recall())
        .unwrap_or_default();
    let is_last = |quote: &&Quote| quote.available && quote.crypto_code == last;
    let first = quotes.iter().filter(is_last).map(|quote| (quote, true));
    let others = quotes.iter().filter(|quote| !is_last(quote));
    let rows = first.chain(others.map(|quote| (quote, false)));
    let rows = rows.map(|(quote, is_last)| {
        view! { <AssetRow quote=quote search=search is_last=is_last /> }
    });
    // The role is explicit: without its bullets Safari takes it for no list.
    view! {
        <ul class="options" role="list">
            {rows.collect_view()}
        </ul>
    }
}

//! The choice of the asset.
//!
//! Fresh prices change texts in their places: nothing is built anew, so that reading, typing and tabbing go on. In a long
//! list those of one coin are one row, and its networks the next step: other rows of the same list.

mod asset_row;
mod confirm_network;
mod search;

use florin_checkout_api::{Quote, Unavailable as Reason, WalletKind};
use leptos::prelude::*;

use self::asset_row::{AssetRow, CoinRow, FreshPrices, WalletRow};
use self::confirm_network::ConfirmNetwork;
use self::search::SearchField;
use crate::components::{Button, Heading, Look, focus};
use crate::i18n::use_i18n;
use crate::state::{COIN_ROW, Checkout, Quotes, WALLET_ROW, use_checkout};

const AWAITED_ROWS: usize = 6;

/// The list of assets, each with what the order costs in it, or the network of the one that was picked.
#[component]
pub(super) fn PickAsset() -> impl IntoView {
    let checkout = use_checkout();
    checkout.confirming.set(String::new());
    checkout.within.set(String::new());
    if matches!(checkout.quotes.get_untracked(), Quotes::Awaited) {
        checkout.load_quotes();
    }
    let search = RwSignal::new(String::new());
    let is_confirming = move || checkout.confirming.with(|code| !code.is_empty());
    view! {
        <div class="screen" data-testid="status-open">
            <ConfirmNetwork />
            // Hidden, not removed: a customer who comes back finds it as it was.
            <div class="pick" hidden=is_confirming>
                {move || head(checkout)}
                <SearchField search=search />
                <NoPrices />
                <AssetList search=search />
                <Back />
            </div>
        </div>
    }
}

fn head(checkout: Checkout) -> AnyView {
    let i18n = checkout.i18n;
    let within = checkout.within.get();
    let coin = within.strip_prefix(COIN_ROW);
    let heading = if let Some(coin) = coin {
        i18n.text_with("choose_network", &[("asset", coin)])
    } else if let Some(wallet) = within.strip_prefix(WALLET_ROW) {
        i18n.text_with("wallet_pay", &[("wallet", wallet)])
    } else {
        i18n.text("choose")
    };
    let hint = if coin.is_some() {
        i18n.text("choose_network_hint")
    } else {
        let offer = checkout.offer.get_untracked();
        let price = offer.map(|offer| i18n.money(offer.amount.as_str(), &offer.currency));
        // Isolated (U+2066, U+2069), so that no language around it reorders its signs.
        let price = format!("\u{2066}{}\u{2069}", price.unwrap_or_default());
        i18n.text_with("choose_price", &[("price", &price)])
    };
    view! {
        <Heading text=heading />
        <div class="hint" data-fresh=move || checkout.has_fresh_quotes.get().then_some("")>
            <p>{hint}</p>
            <FreshPrices />
        </div>
    }
    .into_any()
}

/// From the networks of a coin, or the assets of a wallet, back to all assets; from those back to the payment that the customer
/// left.
#[component]
fn Back() -> impl IntoView {
    let checkout = use_checkout();
    let is_leaving = checkout.is_choosing.get_untracked();
    let back = move || {
        checkout.forget_press();
        let row = checkout.within.get_untracked();
        if row.is_empty() {
            checkout.is_choosing.set(false);
        } else {
            checkout.within.set(String::new());
            focus(checkout, format!("[data-testid=\"{row}\"]"));
        }
    };
    let is_hidden = move || !is_leaving && checkout.within.with(String::is_empty);
    view! {
        <div class="actions" hidden=is_hidden>
            <Button
                look=Look::Plain
                text=checkout.i18n.text("back")
                on_press=back
                test_id=Some("back")
            />
        </div>
    }
}

/// In place of the list, or above one in which nothing can be chosen and that may change: limits have their reasons in the rows, and
/// a currency that cannot be paid has a banner.
#[component]
fn NoPrices() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let is_missing = Memo::new(move |_| match checkout.quotes.get() {
        Quotes::Awaited => false,
        Quotes::Missing => !checkout.has_unpriced_currency(),
        Quotes::Shown(quotes) => {
            let is_unpriced = |quote: &Quote| quote.reason == Some(Reason::NotPriced);
            let is_any_available = quotes.iter().any(|quote| quote.available);
            quotes.is_empty() || !is_any_available && quotes.iter().any(is_unpriced)
        }
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
enum Rows {
    Awaited,
    Missing,
    Assets(Vec<String>),
}

#[component]
fn AssetList(search: RwSignal<String>) -> impl IntoView {
    let checkout = use_checkout();
    let rows = Memo::new(move |_| match checkout.quotes.get() {
        Quotes::Awaited => Rows::Awaited,
        Quotes::Missing => Rows::Missing,
        Quotes::Shown(quotes) => {
            let codes = quotes.iter().map(|quote| quote.crypto_code.clone());
            Rows::Assets(codes.collect())
        }
    });
    move || {
        let _ = rows.get();
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

/// The customer's last choice comes first, even before its coin; beside that the order is the proxy's.
#[component]
fn Options<'a>(quotes: &'a [Quote], search: RwSignal<String>) -> impl IntoView + use<> {
    let checkout = use_checkout();
    let shared = checkout.shared();
    let last = shared
        .as_ref()
        .map(|shared| shared.host.recall())
        .unwrap_or_default();
    let wallets = shared.map(|shared| shared.host.announced_wallets());
    let wallets = wallets.unwrap_or_default();
    let mut rows: Vec<AnyView> = Vec::new();
    let mut wallet_rows: Vec<(String, Vec<&Quote>)> = Vec::new();
    for [name, icon, kind] in wallets.as_chunks().0 {
        let kind = if kind == "tron" {
            WalletKind::Tron
        } else {
            WalletKind::Evm
        };
        let payable = quotes
            .iter()
            .filter(|quote| quote.available && quote.wallet == Some(kind));
        let payable: Vec<&Quote> = payable.collect();
        if payable.is_empty() {
            continue;
        }
        let row = format!("{WALLET_ROW}{name}");
        let shown =
            view! { <WalletRow row=&row name=name icon=icon payable=&payable search=search /> };
        rows.push(shown.into_any());
        wallet_rows.push((row, payable));
    }
    let mut off = Vec::new();
    let mut coins: Vec<&str> = Vec::new();
    for quote in quotes {
        let is_same = |other: &&Quote| other.asset == quote.asset;
        let coin: Vec<_> = quotes.iter().filter(is_same).collect();
        if quote.is_folded && !coins.contains(&quote.asset.as_str()) {
            coins.push(&quote.asset);
            let row = view! { <CoinRow coin=&coin search=search /> }.into_any();
            if coin.iter().any(|quote| quote.available) {
                rows.push(row);
            } else {
                off.push(row);
            }
        }
        let is_last = quote.available && quote.crypto_code == last;
        let has = |(_, payable): &&(String, Vec<&Quote>)| payable.contains(&quote);
        let mut led_to_by = vec![format!("{COIN_ROW}{}", quote.asset)];
        led_to_by.extend(wallet_rows.iter().filter(has).map(|(row, _)| row.clone()));
        let row =
            view! { <AssetRow quote=quote search=search is_last=is_last led_to_by=led_to_by /> };
        let row = row.into_any();
        // The networks of a coin are shown in its step, whether or not they can be chosen.
        if quote.available || quote.is_folded {
            rows.insert(if is_last { 0 } else { rows.len() }, row);
        } else {
            off.push(row);
        }
    }
    // A coin may go with fresh prices while its networks are on the screen.
    let within = checkout.within.get_untracked();
    if within
        .strip_prefix(COIN_ROW)
        .is_some_and(|coin| !coins.contains(&coin))
    {
        checkout.within.set(String::new());
    }
    // The role is explicit: without its bullets Safari takes it for no list.
    view! {
        <div class="rows">
            <ul class="options" role="list">
                {rows}
            </ul>
            <Unavailable
                rows=off
                search=search
                is_open=!quotes.iter().any(|quote| quote.available)
            />
        </div>
    }
}

/// The assets that cannot be chosen, folded unless there are no others.
#[component]
fn Unavailable(rows: Vec<AnyView>, search: RwSignal<String>, is_open: bool) -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let count = u32::try_from(rows.len()).unwrap_or(u32::MAX);
    (count > 0).then(|| {
        let number = i18n.number(&count.to_string());
        let text = i18n.plural("unavailable_more", count, &[("count", &number)]);
        view! {
            <details
                data-testid="unavailable"
                prop:open=move || is_open || search.with(|typed| !typed.is_empty())
                hidden=move || checkout.within.with(|row| !row.is_empty())
            >
                <summary class="quiet">{text}</summary>
                <ul class="options" role="list">
                    {rows}
                </ul>
            </details>
        }
    })
}

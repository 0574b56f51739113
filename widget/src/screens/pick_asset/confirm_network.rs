//! The network of an asset that exists on several, confirmed before an address is requested.

use florin_checkout_api::Quote;
use florin_money::Network;
use leptos::prelude::*;

use super::asset_row::{Cost, FreshPrices, detail};
use crate::components::{AssetIcon, Button, Heading, Look, Ltr, Sentence, focus, focus_heading};
use crate::i18n::use_i18n;
use crate::state::use_checkout;

#[component]
pub(super) fn ConfirmNetwork() -> impl IntoView {
    let checkout = use_checkout();
    move || {
        let code = checkout.confirming.get();
        let quote = untrack(|| checkout.quote(&code))?;
        focus_heading(checkout);
        Some(view! { <Step quote=&quote /> })
    }
}

/// Prices go on changing in it: the price that it shows is the one that is taken.
#[component]
fn Step<'a>(quote: &'a Quote) -> impl IntoView + use<> {
    let i18n = use_i18n();
    let names = [
        ("asset", quote.asset.as_str()),
        ("network", quote.network.as_str()),
    ];
    view! {
        <div class="step" data-testid="network">
            <Heading text=i18n.text_with("network", &names) />
            <div class="option" part="option">
                <AssetIcon quote=quote has_badge=true />
                <span class="what">
                    <b>{quote.asset_name.clone()}</b>
                    <small>{format!("{} · {}", quote.asset, quote.network)}</small>
                </span>
                <Cost codes=vec![quote.crypto_code.clone()] />
            </div>
            <p class="loss">{i18n.text_with("network_hint", &names)}</p>
            <NetworkNames network=&quote.network />
            <Actions quote=quote />
            <FreshPrices />
        </div>
    }
}

#[component]
fn NetworkNames<'a>(network: &'a str) -> impl IntoView + use<> {
    Network::of(network).map(|known| {
        let example = (!known.example.is_empty()).then(|| {
            view! {
                <Sentence key="address_example" network=network>
                    <Ltr text=known.example class="shape" />
                </Sentence>
            }
        });
        view! {
            <Sentence key="network_called">
                <Ltr text=known.names />
            </Sentence>
            {example}
        }
    })
}

#[component]
fn Actions<'a>(quote: &'a Quote) -> impl IntoView + use<> {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let (code, asset) = (quote.crypto_code.clone(), quote.asset.clone());
    let back = move || {
        checkout.forget_press();
        checkout.confirming.set(String::new());
        // A network of a coin has no row in the list of coins, where `asset` may have led past it.
        let rows = [format!("asset-{code}"), format!("networks-{asset}")];
        let rows = rows.map(|row| format!(":not([hidden]) > [data-testid=\"{row}\"]"));
        focus(checkout, rows.join(", "));
    };
    let code = quote.crypto_code.clone();
    let unavailable = move || {
        let text = match checkout.quote(&code) {
            Some(quote) if quote.available => return None,
            Some(quote) => detail(checkout, &quote),
            None => i18n.text("asset_gone"),
        };
        Some(view! { <p>{text}</p> })
    };
    let code = quote.crypto_code.clone();
    let confirm = move || {
        let quote = untrack(|| checkout.quote(&code));
        if let Some(quote) = quote.filter(|quote| quote.available) {
            checkout.accept(quote);
        }
    };
    let names = [("network", quote.network.as_str())];
    view! {
        <div class="ways">
            {unavailable} <div class="actions">
                <Button
                    look=Look::Primary
                    text=i18n.text_with("network_confirm", &names)
                    on_press=confirm
                    test_id=Some("network-confirm")
                    waits=true
                />
                <Button
                    look=Look::Plain
                    text=i18n.text("back")
                    on_press=back
                    test_id=Some("network-back")
                />
            </div>
        </div>
    }
}

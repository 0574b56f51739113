//! Payment by a wallet of this browser or of this phone. What it shows is a script, which is loaded when this is
//! (`widget/js/wallets.js`).

use florin_checkout_api::{AttemptView, Environment, OrderView};
use js_sys::Reflect;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsValue;
use wasm_bindgen::closure::Closure;

use super::help::due;
use crate::browser::object;
use crate::format::links;
use crate::state::use_checkout;

/// The wallets that can pay an attempt. `is_progress`: only how far a payment by one of them is.
#[component]
pub(in crate::screens) fn Wallets<'a>(
    order: &'a OrderView,
    attempt: &'a AttemptView,
    #[prop(optional)] is_progress: bool,
) -> impl IntoView + use<> {
    let checkout = use_checkout();
    // Where nothing names the payment, a wallet could be asked for another one.
    if !links::is_wallet(&attempt.qr_string, &attempt.address) && attempt.tron_transaction.is_none()
    {
        return None;
    }
    let is_test = order.environment == Environment::Test;
    let hint = attempt.transaction_hint.as_deref();
    let page = checkout.shared();
    let page = page.map(|shared| shared.connection.link(&order.store.id));
    let page = page.unwrap_or_default();
    let payment = object(&[
        ("order", &order.id),
        ("code", &attempt.crypto_code),
        ("amount", due(attempt)),
        ("isTest", if is_test { "1" } else { "" }),
        ("address", &attempt.address),
        ("uri", &attempt.qr_string),
        ("asset", &attempt.asset),
        ("network", &attempt.network),
        ("hint", hint.unwrap_or_default()),
        ("page", &page),
    ]);
    let insert = |name, value: &JsValue| {
        // A fresh, extensible object takes every member.
        let _ = Reflect::set(&payment, &JsValue::from_str(name), value);
    };
    let transaction = attempt.evm_transaction.as_ref();
    let transaction = transaction.or(attempt.tron_transaction.as_ref());
    let text = |part: Option<&String>| JsValue::from_str(part.map_or("", |part| part));
    insert("chainId", &text(transaction.map(|one| &one.chain_id)));
    insert("to", &text(transaction.map(|one| &one.to)));
    insert("value", &text(transaction.map(|one| &one.value)));
    insert("data", &text(transaction.map(|one| &one.data)));
    let sent = move |transaction: String| {
        if let Some((hash, address)) = transaction.split_once(' ') {
            checkout.report_transaction(hash.to_owned(), address.to_owned());
        }
    };
    let announce = move |text| {
        if !checkout.is_removed() {
            checkout.announce(text);
        }
    };
    for (name, takes) in [
        ("sent", Closure::<dyn Fn(String)>::new(sent)),
        ("announce", Closure::new(announce)),
    ] {
        insert(name, &takes.into_js_value());
    }
    let place = NodeRef::<html::Div>::new();
    place.on_load(move |place| {
        if let Some(shared) = checkout.shared() {
            shared.host.wallets(&place, &payment, is_progress);
        }
    });
    Some(view! { <div class="wallets" node_ref=place data-testid="wallets"></div> })
}

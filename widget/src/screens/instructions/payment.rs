//! What is to be sent, as the page's script takes it: to draw it, and for the wallets of this browser.

use florin_checkout_api::{AttemptView, Environment, OrderView, QrCode};
use js_sys::{JSON, Object};
use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::closure::Closure;

use super::help::due;
use crate::browser::{insert, object};
use crate::state::phase::is_partly_paid;
use crate::state::{Checkout, use_checkout};

/// `WalletPayment` of widget/js/types.d.ts, without what is drawn.
fn payment(checkout: Checkout, order: &OrderView, attempt: &AttemptView) -> Object {
    let is_rest = is_partly_paid(attempt);
    let flag = |is_set| if is_set { "1" } else { "" };
    let page = checkout.shared();
    let page = page.map(|shared| shared.connection.link(&order.store.id));
    let transaction = attempt.evm_transaction.as_ref();
    let transaction = transaction.or(attempt.tron_transaction.as_ref());
    let of_transaction = transaction.map_or([""; 4], |one| {
        [&one.chain_id, &one.to, &one.value, &one.data].map(String::as_str)
    });
    let [chain_id, to, value, data] = of_transaction;
    let (price, currency) = if is_rest {
        let remaining = attempt.remaining_in_local_currency.as_ref();
        (remaining, &attempt.local_currency_code)
    } else {
        (Some(&order.amount), &order.currency)
    };
    let rate = attempt.rate_in_local_currency.as_ref();
    let payment = object(&[
        ("order", &order.id),
        ("store", &order.store.name),
        ("code", &attempt.crypto_code),
        ("asset", &attempt.asset),
        ("network", &attempt.network),
        ("amount", due(attempt)),
        ("isRest", flag(is_rest)),
        ("price", price.map_or("", |price| price.as_str())),
        ("currency", currency),
        ("rate", rate.map_or("", |rate| rate.as_str())),
        ("rateCurrency", &attempt.local_currency_code),
        ("isTest", flag(order.environment == Environment::Test)),
        ("isVerified", flag(attempt.verified)),
        ("address", &attempt.address),
        ("uri", &attempt.qr_string),
        (
            "hint",
            attempt.transaction_hint.as_deref().unwrap_or_default(),
        ),
        ("page", &page.unwrap_or_default()),
        ("sentTitle", &checkout.i18n.text("payment_sent")),
        ("chainId", chain_id),
        ("to", to),
        ("value", value),
        ("data", data),
    ]);
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
        insert(&payment, name, &takes.into_js_value());
    }
    payment
}

/// The same with its codes and its warnings.
pub(super) fn payment_to_draw(
    checkout: Checkout,
    order: &OrderView,
    attempt: &AttemptView,
) -> Object {
    let payment = payment(checkout, order, attempt);
    for (name, text) in [("qr", &attempt.qr_string), ("bareQr", &attempt.address)] {
        if let Some(code) = QrCode::draw(text) {
            let parts = [("side", &*code.side.to_string()), ("path", &*code.path)];
            insert(&payment, name, &object(&parts));
        }
    }
    let warnings = serde_json::to_string(&attempt.warnings).expect("texts become JSON");
    let warnings = JSON::parse(&warnings).expect("it is JSON");
    insert(&payment, "warnings", &warnings);
    payment
}

/// How far a payment by a wallet of this browser is: shown by `widget/js/wallets.js`.
#[component]
pub(in crate::screens) fn PaymentByWallet<'a>(
    order: &'a OrderView,
    attempt: &'a AttemptView,
) -> impl IntoView + use<> {
    let checkout = use_checkout();
    let payment = payment(checkout, order, attempt);
    let place = NodeRef::<Div>::new();
    place.on_load(move |place| {
        if let Some(shared) = checkout.shared() {
            shared.host.wallets(&place, &payment);
        }
    });
    view! { <div class="wallets" node_ref=place data-testid="wallets"></div> }
}

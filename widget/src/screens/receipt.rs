//! The receipt: a button on the screen, a sheet on paper.

use florin_checkout_api::{Environment, OrderView, SignedReceipt};
use leptos::prelude::*;

use crate::components::{Button, Drawing, Look, Ltr, coins};
use crate::format::qr_path;
use crate::i18n::use_i18n;
use crate::state::use_checkout;

/// "Print receipt".
#[component]
pub(super) fn PrintButton() -> impl IntoView {
    let checkout = use_checkout();
    view! {
        <Button
            look=Look::Secondary
            text=use_i18n().text("print")
            on_press=move || checkout.print_receipt()
            test_id=Some("print-receipt")
        />
    }
}

/// The sheet that is printed, once the proxy has signed it. It is hidden on the screen.
#[component]
pub(super) fn ReceiptSheet() -> impl IntoView {
    let checkout = use_checkout();
    let content = move || {
        let receipt = checkout.receipt.get()?;
        let order = checkout.order.get_untracked()?;
        Some(view! { <Sheet order=&order signed=&receipt /> })
    };
    view! {
        <div class="receipt" data-testid="receipt">
            {content}
        </div>
    }
}

/// `signed` is the answer of GET /v1/checkout/receipt; what it lacks is left out.
#[component]
fn Sheet<'a>(order: &'a OrderView, signed: &'a SignedReceipt) -> impl IntoView + use<> {
    let i18n = use_i18n();
    let receipt = &signed.receipt;
    let or_empty = |text: &Option<String>| text.clone().unwrap_or_default();
    let is_test = order.environment == Environment::Test;
    let price = i18n.money(order.amount.as_str(), &order.currency);
    let paid = coins(&receipt.received_in_crypto, &or_empty(&receipt.asset));
    let paid = format!("{paid} · {}", or_empty(&receipt.network));
    let rows = [
        ("receipt_date", i18n.moment(&receipt.paid_at)),
        ("receipt_reference", receipt.reference.clone()),
        ("receipt_order", order.id.clone()),
        ("receipt_paid", paid),
        ("receipt_address", or_empty(&receipt.address)),
        ("receipt_transaction", or_empty(&receipt.transaction_hash)),
    ];
    let rows = rows.into_iter().filter(|(_, value)| !value.is_empty());
    let rows = rows.map(|(key, value)| {
        view! {
            <dt>{i18n.text(key)}</dt>
            <dd>
                <bdi>{value}</bdi>
            </dd>
        }
    });
    let store = order.store.name.clone();
    let proof = signed.code.clone();
    let proof = proof.map(|code| view! { <Proof code=code store=store.clone() /> });
    view! {
        <div>
            <p class="from">
                <bdi>{store}</bdi>
            </p>
            <h2 part="heading">{i18n.text("receipt")}</h2>
            {is_test.then(|| view! { <p class="test">{i18n.text("test_hint")}</p> })}
            <p class="sum">
                <bdi>{order.title.clone()}</bdi>
                <Ltr text=price />
            </p>
            <dl>{rows.collect_view()}</dl>
            {proof}
        </div>
    }
}

/// The code by which the store verifies the receipt, for eyes and for a camera.
#[component]
fn Proof(code: String, store: String) -> impl IntoView {
    let i18n = use_i18n();
    let drawn = qr_path::draw(&code).map(|drawn| {
        let view_box = format!("0 0 {0} {0}", drawn.side);
        view! { <Drawing view_box=view_box path=drawn.path /> }
    });
    view! {
        <div class="proof">
            {drawn} <div>
                <p class="label">{i18n.text("receipt_code")}</p>
                <Ltr text=code test_id="receipt-code" />
                <p class="quiet">{i18n.text_with("receipt_hint", &[("store", &store)])}</p>
            </div>
        </div>
    }
}

//! What was paid, as one list.

use florin_checkout_api::OrderView;
use leptos::prelude::*;

use crate::components::{CopyButton, ExplorerLink, Ltr, coins};
use crate::format::short_amount::trimmed;
use crate::i18n::{I18n, use_i18n};
use crate::state::use_checkout;

/// Amount, network, time, reference and transaction; the last two to copy.
#[component]
pub(super) fn Facts() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    // What a later answer about a paid order may change.
    let changes = checkout.follow(|_, attempt| {
        let hash = attempt.transaction_hash.clone().unwrap_or_default();
        Some(hash + attempt.received_in_crypto.as_str())
    });
    move || {
        changes.track();
        let order = checkout.order.get_untracked()?;
        let rows = rows(i18n, &order).into_iter().flatten();
        let rows: Vec<_> = rows.map(|(key, value)| row(i18n, key, value)).collect();
        Some(view! {
            <dl class="facts" data-testid="facts">
                {rows}
            </dl>
        })
    }
}

fn row(i18n: I18n, key: &'static str, value: AnyView) -> AnyView {
    view! {
        <div class="fact">
            <dt>{i18n.text(key)}</dt>
            <dd>{value}</dd>
        </div>
    }
    .into_any()
}

/// The rows that there are, each the key of its label with its value.
fn rows(i18n: I18n, order: &OrderView) -> [Option<(&'static str, AnyView)>; 5] {
    let attempt = order.attempt.as_ref();
    let time = order.paid_at.as_ref().map(|time| i18n.moment(time));
    let transaction = attempt.and_then(|attempt| {
        let hash = attempt.transaction_hash.clone()?;
        let url = attempt.explorer_url.clone();
        Some(view! {
            <div>
                <Ltr class="hash" text=hash.clone() test_id="transaction" />
                <ExplorerLink url=url />
            </div>
            <CopyButton
                id="copy-transaction"
                place=".hash"
                value=hash
                label=Some(i18n.text("copy_transaction"))
            />
        })
    });
    let reference = view! {
        <Ltr class="id" text=order.id.clone() />
        <CopyButton
            id="copy-reference"
            place=".id"
            value=order.id.clone()
            label=Some(i18n.text("copy_reference"))
        />
    };
    [
        Some(("label_amount", amount(i18n, order))),
        attempt.map(|attempt| ("label_network", attempt.network.clone().into_any())),
        time.map(|time| ("label_time", time.into_any())),
        Some(("label_reference", reference.into_any())),
        transaction.map(|transaction| ("transaction", transaction.into_any())),
    ]
}

/// What has arrived, in the asset and in money. Of an order that was paid on the gateway's own page it is the price.
fn amount(i18n: I18n, order: &OrderView) -> AnyView {
    let Some(attempt) = &order.attempt else {
        let price = i18n.money(order.amount.as_str(), &order.currency);
        return view! { <Ltr text=price /> }.into_any();
    };
    let received = trimmed(attempt.received_in_crypto.as_str());
    let received = coins(&received, &attempt.asset);
    let local = attempt.received_in_local_currency.as_ref();
    let local = local.map(|local| {
        let local = i18n.money(local.as_str(), &attempt.local_currency_code);
        view! { <Ltr class="local" text=format!("≈ {local}") /> }
    });
    view! {
        <div>
            <Ltr text=received />
            " "
            {local}
        </div>
    }
    .into_any()
}

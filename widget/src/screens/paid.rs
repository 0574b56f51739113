//! The order is paid.

use florin_checkout_api::{LatePayment, OrderView};
use leptos::prelude::*;

use super::receipt::{AskForEmail, PrintButton, ReceiptSheet};
use super::refund::AskForRefundAddress;
use crate::components::{
    CopyButton, Drawing, ExplorerLink, Hash, HelpLink, Look, Ltr, NewPurchaseButton,
    OrderReference, ReturnLink, Sentence, TICK, coins, isolated,
};
use crate::i18n::{I18n, use_i18n};
use crate::state::use_checkout;
use florin_money::trimmed;

#[component]
pub(super) fn Paid() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let order = checkout.order.get_untracked()?;
    if checkout.receipt.with_untracked(Option::is_none) {
        checkout.load_receipt(false);
    }
    let store = [("store", order.store.name.as_str())];
    let is_named = Memo::new(move |_| {
        checkout.order.with(|order| {
            order
                .as_ref()
                .is_some_and(|order| order.refund_address.is_some())
        })
    });
    let excess = excess(i18n, &order).map(|excess| {
        let hint = i18n.text_with("refund_hint", &store);
        view! {
            <div class="box" part="box">
                <Sentence key="overpaid">
                    <Ltr text=excess />
                </Sentence>
                <AskForRefundAddress />
                {move || (!is_named.get()).then(|| view! { <p>{hint.clone()}</p> })}
                <OrderReference order=&order />
                <HelpLink class="plain" part="button plain" />
            </div>
        }
    });
    let asks_below = excess.is_none();
    let test = format!("status-{}", <&str>::from(order.status));
    let thanks = i18n.text_with("thanks", &store);
    let is_reverted = Memo::new(move |_| {
        checkout
            .order
            .with(|order| order.as_ref().is_some_and(|order| order.reverted))
    });
    let price = isolated(&checkout.money(order.amount.as_str()));
    let heading = move || {
        if is_reverted.get() {
            i18n.text("payment_problem")
        } else {
            i18n.text_with("paid_amount", &[("price", &price)])
        }
    };
    // The gateway's own page asks for the address itself.
    let asks_for_email = !order.email_kept && order.attempt.is_some() && !order.reverted;
    Some(view! {
        <div class="screen done" data-testid=test>
            {move || {
                if is_reverted.get() {
                    view! {
                        <div class="mark doubtful" aria-hidden="true">
                            "!"
                        </div>
                    }
                        .into_any()
                } else {
                    view! { <Drawing class="tick" view_box="0 0 24 24" path=TICK /> }.into_any()
                }
            }}
            <h2 tabindex="-1" part="heading">
                {heading}
            </h2>
            {move || (!is_reverted.get()).then(|| view! { <p>{thanks.clone()}</p> })}
            {excess}
            <WhatNext />
            {asks_below.then(|| view! { <AskForRefundAddress /> })}
            <div class="actions">
                {move || {
                    let look = if is_reverted.get() { Look::Secondary } else { Look::Primary };
                    view! { <ReturnLink look=look /> }
                }} {move || (!is_reverted.get()).then(|| view! { <PrintButton /> })}
                {move || {
                    (!is_reverted.get()).then(|| view! { <NewPurchaseButton look=Look::Plain /> })
                }}
            </div>
            <OrderDetails />
            {asks_for_email
                .then(|| {
                    view! {
                        <AskForEmail label="email" action="email_receipt" look=Look::Secondary />
                    }
                })}
            <ReceiptSheet />
        </div>
    })
}

/// The key of what has become of the payment since: taken back, followed by another one, or late and counted.
fn news(order: &OrderView) -> Option<&'static str> {
    match order.late_payment {
        _ if order.reverted => Some("reverted"),
        Some(LatePayment::Second) => Some("second_payment"),
        Some(LatePayment::Counted) => Some("late"),
        None => None,
    }
}

#[component]
fn WhatNext() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let news = Memo::new(move |_| {
        checkout
            .order
            .with(|order| order.as_ref().and_then(|order| news(order)))
    });
    move || {
        let key = news.get()?;
        let (class, help) = match key {
            // To contact the store is the next step.
            "reverted" => ("box doubtful", Some(Look::Primary)),
            "second_payment" => ("box", Some(Look::Plain)),
            _ => ("box", None),
        };
        let help = help.map(|look| view! { <HelpLink class=look.class() part=look.part() /> });
        let text = i18n.text_with(key, &[("store", &checkout.store_name())]);
        checkout.announce(text.clone());
        Some(view! {
            <div class=class part="box" data-testid=key>
                <p>{text}</p>
                {help}
            </div>
        })
    }
}

/// What arrived beyond the price: `0.00009027 BTC (≈ $5.80)`.
fn excess(i18n: I18n, order: &OrderView) -> Option<String> {
    let attempt = order.attempt.as_ref()?;
    let excess = attempt.excess_in_crypto.as_ref()?;
    let coins = coins(excess.as_str(), &attempt.asset);
    let local = attempt.excess_in_local_currency.as_ref();
    Some(match local {
        Some(local) => {
            let local = i18n.money(local.as_str(), &attempt.local_currency_code);
            format!("{coins} (≈\u{a0}{local})")
        }
        None => coins,
    })
}

/// Amount, network, time, reference and transaction; the last two to copy.
#[component]
fn OrderDetails() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    // What a later response about a paid order may change.
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

fn rows(i18n: I18n, order: &OrderView) -> [Option<(&'static str, AnyView)>; 5] {
    let attempt = order.attempt.as_ref();
    let paid_at = order.paid_at.as_ref();
    let time = paid_at.map(|time| i18n.moment(time, "short"));
    let transaction = attempt.and_then(|attempt| {
        let hash = attempt.transaction_hash.clone()?;
        let url = attempt.explorer_url.clone();
        Some(view! {
            <div>
                <Hash hash=&hash />
                <ExplorerLink url=url />
            </div>
            <CopyButton
                id="copy-transaction"
                place=".hash"
                value=hash
                label=i18n.text("copy_transaction")
            />
        })
    });
    // Money that is owed is asked for with the reference, which stands there.
    let is_owed = attempt.is_some_and(|attempt| attempt.excess_in_crypto.is_some());
    let reference = (!is_owed).then(|| {
        view! {
            <Ltr class="id" text=order.id.clone() />
            <CopyButton
                id="copy-reference"
                place=".id"
                value=order.id.clone()
                label=i18n.text("copy_reference")
            />
        }
    });
    [
        Some(("label_amount", amount(i18n, order))),
        attempt.map(|attempt| ("label_network", attempt.network.clone().into_any())),
        time.map(|time| ("label_time", time.into_any())),
        reference.map(|reference| ("label_reference", reference.into_any())),
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

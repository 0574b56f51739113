//! What was paid, as one list.

use checkout_api::{AttemptView, OrderView};
use leptos::prelude::*;

use crate::components::{CopyButton, ExplorerLink, Ltr, coins};
use crate::i18n::{I18n, use_i18n};
use crate::state::use_checkout;

/// What a later answer about a paid order may change.
#[derive(Clone, Default, PartialEq, Eq)]
struct Arrival {
    /// What has arrived, in the asset.
    amount: String,
    /// The same in money; absent where the proxy does not say it.
    local: Option<String>,
    hash: Option<String>,
    explorer_url: Option<String>,
}

impl Arrival {
    fn of(i18n: I18n, attempt: &AttemptView) -> Self {
        let local = attempt.received_in_local_currency.as_ref();
        Self {
            amount: coins(attempt.received_in_crypto.as_str(), &attempt.asset),
            local: local.map(|local| i18n.money(local.as_str(), &attempt.local_currency_code)),
            hash: attempt.transaction_hash.clone(),
            explorer_url: attempt.explorer_url.clone(),
        }
    }
}

/// Amount, network, time, reference and transaction; the last two to copy. Of an order that was paid on the gateway's own
/// page the amount is its price, and the network is not known.
#[component]
pub(super) fn Facts<'a>(order: &'a OrderView) -> impl IntoView + use<> {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let price = i18n.money(order.amount.as_str(), &order.currency);
    let network = order.attempt.as_ref().map(|one| one.network.clone());
    let time = order.paid_at.as_ref().map(|time| i18n.moment(time));
    let id = order.id.clone();
    let arrival = Memo::new(move |_| {
        checkout.order.with(|order| {
            let attempt = order.as_ref()?.attempt.as_ref()?;
            Some(Arrival::of(i18n, attempt))
        })
    });
    move || {
        let arrival = arrival.get();
        let amount = match &arrival {
            Some(Arrival { amount, local, .. }) => {
                let local = local.as_ref();
                let local =
                    local.map(|local| view! { <Ltr class="local" text=format!("≈ {local}") /> });
                view! {
                    <Ltr text=amount.clone() />
                    " "
                    {local}
                }
                .into_any()
            }
            None => view! { <Ltr text=price.clone() /> }.into_any(),
        };
        let reference = view! {
            <Ltr class="id" text=id.clone() />
            <CopyButton
                id="copy-reference"
                place=".id"
                value=id.clone()
                label=Some(i18n.text("copy_reference"))
            />
        };
        let arrival = arrival.unwrap_or_default();
        let url = arrival.explorer_url;
        let transaction = arrival.hash.map(|hash| {
            view! {
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
            }
            .into_any()
        });
        let rows = [
            (
                "label_amount",
                Some(view! { <div>{amount}</div> }.into_any()),
            ),
            ("label_network", network.clone().map(IntoAny::into_any)),
            ("label_time", time.clone().map(IntoAny::into_any)),
            ("label_reference", Some(reference.into_any())),
            ("transaction", transaction),
        ];
        let rows = rows.into_iter().filter_map(|(key, value)| {
            let value = value?;
            let row = view! {
                <div class="fact">
                    <dt>{i18n.text(key)}</dt>
                    <dd>{value}</dd>
                </div>
            };
            Some(row.into_any())
        });
        view! {
            <dl class="facts" part="box" data-testid="facts">
                {rows.collect_view()}
            </dl>
        }
    }
}

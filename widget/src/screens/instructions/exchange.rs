//! Help for a payment from an exchange, the most frequent cause of underpayments.

use florin_checkout_api::AttemptView;
use leptos::prelude::*;

use super::aid::{Aid, due};
use crate::components::{Ltr, Sentence, coins};
use crate::format::networks;
use crate::i18n::use_i18n;
use crate::state::use_checkout;

/// The network's names there, the fee, the minimum withdrawal, and the time it takes.
#[component]
pub(super) fn ExchangeHelp<'a>(attempt: &'a AttemptView) -> impl IntoView + use<> {
    let network = networks::known(&attempt.network);
    let names = network.map_or(attempt.network.as_str(), |network| network.names);
    let names = names.to_owned();
    let amount = coins(due(attempt), &attempt.asset);
    let least = amount.clone();
    let store = use_checkout().store_name();
    let time = use_i18n().text_with("exchange_time", &[("store", &store)]);
    view! {
        <Aid name="exchange">
            <Sentence key="exchange_network">
                <Ltr text=names />
            </Sentence>
            <Sentence key="exchange_fee">
                <Ltr text=amount />
            </Sentence>
            <Sentence key="exchange_minimum">
                <Ltr text=least />
            </Sentence>
            <p>{time}</p>
        </Aid>
    }
}

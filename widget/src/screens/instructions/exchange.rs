//! Help for who sends from an exchange, the most frequent cause of too little arriving.

use checkout_api::{AttemptView, OrderView};
use web_sys::Node;

use crate::checkout::Checkout;
use crate::network;
use crate::screens::{coins, ltr, paragraph, with_gap};

use super::{aid, due, summary};

/// The network's names there, the fee, the least that they send, and the time they take.
pub(super) fn show(checkout: Checkout, order: &OrderView, attempt: &AttemptView) -> Node {
    let network = network::known(&attempt.network);
    let names = network.map_or(attempt.network.as_str(), |network| network.names);
    let amount = coins(due(attempt), &attempt.asset);
    let lines = [
        ("exchange_network", names),
        ("exchange_fee", &amount),
        ("exchange_minimum", &amount),
    ];
    let lines = lines.map(|(key, within)| with_gap(checkout, key, ltr(within)));
    let store = [("store", order.store.name.as_str())];
    aid("exchange", summary(checkout, "exchange"))
        .all(lines)
        .with(paragraph(checkout.sentence("exchange_time", &store)))
        .into()
}

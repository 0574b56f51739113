//! What every customer must read before paying.

use crate::coin::Coin;
use crate::invoice::REQUIRED_CONFIRMATIONS;

/// The four subjects that the specification lists: the right asset, confirmations, the network's fee, the time.
pub(crate) fn warnings(coin: &Coin, minutes: u32) -> Vec<String> {
    let (symbol, name, network) = (coin.symbol, coin.name, coin.network);
    vec![
        format!(
            "Send only {name} ({symbol}) on the {network} network to this address. Other assets, or {symbol} on \
             another network, will be lost."
        ),
        format!(
            "Your payment is complete after {REQUIRED_CONFIRMATIONS} confirmations on the {network} network."
        ),
        format!(
            "Make sure that the network fee is sufficient: a {network} transaction with a low fee may not be confirmed."
        ),
        format!(
            "The price in {symbol} is held for {minutes} minutes. It may expire if your payment arrives later."
        ),
    ]
}

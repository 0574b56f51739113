//! What the tests share.

use florin_money::{Asset, Currency};
use jiff::SignedDuration;

use crate::chain::Network;
use crate::coin::Coin;
use crate::confirmations::Confirmations;
use crate::gateway::Options;

pub(crate) fn options(api_key: &str, api_secret: &str) -> Options {
    Options {
        network: Network::Regtest,
        api_key: api_key.to_owned(),
        api_secret: api_secret.into(),
        public_url: "http://127.0.0.1:1".to_owned(),
        merchant_website: "http://127.0.0.1:2/thanks".to_owned(),
        callback_url: None,
        callback_tries: 8,
        coins: vec![Coin::listed(Asset::BTC, Network::Regtest)],
        local_currency: Currency::USD,
        invoice_lifetime: SignedDuration::from_mins(15),
        quote_lifetime: SignedDuration::from_secs(120),
        confirmations: Confirmations::always(3),
        watch_after_expiry: SignedDuration::from_hours(7 * 24),
        requests_per_second: 0,
        max_unpaid_invoices: 1_000,
    }
}

//! What differs between the installations of real merchants and a laboratory: each row with the report it comes from.

use super::WorldConfig;

/// An installation, and a price that its store asks for.
#[derive(Clone, Copy, Debug)]
pub struct Circumstance {
    /// Who met it: a public report or a document.
    pub source: &'static str,
    pub currency: &'static str,
    /// The amount as the store sends it.
    pub sent: &'static str,
    /// The same as orders and events have it; `None` if the gateway's account cannot price the currency.
    pub priced: Option<&'static str>,
    /// The local currency of the account, and what a dollar costs in it.
    pub account: (&'static str, &'static str),
    /// Seconds by which the gateway's clock is ahead of the proxy's.
    pub clock_ahead: i32,
}

/// Currency, amount sent, amount priced, the account's currency, what a dollar costs in it, seconds of the clock, source.
const ROWS: &str = "\
USD 19.90 19.90 USD 1 0 payment-service.md
JPY 705.00 705 JPY 151.7 0 woocommerce/woocommerce-gateway-amazon-pay#148: JPY, sent with two decimals
KRW 13500 13500 KRW 1391.55 0 Paymenter/Paymenter#1258: KRW, a hundred times too much
BHD 35.20 35.200 BHD 0.376 0 woocommerce/woocommerce-gateway-stripe#2720: BHD, a tenth of the price
CLF 1.0005 1.0005 CLF 0.0243 0 ISO 4217, list one: a unit of account with four decimals
EUR 18 18.00 EUR 0.9143 0 payment-service.md: local_currency_code; a store in the account's currency
USD 19.90 19.90 EUR 0.9143 0 payment-service.md: local_currency_code; a store in dollars
VND 250000 none EUR 0.9143 0 blockonomics/woocommerce-plugin#329: a currency without a price
USD 19.90 19.90 USD 1 5 goincrypto/cryptocom-exchange#11: the machine's clock was 5 s off
USD 19.90 19.90 USD 1 -3600 gateio/WebSocket-API#2: the machine's clock was never set";

impl Circumstance {
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.lines().map(|row| {
            let mut words = row.splitn(7, ' ');
            let mut word = || words.next().expect("a row has seven parts");
            Self {
                currency: word(),
                sent: word(),
                priced: Some(word()).filter(|priced| *priced != "none"),
                account: (word(), word()),
                clock_ahead: word().parse().expect("a number of seconds"),
                source: word(),
            }
        })
    }

    pub fn config(&self) -> WorldConfig {
        WorldConfig {
            currency: self.currency,
            account: self.account,
            // With the hosted flow another currency would be a warning.
            checkout_url: Some(String::new()),
            ..WorldConfig::default()
        }
    }
}

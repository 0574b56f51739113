//! What differs between the installations of real merchants and a laboratory: each row with the report it comes from.

use super::WorldConfig;

#[derive(Clone, Copy, Debug)]
pub struct Circumstance {
    /// Who met it: a public report or a document.
    pub source: &'static str,
    pub currency: &'static str,
    /// The amount as the store sends it.
    pub sent: &'static str,
    /// The same as orders and events have it; `None` if the gateway's account cannot price the currency.
    pub priced: Option<&'static str>,
    pub account: (&'static str, &'static str),
    /// Seconds by which the gateway's clock is ahead of the proxy's.
    pub clock_ahead: i32,
}

/// Dollars on an account of dollars, with the right time.
const USUAL: Circumstance = Circumstance {
    source: "payment-service.md",
    currency: "USD",
    sent: "19.90",
    priced: Some("19.90"),
    account: ("USD", "1"),
    clock_ahead: 0,
};

/// The table.
pub const CIRCUMSTANCES: [Circumstance; 10] = [
    USUAL,
    Circumstance {
        source: "woocommerce/woocommerce-gateway-amazon-pay#148: JPY, sent with two decimals",
        currency: "JPY",
        sent: "705.00",
        priced: Some("705"),
        account: ("JPY", "151.7"),
        ..USUAL
    },
    Circumstance {
        source: "Paymenter/Paymenter#1258: KRW, a hundred times too much",
        currency: "KRW",
        sent: "13500",
        priced: Some("13500"),
        account: ("KRW", "1391.55"),
        ..USUAL
    },
    Circumstance {
        source: "woocommerce/woocommerce-gateway-stripe#2720: BHD, a tenth of the price",
        currency: "BHD",
        sent: "35.20",
        priced: Some("35.200"),
        account: ("BHD", "0.376"),
        ..USUAL
    },
    Circumstance {
        source: "ISO 4217, list one: a unit of account with four decimals",
        currency: "CLF",
        sent: "1.0005",
        priced: Some("1.0005"),
        account: ("CLF", "0.0243"),
        ..USUAL
    },
    Circumstance {
        source: "payment-service.md: local_currency_code; a store in the account's currency",
        currency: "EUR",
        sent: "18",
        priced: Some("18.00"),
        account: ("EUR", "0.9143"),
        ..USUAL
    },
    Circumstance {
        source: "payment-service.md: local_currency_code; a store in dollars",
        account: ("EUR", "0.9143"),
        ..USUAL
    },
    Circumstance {
        source: "blockonomics/woocommerce-plugin#329: a currency without a price",
        currency: "VND",
        sent: "250000",
        priced: None,
        account: ("EUR", "0.9143"),
        ..USUAL
    },
    Circumstance {
        source: "goincrypto/cryptocom-exchange#11: the machine's clock was 5 s off",
        clock_ahead: 5,
        ..USUAL
    },
    Circumstance {
        source: "gateio/WebSocket-API#2: the machine's clock was never set",
        clock_ahead: -3600,
        ..USUAL
    },
];

impl Circumstance {
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

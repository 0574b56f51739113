//! What can never be paid, however often it is tried: a currency that the gateway's account does not price, assets that it
//! does not offer, a price outside all limits.

use std::collections::BTreeSet;
use std::time::Duration;

use florin_gateway_client::Prices;
use florin_money::{Amount, Asset, Currency};
use florin_orders::{Flow, NewOrder};
use florin_storage::{OrderFilter, StorageError};

use crate::config::{Config, Problem, Store};
use crate::payments::error::PaymentError;
use crate::payments::quotes::{listed, priced_currencies, quoted};
use crate::state::AppState;

/// An order is opened without the currencies of a gateway that takes longer to answer.
const LONGEST_READ: Duration = Duration::from_secs(2);

/// A key of the configuration by which something cannot be paid.
#[derive(Debug)]
pub struct Unpayable {
    /// The key, and what is wrong.
    pub problem: Problem,
    pub remedy: String,
    /// `false` if other orders of the store can be paid.
    pub is_fatal: bool,
}

/// The stores whose currency the gateway's account does not price.
pub fn unpriced_stores(config: &Config, prices: &Prices) -> Vec<Unpayable> {
    unpriced(config, &priced_currencies(prices))
}

pub(crate) fn unpriced(config: &Config, priced: &BTreeSet<Currency>) -> Vec<Unpayable> {
    let stores = config.stores.iter();
    let stores = stores.filter(|store| !priced.is_empty() && !priced.contains(&store.currency));
    let described = stores.map(|store| {
        let (currency, listed) = (store.currency, listed(priced));
        Unpayable {
            problem: Problem {
                key: format!("store.{}.currency", store.id),
                message: format!(
                    "the gateway's account prices orders in {listed}, not in {currency}"
                ),
            },
            remedy: format!(
                "write {}, or let the gateway set the account's local currency to {currency}",
                listed.replace(" and ", " or ")
            ),
            // The gateway's own page takes other currencies, at the prices that the store's server names.
            is_fatal: config.gateway.checkout_url.is_none()
                || !store.products.is_empty()
                || !store.donations.is_empty(),
        }
    });
    described.collect()
}

/// The products and donations that no asset's limits allow at these prices.
pub fn unpayable_offers(config: &Config, prices: &Prices) -> Vec<Unpayable> {
    let currencies = priced_currencies(prices);
    let stores = config.stores.iter();
    let stores = stores.filter(|store| currencies.contains(&store.currency));
    stores.flat_map(|store| offers(store, prices)).collect()
}

fn offers(store: &Store, prices: &Prices) -> Vec<Unpayable> {
    let currency = store.currency;
    let products = store.products.iter().map(|product| {
        let one = product.price.amount();
        let most = one.checked_mul(product.max_quantity).unwrap_or(one);
        (format!("product.{}", product.sku), one, most)
    });
    let donations = store.donations.iter();
    let donations = donations.map(|donation| {
        (
            format!("donation.{}", donation.id),
            donation.min,
            donation.max,
        )
    });
    let unpayable = products
        .chain(donations)
        .filter(|(_, least, most)| ![least, most].iter().any(|it| fits(**it, currency, prices)));
    let described = unpayable.map(|(name, least, most)| Unpayable {
        problem: Problem {
            key: format!("store.{}.{name}", store.id),
            message: format!(
                "no asset can be paid with {least} to {most} {currency} at present: the limits of each rule it out"
            ),
        },
        remedy: "choose another price, or ask the gateway for other limits".to_owned(),
        is_fatal: false,
    });
    described.collect()
}

fn fits(amount: Amount, currency: Currency, prices: &Prices) -> bool {
    let mut entries = prices.entries.iter();
    entries.any(|(code, entry)| {
        Asset::of(code).is_some_and(|asset| quoted(amount, currency, asset, entry).is_ok())
    })
}

/// Checks before an order is opened that it can be paid. While the gateway does not answer, nothing is concluded.
pub(crate) async fn check(app: &AppState, terms: &NewOrder) -> Result<(), PaymentError> {
    // The gateway's own page has its own currencies and assets.
    if terms.flow == Flow::Hosted {
        return Ok(());
    }
    let Some(refusal) = refusal(app, terms).await else {
        return Ok(());
    };
    // A reference that names an order leads to that order, or to the refusal of another price.
    if is_known(app, terms).await? {
        return Ok(());
    }
    tracing::warn!(store = %terms.store_id, %refusal, "an order was not opened: it could not be paid");
    Err(refusal)
}

pub(crate) async fn is_known(app: &AppState, terms: &NewOrder) -> Result<bool, StorageError> {
    let known = OrderFilter {
        reference: Some(terms.reference.clone()),
        status: None,
        after: None,
        limit: 1,
    };
    let known = app.storage.orders(&terms.store_id, &known).await?;
    Ok(!known.is_empty())
}

async fn refusal(app: &AppState, terms: &NewOrder) -> Option<PaymentError> {
    let priced = currencies(app, terms.currency).await;
    if let Err(refusal) = check_currency(terms.currency, &priced) {
        return Some(refusal);
    }
    if terms.assets.is_empty() {
        return None;
    }
    let offered = app.currencies.lock().clone();
    let is_lacking = |code| offered.as_ref().is_some_and(|offered| offered.lacks(code));
    let is_offered = |code| Asset::of(code).is_some() && !is_lacking(code);
    let is_any_offered = terms.assets.iter().any(is_offered);
    (!is_any_offered).then_some(PaymentError::NoAssetOffered)
}

/// Refuses a currency that is not priced. Nothing is concluded from an empty list: there were no prices yet.
pub(crate) fn check_currency(
    currency: Currency,
    priced: &BTreeSet<Currency>,
) -> Result<(), PaymentError> {
    if priced.is_empty() || priced.contains(&currency) {
        return Ok(());
    }
    let priced = listed(priced);
    Err(PaymentError::CurrencyNotPriced { currency, priced })
}

/// The currencies of the last prices; of fresh ones if those do not have `currency`: the account may have changed.
async fn currencies(app: &AppState, currency: Currency) -> BTreeSet<Currency> {
    let known = app.prices.currencies();
    if currency == Currency::USD || known.contains(&currency) {
        return known;
    }
    match tokio::time::timeout(LONGEST_READ, app.fresh_prices()).await {
        Ok(Ok(priced)) => priced_currencies(&priced.prices),
        Ok(Err(_)) | Err(_) => known,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config::parse;
    use crate::config::tests::EXAMPLE;

    fn prices(local: &str, limits: [&str; 2]) -> Prices {
        let rates = json!({
            "amount_in_local_currency": "1500", "amount_in_crypto": "1",
            "amount_in_usd": "1000", "local_currency_code": local,
        });
        let limits = json!({ "min": limits[0], "max": limits[1] });
        let entry = json!({ "rates": rates, "limits": limits, "conversion_id": "c1" });
        serde_json::from_value(json!({ "BTC": entry })).unwrap()
    }

    fn config(currency: &str) -> Config {
        let priced = EXAMPLE.replace("\"19.90\"", "\"12\"");
        let priced = priced.replace("max_quantity = 5", "max_quantity = 1");
        let (store, _) = priced.split_once("[[store.donation]]").unwrap();
        parse(&store.replace(
            "id = \"demo\"",
            &format!("id = \"demo\"\ncurrency = \"{currency}\""),
        ))
        .unwrap()
    }

    #[test]
    fn dollars_and_the_local_currency_are_priced() {
        let priced = |local| listed(&priced_currencies(&prices(local, ["", ""])));
        assert_eq!(priced("EUR"), "EUR and USD");
        assert_eq!(priced("USD"), "USD");
        assert_eq!(priced("BGN"), "BGN and USD");
        // Nothing is concluded.
        assert_eq!(priced("???"), "");
        assert_eq!(listed(&priced_currencies(&Prices::default())), "");
    }

    #[test]
    fn a_store_of_another_currency_is_named_with_what_to_write() {
        let found = |currency: &str, local: &str| {
            let found = unpriced_stores(&config(currency), &prices(local, ["", ""]));
            let line = |unpayable: Unpayable| {
                let Problem { key, message } = unpayable.problem;
                format!("{key}: {message} → {}", unpayable.remedy)
            };
            found.into_iter().map(line).collect::<Vec<_>>()
        };
        assert_eq!(found("USD", "EUR"), [""; 0]);
        assert_eq!(found("EUR", "EUR"), [""; 0]);
        assert_eq!(found("VND", "???"), [""; 0]);
        assert_eq!(
            found("VND", "EUR"),
            [
                "store.demo.currency: the gateway's account prices orders in EUR and USD, not in VND → \
                 write EUR or USD, or let the gateway set the account's local currency to VND"
            ]
        );
    }

    #[test]
    fn an_offer_outside_all_limits_is_named() {
        // 12 USD are 0.012.
        for (limits, is_payable) in [
            (["", ""], true),
            (["0.012", "0.012"], true),
            (["0.013", ""], false),
            (["", "0.011"], false),
            (["2", "1"], false),
        ] {
            let found = unpayable_offers(&config("USD"), &prices("EUR", limits));
            assert_eq!(found.is_empty(), is_payable, "{limits:?}");
            let keys = found.iter().map(|unpayable| &unpayable.problem.key);
            assert!(keys.eq(["store.demo.product.ebook"].iter().filter(|_| !is_payable)));
        }
    }
}

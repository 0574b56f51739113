use florin_gateway::ConversionId;
use florin_orders::{OrderStatus, fixtures};

use super::*;

fn order(amount: &str, currency: &str) -> Order {
    let mut order = fixtures::order(OrderStatus::Open);
    order.terms.amount = Amount::parse(amount).unwrap();
    order.terms.currency = Currency::parse(currency).unwrap();
    order
}

/// One bitcoin costs 64250.13 dollars, or 59110.12 of the local currency.
fn entry(local: &str) -> PriceEntry {
    PriceEntry {
        rates: Rates {
            amount_in_local_currency: if local == "USD" {
                "64250.13"
            } else {
                "59110.12"
            }
            .into(),
            amount_in_crypto: "1".into(),
            amount_in_usd: "64250.13".into(),
            local_currency_code: local.into(),
        },
        limits: Limits {
            min: "0.0001".into(),
            max: "2".into(),
        },
        conversion_id: ConversionId::parse("c1").unwrap(),
    }
}

#[track_caller]
fn figures(order: &Order, entry: &PriceEntry) -> [String; 3] {
    let requested = quote(order, Asset::BTC, entry).unwrap().amounts;
    requested.each().map(|amount| amount.to_string())
}

#[test]
fn a_price_is_requested_in_the_asset_dollars_and_the_local_currency() {
    for (currency, local, requested) in [
        ("USD", "USD", ["0.00030973", "19.90", "19.90"]),
        // 19.90 ÷ 59110.12 BTC, rounded up, and × 64250.13 USD, rounded down.
        ("EUR", "EUR", ["0.00033666", "21.63", "19.90"]),
        ("USD", "EUR", ["0.00030973", "19.90", "18.30"]),
    ] {
        let found = figures(&order("19.90", currency), &entry(local));
        assert_eq!(found, requested, "{currency}, {local}");
    }
}

#[test]
fn a_currency_that_the_gateway_does_not_price_is_not_guessed_at() {
    let refused = quote(&order("19.90", "GBP"), Asset::BTC, &entry("EUR"));
    assert_eq!(refused, Err(QuoteError::NotPriced));
}

#[test]
fn a_price_that_is_nothing_in_the_accounts_currency_is_not_requested() {
    let mut entry = entry("EUR");
    let refused = quote(&order("0.01", "USD"), Asset::BTC, &entry);
    assert_eq!(refused, Err(QuoteError::BelowMinimum));
    entry.limits.min = String::new();
    let refused = quote(&order("0.01", "USD"), Asset::BTC, &entry);
    assert_eq!(refused, Err(QuoteError::NotPriced));
}

#[test]
fn limits_are_kept_to_the_last_unit() {
    let mut entry = entry("USD");
    entry.limits = Limits {
        min: "0.00030973".into(),
        max: "0.00030973".into(),
    };
    assert!(quote(&order("19.90", "USD"), Asset::BTC, &entry).is_ok());
    entry.limits.min = "0.00030974".into();
    let below = quote(&order("19.90", "USD"), Asset::BTC, &entry);
    assert_eq!(below, Err(QuoteError::BelowMinimum));
    entry.limits = Limits {
        min: String::new(),
        max: "0.00030972".into(),
    };
    let above = quote(&order("19.90", "USD"), Asset::BTC, &entry);
    assert_eq!(above, Err(QuoteError::AboveMaximum));
}

#[test]
fn the_limit_that_rules_an_asset_out_has_a_price_in_the_orders_currency() {
    let worth = |price: &str, no_quote| {
        let (order, entry) = (order(price, "EUR"), entry("EUR"));
        let requested = super::price(
            order.terms.amount,
            order.terms.currency,
            Asset::BTC,
            &entry.rates,
        );
        let requested = requested.unwrap();
        let range = Range::of(&entry.limits).unwrap();
        let worth = limit_in_order_currency(&order, &requested, range, no_quote);
        worth.map(|amount| amount.to_string())
    };
    // 0.0001 BTC at 59110.12 euros, of which the amount to send has eight decimals; rounded up, and 2 BTC down.
    assert_eq!(worth("1.50", QuoteError::BelowMinimum).unwrap(), "5.92");
    let most = worth("200000.00", QuoteError::AboveMaximum).unwrap();
    assert_eq!(most, "118220.23");
    assert_eq!(worth("1.50", QuoteError::NotPriced), None);
}

#[test]
fn junk_in_a_price_or_a_limit_is_no_price() {
    type Spoil = fn(&mut PriceEntry);
    let spoiled: [Spoil; 6] = [
        |e| e.rates.amount_in_usd = "0".into(),
        |e| e.rates.amount_in_usd = "-1".into(),
        |e| e.rates.amount_in_crypto = "1e0".into(),
        |e| e.rates.local_currency_code = "usd".into(),
        |e| e.limits.min = "none".into(),
        |e| e.limits.max = "∞".into(),
    ];
    for spoil in spoiled {
        let mut entry = entry("USD");
        spoil(&mut entry);
        let refused = quote(&order("19.90", "USD"), Asset::BTC, &entry);
        assert_eq!(refused, Err(QuoteError::NotPriced), "{entry:?}");
    }
}

fn requested(crypto: &str, local: &str, currency: &str) -> QuotedAmounts {
    let amount = |text| Amount::parse(text).unwrap();
    QuotedAmounts {
        amounts: Amounts {
            crypto: amount(crypto),
            usd: amount(local),
            local: amount(local),
        },
        local_currency: Currency::parse(currency).unwrap(),
    }
}

#[test]
fn a_rate_is_rounded_up_to_the_currencys_decimals_and_has_six_digits_at_least() {
    for (crypto, local, currency, rate) in [
        // 64249.507…
        ("0.00030973", "19.90", "USD", "64249.51"),
        ("0.5", "19.90", "USD", "39.80"),
        ("0.002", "2990", "JPY", "1495000"),
        // 0.1949999999…, from a price of 0.195
        ("102.05128206", "19.90", "USD", "0.195"),
        ("7", "10.00", "USD", "1.42858"),
        ("150", "2990", "JPY", "19.9334"),
        ("700000000", "1.00", "USD", "0.00000000142858"),
        ("19.90", "19.90", "USD", "1.00"),
    ] {
        let found = super::rate(&requested(crypto, local, currency)).unwrap();
        assert_eq!(found.to_string(), rate);
    }
}

#[test]
fn a_rate_that_fits_no_amount_is_none() {
    let rate = |crypto, local| super::rate(&requested(crypto, local, "USD"));
    assert_eq!(rate("0", "19.90"), None);
    assert_eq!(rate("0.000000000000000001", "999999999999.99"), None);
}

#[test]
fn a_part_costs_its_share_of_the_price_rounded_up() {
    let requested = requested("0.3", "19.90", "USD");
    let part = |text| in_local_currency(&requested, Amount::parse(text).unwrap(), Rounding::Up);
    let written = |text| part(text).unwrap().to_string();
    assert_eq!(written("0.3"), "19.90");
    // 6.6333…
    assert_eq!(written("0.1"), "6.64");
    assert_eq!(written("0.00000001"), "0.01");
    assert_eq!(written("0"), "0.00");
}

//! Quotes: the cost of an order in an asset, from a price of the gateway. Pure: the one place where an amount to pay is
//! computed.

use std::collections::BTreeSet;

use florin_gateway_client::{Limits, PriceEntry, Prices, Rates};
use florin_money::{Amount, AmountError, Asset, Currency, Rounding};
use florin_orders::{Amounts, NewOrder, QuotedAmounts};

const USD_DECIMALS: u32 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum QuoteError {
    /// The gateway's price is no price, or in a currency that the order's cannot be compared with.
    #[error("the gateway states no usable price")]
    NotPriced,
    #[error("the price is below the asset's minimum")]
    BelowMinimum,
    #[error("the price is above the asset's maximum")]
    AboveMaximum,
}

impl From<AmountError> for QuoteError {
    fn from(_: AmountError) -> Self {
        Self::NotPriced
    }
}

/// The asset's limits in the asset; an empty text is no limit.
///
/// `Assumed:` `limits.min` and `limits.max` count units of the asset, as the specification calls them deposit amounts. A
/// gateway whose limits are in another unit would answer `AMOUNT_OUT_OF_RANGE` to an invoice within them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Range {
    pub min: Option<Amount>,
    pub max: Option<Amount>,
}

impl Range {
    /// Reads the limits.
    ///
    /// # Errors
    /// [`QuoteError::NotPriced`] when one is there and is no amount: an unreadable limit is not ignored.
    pub(crate) fn of(limits: &Limits) -> Result<Self, QuoteError> {
        let read = |text: &str| match text {
            "" => Ok(None),
            text => Amount::parse(text)
                .map(Some)
                .map_err(|_| QuoteError::NotPriced),
        };
        Ok(Self {
            min: read(&limits.min)?,
            max: read(&limits.max)?,
        })
    }

    fn check(self, amount: Amount) -> Result<(), QuoteError> {
        if self.min.is_some_and(|min| amount < min) {
            return Err(QuoteError::BelowMinimum);
        }
        if self.max.is_some_and(|max| amount > max) {
            return Err(QuoteError::AboveMaximum);
        }
        Ok(())
    }
}

/// What this amount of a currency costs, whether or not the limits allow it.
pub(crate) fn price(
    price: Amount,
    currency: Currency,
    asset: Asset,
    rates: &Rates,
) -> Result<QuotedAmounts, QuoteError> {
    let read = |text: &str| {
        let amount = Amount::parse(text).map_err(|_| QuoteError::NotPriced)?;
        if amount.is_zero() {
            Err(QuoteError::NotPriced)
        } else {
            Ok(amount)
        }
    };
    let crypto = read(&rates.amount_in_crypto)?;
    let usd = read(&rates.amount_in_usd)?;
    let local = read(&rates.amount_in_local_currency)?;
    let code = &rates.local_currency_code;
    let local_currency = Currency::parse_stored(code).map_err(|_| QuoteError::NotPriced)?;
    let basis = if currency == local_currency {
        local
    } else if currency == Currency::USD {
        usd
    } else {
        return Err(QuoteError::NotPriced);
    };
    let share = |of: Amount, decimals, rounding| price.mul_div(of, basis, decimals, rounding);
    // Rounded down, so that the amount to send is worth each of the three: received amounts are compared with all of them.
    let in_usd = match currency {
        Currency::USD => price,
        _ => share(usd, USD_DECIMALS, Rounding::Down)?,
    };
    let in_local = match currency {
        same if same == local_currency => price,
        _ => share(local, local_currency.decimals(), Rounding::Down)?,
    };
    let amounts = Amounts {
        // People read 19.90 USDT more easily than 19.9; more decimals than that are the amount's own.
        crypto: share(crypto, asset.quote_decimals(), Rounding::Up)?.with_min_decimals(2),
        usd: in_usd.with_min_decimals(USD_DECIMALS),
        local: in_local.with_min_decimals(local_currency.decimals()),
    };
    Ok(QuotedAmounts {
        amounts,
        local_currency,
    })
}

pub(crate) fn quote(
    terms: &NewOrder,
    asset: Asset,
    entry: &PriceEntry,
) -> Result<QuotedAmounts, QuoteError> {
    quoted(terms.amount, terms.currency, asset, entry)
}

pub(crate) fn quoted(
    amount: Amount,
    currency: Currency,
    asset: Asset,
    entry: &PriceEntry,
) -> Result<QuotedAmounts, QuoteError> {
    let requested = price(amount, currency, asset, &entry.rates)?;
    Range::of(&entry.limits)?.check(requested.amounts.crypto)?;
    let Amounts { usd, local, .. } = requested.amounts;
    // Received amounts are compared with both.
    if usd.is_zero() || local.is_zero() {
        return Err(QuoteError::NotPriced);
    }
    Ok(requested)
}

/// What the limit that rules an asset out is worth in the order's currency, at this price: the least rounded up, the most
/// down. `None` where no limit rules it out.
pub(crate) fn limit_in_order_currency(
    terms: &NewOrder,
    requested: &QuotedAmounts,
    range: Range,
    no_quote: QuoteError,
) -> Option<Amount> {
    let (limit, rounding) = match no_quote {
        QuoteError::BelowMinimum => (range.min?, Rounding::Up),
        QuoteError::AboveMaximum => (range.max?, Rounding::Down),
        QuoteError::NotPriced => return None,
    };
    let decimals = terms.currency.decimals();
    let worth = terms
        .amount
        .mul_div(limit, requested.amounts.crypto, decimals, rounding);
    Some(worth.ok()?.with_min_decimals(decimals))
}

/// The currencies that orders may have at these prices: US dollars, and the local currency of the gateway's account. Empty if
/// nothing can be concluded.
pub(crate) fn priced_currencies(prices: &Prices) -> BTreeSet<Currency> {
    let local = prices
        .entries
        .values()
        .filter_map(|entry| Currency::parse_stored(&entry.rates.local_currency_code).ok());
    let mut currencies: BTreeSet<Currency> = local.collect();
    if !currencies.is_empty() {
        currencies.insert(Currency::USD);
    }
    currencies
}

pub(crate) fn listed(currencies: &BTreeSet<Currency>) -> String {
    let codes: Vec<&str> = currencies.iter().map(Currency::as_str).collect();
    codes.join(" and ")
}

/// Significant digits of a rate at least: the decimals of a currency leave too few of a cheap asset's.
const RATE_DIGITS: usize = 6;
const MAX_DECIMALS: u32 = 18;

/// What one whole unit of the asset costs at the price of an attempt, in the local currency; `None` when that does not fit
/// an amount.
///
/// The amount to send was rounded up, so the quotient is at most the price that it was made from; rounding up comes closest
/// to that price.
pub(crate) fn rate(requested: &QuotedAmounts) -> Option<Amount> {
    let Amounts { crypto, local, .. } = requested.amounts;
    let least = requested.local_currency.decimals();
    let rounded = |decimals| local.mul_div(Amount::ONE, crypto, decimals, Rounding::Up);
    let is_precise = |decimals, rate: Amount| {
        let text = rate.with_min_decimals(decimals).to_string();
        let digits = text.bytes().filter(u8::is_ascii_digit);
        digits.skip_while(|digit| *digit == b'0').count() >= RATE_DIGITS
    };
    let precise = (least..=MAX_DECIMALS).find_map(|decimals| {
        let rate = rounded(decimals).ok()?;
        is_precise(decimals, rate).then_some(rate)
    });
    let rate = precise.or_else(|| rounded(MAX_DECIMALS).ok())?;
    Some(rate.with_min_decimals(least))
}

pub(crate) fn in_local_currency(
    requested: &QuotedAmounts,
    part: Amount,
    rounding: Rounding,
) -> Option<Amount> {
    let Amounts { crypto, local, .. } = requested.amounts;
    let decimals = requested.local_currency.decimals();
    let share = local.mul_div(part, crypto, decimals, rounding);
    Some(share.ok()?.with_min_decimals(decimals))
}

#[cfg(test)]
mod tests {
    use florin_gateway_client::ConversionId;
    use florin_orders::{OrderStatus, fixtures};

    use super::*;

    fn terms(amount: &str, currency: &str) -> NewOrder {
        let mut terms = fixtures::order(OrderStatus::Open).terms;
        terms.amount = Amount::parse(amount).unwrap();
        terms.currency = Currency::parse(currency).unwrap();
        terms
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
    fn figures(terms: &NewOrder, entry: &PriceEntry) -> [String; 3] {
        let requested = quote(terms, Asset::BTC, entry).unwrap().amounts;
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
            let found = figures(&terms("19.90", currency), &entry(local));
            assert_eq!(found, requested, "{currency}, {local}");
        }
    }

    #[test]
    fn a_quote_is_refused_outside_the_limits_and_without_a_price() {
        use QuoteError::{AboveMaximum, BelowMinimum, NotPriced};
        for (amount, currency, local, limits, refused) in [
            ("19.90", "GBP", "EUR", ["", ""], Some(NotPriced)),
            // Nothing in the account's currency.
            ("0.01", "USD", "EUR", ["0.0001", "2"], Some(BelowMinimum)),
            ("0.01", "USD", "EUR", ["", "2"], Some(NotPriced)),
            ("19.90", "USD", "USD", ["0.00030973", "0.00030973"], None),
            (
                "19.90",
                "USD",
                "USD",
                ["0.00030974", ""],
                Some(BelowMinimum),
            ),
            (
                "19.90",
                "USD",
                "USD",
                ["", "0.00030972"],
                Some(AboveMaximum),
            ),
        ] {
            let mut entry = entry(local);
            [entry.limits.min, entry.limits.max] = limits.map(str::to_owned);
            let quoted = quote(&terms(amount, currency), Asset::BTC, &entry);
            assert_eq!(quoted.err(), refused, "{amount} {currency} {limits:?}");
        }
    }

    #[test]
    fn the_limit_that_rules_an_asset_out_has_a_price_in_the_orders_currency() {
        let worth = |price: &str, no_quote| {
            let (terms, entry) = (terms(price, "EUR"), entry("EUR"));
            let requested = super::price(terms.amount, terms.currency, Asset::BTC, &entry.rates);
            let requested = requested.unwrap();
            let range = Range::of(&entry.limits).unwrap();
            let worth = limit_in_order_currency(&terms, &requested, range, no_quote);
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
            let refused = quote(&terms("19.90", "USD"), Asset::BTC, &entry);
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
}

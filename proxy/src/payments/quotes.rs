//! Quotes: the cost of an order in an asset, from a price of the gateway. Pure: the one place where an amount to pay is
//! computed.

use std::collections::BTreeSet;

use florin_gateway::{Limits, PriceEntry, Prices, Rates};
use florin_money::{Amount, AmountError, Asset, Currency, Rounding};
use florin_orders::{Amounts, Order, QuotedAmounts};

/// Decimals of a dollar amount.
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

/// What an order costs, when it can be paid in this asset.
pub(crate) fn quote(
    order: &Order,
    asset: Asset,
    entry: &PriceEntry,
) -> Result<QuotedAmounts, QuoteError> {
    quoted(order.terms.amount, order.terms.currency, asset, entry)
}

/// What this amount of a currency costs, when it can be paid in this asset.
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
    order: &Order,
    requested: &QuotedAmounts,
    range: Range,
    no_quote: QuoteError,
) -> Option<Amount> {
    let (limit, rounding) = match no_quote {
        QuoteError::BelowMinimum => (range.min?, Rounding::Up),
        QuoteError::AboveMaximum => (range.max?, Rounding::Down),
        QuoteError::NotPriced => return None,
    };
    let decimals = order.terms.currency.decimals();
    let price = order.terms.amount;
    let worth = price.mul_div(limit, requested.amounts.crypto, decimals, rounding);
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

/// `USD and EUR`
pub(crate) fn listed(currencies: &BTreeSet<Currency>) -> String {
    let codes: Vec<&str> = currencies.iter().map(Currency::as_str).collect();
    codes.join(" and ")
}

/// Significant digits of a rate at least: the decimals of a currency leave too few of a cheap asset's.
const RATE_DIGITS: usize = 6;
/// Decimals of an amount at most.
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

/// A part of what an attempt asks for, in the local currency at the attempt's price.
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
mod tests;

//! Prices: the one rule for amounts to pay.

use core::fmt;

use crate::{Amount, AmountError, Currency, Rounding};

/// An amount above zero with the decimals of its currency: `5.00 USD`, `500 JPY`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    amount: Amount,
    currency: Currency,
}

/// An amount that is no price in a currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPrice {
    /// It is zero.
    #[error("the amount must be above zero, like 19.90")]
    Zero,
    /// It has more decimals than the currency, of which one is not zero.
    #[error(transparent)]
    Decimals(#[from] TooManyDecimals),
}

/// An amount that has more decimals than its currency, of which one is not zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyDecimals {
    /// The amount.
    pub amount: Amount,
    /// Its currency.
    pub currency: Currency,
}

impl fmt::Display for TooManyDecimals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { amount, currency } = self;
        let decimals = currency.decimals();
        let cut = amount.mul_div(Amount::ONE, Amount::ONE, decimals, Rounding::Down);
        let cut = cut.ok().filter(|cut| !cut.is_zero());
        let cut = cut.unwrap_or(Amount::ONE).with_min_decimals(decimals);
        write!(
            f,
            "{amount} has more than the {decimals} decimals of {currency}: write an amount like {cut}"
        )
    }
}

impl core::error::Error for TooManyDecimals {}

impl Amount {
    /// The same amount with all decimals of a currency: `5` → `5.00`.
    ///
    /// # Errors
    /// [`TooManyDecimals`] when it has more; zeros at the end do not count: `705.00` is 705 JPY.
    pub fn in_currency(self, currency: Currency) -> Result<Self, TooManyDecimals> {
        if self.decimals() > currency.decimals() {
            return Err(TooManyDecimals {
                amount: self,
                currency,
            });
        }
        Ok(self.with_min_decimals(currency.decimals()))
    }
}

impl Price {
    /// Checks an amount.
    ///
    /// # Errors
    /// [`InvalidPrice::Zero`]; [`InvalidPrice::Decimals`].
    pub fn new(amount: Amount, currency: Currency) -> Result<Self, InvalidPrice> {
        if amount.is_zero() {
            return Err(InvalidPrice::Zero);
        }
        let amount = amount.in_currency(currency)?;
        Ok(Self { amount, currency })
    }

    /// The amount, with all decimals of the currency.
    pub fn amount(self) -> Amount {
        self.amount
    }

    /// The currency.
    pub fn currency(self) -> Currency {
        self.currency
    }

    /// The price of `count` pieces, at least one.
    ///
    /// # Errors
    /// [`AmountError::TooLarge`].
    pub fn times(self, count: core::num::NonZeroU32) -> Result<Self, AmountError> {
        let amount = self.amount.checked_mul(count.get())?;
        Ok(Self { amount, ..self })
    }
}

impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.amount, self.currency)
    }
}

#[cfg(test)]
mod tests {
    use core::num::NonZeroU32;

    use super::*;

    fn price(amount: &str, currency: &str) -> Result<Price, InvalidPrice> {
        let currency = Currency::parse(currency).unwrap();
        Price::new(Amount::parse(amount).unwrap(), currency)
    }

    #[test]
    fn a_price_has_the_decimals_of_its_currency() {
        for (amount, currency, written) in [
            ("5", "USD", "5.00 USD"),
            ("19.9", "USD", "19.90 USD"),
            ("500", "JPY", "500 JPY"),
            ("0.001", "KWD", "0.001 KWD"),
            ("705.00", "JPY", "705 JPY"),
            ("500.0", "ISK", "500 ISK"),
            ("19.900", "USD", "19.90 USD"),
            ("1.00000", "CLF", "1.0000 CLF"),
        ] {
            assert_eq!(price(amount, currency).unwrap().to_string(), written);
        }
    }

    #[test]
    fn what_a_currency_cannot_express_is_no_price() {
        for (amount, currency) in [("19.905", "USD"), ("500.10", "JPY"), ("0.0001", "KWD")] {
            let refused = price(amount, currency).unwrap_err();
            assert!(matches!(refused, InvalidPrice::Decimals(_)), "{amount}");
        }
        let refused = price("19.905", "USD").unwrap_err();
        let text = "19.905 has more than the 2 decimals of USD: write an amount like 19.90";
        assert_eq!(refused.to_string(), text);
        let refused = price("0.005", "USD").unwrap_err();
        assert!(refused.to_string().ends_with("like 1.00"), "{refused}");
    }

    #[test]
    fn nothing_is_no_price() {
        for amount in ["0", "0.00"] {
            assert_eq!(price(amount, "USD"), Err(InvalidPrice::Zero));
        }
    }

    #[test]
    fn many_cost_as_much_as_each() {
        let (many, each) = (NonZeroU32::new(3).unwrap(), price("19.90", "USD").unwrap());
        assert_eq!(each.times(many).unwrap().to_string(), "59.70 USD");
        let most = price("999999999999", "USD").unwrap();
        assert_eq!(most.times(many), Err(AmountError::TooLarge));
    }
}

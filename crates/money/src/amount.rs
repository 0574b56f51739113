//! An amount to calculate with: exact, non-negative, every result a value to handle.

use core::fmt;
use core::str::FromStr;

use rust_decimal::{Decimal, RoundingStrategy};

use crate::{AmountText, InvalidAmount};

/// A non-negative exact decimal, below 10^12 with at most 18 decimals.
///
/// Equal amounts are equal however they are written (`1.50 == 1.5`); [`fmt::Display`] keeps the written scale.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Amount(pub(crate) Decimal);

/// What to do with the digits that do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Towards more: what a customer must send.
    Up,
    /// Towards zero: for amounts that a customer has sent.
    Down,
}

/// A calculation without a result that fits an [`Amount`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AmountError {
    /// The result is above what an amount can hold.
    #[error("the result is too large for an amount")]
    TooLarge,
    /// More was taken away than was there.
    #[error("the result would be negative")]
    Negative,
    /// A rate of zero.
    #[error("division by an amount of zero")]
    DivisionByZero,
}

impl Amount {
    /// Nothing.
    pub const ZERO: Self = Self(Decimal::ZERO);
    /// One unit.
    pub const ONE: Self = Self(Decimal::ONE);

    /// Reads an amount by the grammar of [`AmountText`].
    ///
    /// # Errors
    /// [`InvalidAmount`] as [`AmountText::parse`].
    pub fn parse(text: &str) -> Result<Self, InvalidAmount> {
        Ok(Self::from(&AmountText::parse(text)?))
    }

    /// Returns `true` if the amount is zero.
    pub fn is_zero(self) -> bool {
        self.0.is_zero()
    }

    /// Digits behind the point that carry a value: 1 for `1.50`, 0 for `3.00`.
    pub fn decimals(self) -> u32 {
        self.0.normalize().scale()
    }

    /// The sum.
    ///
    /// # Errors
    /// [`AmountError::TooLarge`].
    pub fn checked_add(self, other: Self) -> Result<Self, AmountError> {
        fit(self.0.checked_add(other.0))
    }

    /// What is left after taking `other` away.
    ///
    /// # Errors
    /// [`AmountError::Negative`] when `other` is more.
    pub fn checked_sub(self, other: Self) -> Result<Self, AmountError> {
        if other > self {
            return Err(AmountError::Negative);
        }
        fit(self.0.checked_sub(other.0))
    }

    /// `self` that many times.
    ///
    /// # Errors
    /// [`AmountError::TooLarge`].
    pub fn checked_mul(self, count: u32) -> Result<Self, AmountError> {
        fit(self.0.checked_mul(Decimal::from(count)))
    }

    /// `self × numerator ÷ denominator`, rounded to `decimals`.
    ///
    /// # Errors
    /// [`AmountError::DivisionByZero`]; [`AmountError::TooLarge`], also when a step
    /// between needs more than 38 digits.
    pub fn mul_div(
        self,
        numerator: Self,
        denominator: Self,
        decimals: u32,
        rounding: Rounding,
    ) -> Result<Self, AmountError> {
        let (denominator, numerator) = (denominator.0.normalize(), numerator.0.normalize());
        let price = self.0.normalize();
        // quotient in units of 10^-decimals = mantissas × 10^shift, all in whole numbers: no digit is lost.
        let shift = i64::from(decimals) + i64::from(denominator.scale())
            - i64::from(price.scale())
            - i64::from(numerator.scale());
        let dividend = whole(price)
            .checked_mul(whole(numerator))
            .ok_or(AmountError::TooLarge)?;
        let (dividend, divisor) = if shift >= 0 {
            (shifted(dividend, shift)?, whole(denominator))
        } else {
            (dividend, shifted(whole(denominator), -shift)?)
        };
        let floor = dividend
            .checked_div(divisor)
            .ok_or(AmountError::DivisionByZero)?;
        let up = rounding == Rounding::Up && floor * divisor < dividend;
        let units = i128::try_from(floor + u128::from(up)).map_err(|_| AmountError::TooLarge)?;
        fit(Decimal::try_from_i128_with_scale(units, decimals)
            .ok()
            .map(|value| value.normalize()))
    }

    /// The same amount written with exactly `decimals` decimals where it has fewer: `5` → `5.00`.
    pub fn with_min_decimals(self, decimals: u32) -> Self {
        let mut value = self.0.normalize();
        if value.scale() < decimals {
            value.rescale(decimals);
        }
        Self(value)
    }

    /// At most six significant digits and every whole one, rounded up: `124.662` for `124.66172197`. An amount in a list must
    /// not promise less than is to be sent.
    pub fn shortened(self) -> Self {
        let up = RoundingStrategy::ToPositiveInfinity;
        let rounded = if self.0 < Decimal::from(100_000) {
            self.0.round_sf_with_strategy(6, up)
        } else {
            Some(self.0.round_dp_with_strategy(0, up))
        };
        fit(rounded.map(|value| value.normalize())).unwrap_or(self)
    }

    /// The amount as text, as it is sent and shown.
    pub fn to_text(self) -> AmountText {
        AmountText::parse(&self.to_string()).expect("an amount is written by its own grammar")
    }
}

/// The digits of a non-negative decimal as a whole number.
fn whole(value: Decimal) -> u128 {
    value.mantissa().unsigned_abs()
}

fn shifted(value: u128, digits: i64) -> Result<u128, AmountError> {
    let power = u32::try_from(digits)
        .ok()
        .and_then(|digits| 10_u128.checked_pow(digits));
    power
        .and_then(|power| value.checked_mul(power))
        .ok_or(AmountError::TooLarge)
}

fn fit(value: Option<Decimal>) -> Result<Amount, AmountError> {
    let value = value.ok_or(AmountError::TooLarge)?;
    let limit = Decimal::from(1_000_000_000_000_u64);
    if value >= limit || value.scale() > 18 || value.mantissa().unsigned_abs() >= 10_u128.pow(28) {
        return Err(AmountError::TooLarge);
    }
    Ok(Amount(value))
}

impl From<&AmountText> for Amount {
    fn from(text: &AmountText) -> Self {
        Self(Decimal::from_str_exact(text.as_str()).expect("28 digits fit a 96-bit decimal"))
    }
}

impl FromStr for Amount {
    type Err = InvalidAmount;

    fn from_str(text: &str) -> Result<Self, InvalidAmount> {
        Self::parse(text)
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Amount({})", self.0)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Amount {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Amount {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::from(&AmountText::deserialize(deserializer)?))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn amount(text: &str) -> Amount {
        Amount::parse(text).unwrap()
    }

    #[test]
    fn equal_amounts_are_equal_however_they_are_written() {
        assert_eq!(amount("1.50"), amount("1.5"));
        assert_eq!(amount("1.50").to_string(), "1.50");
    }

    #[test]
    fn a_remainder_beyond_twenty_eight_digits_is_still_rounded_up() {
        // 1 / 0.999999999999999999 = 1.000000000000000001 000000000000000001 …
        let quotient = Amount::ONE
            .mul_div(
                Amount::ONE,
                amount("0.999999999999999999"),
                18,
                Rounding::Up,
            )
            .unwrap();
        assert_eq!(quotient.to_string(), "1.000000000000000002");
    }

    #[test]
    fn nothing_goes_below_zero() {
        assert_eq!(
            amount("1").checked_sub(amount("1.01")),
            Err(AmountError::Negative)
        );
        assert_eq!(
            amount("1.01").checked_sub(amount("1")).unwrap(),
            amount("0.01")
        );
    }

    #[test]
    fn a_rate_of_zero_is_an_error_not_a_panic() {
        let quotient = amount("1").mul_div(Amount::ONE, Amount::ZERO, 8, Rounding::Up);
        assert_eq!(quotient, Err(AmountError::DivisionByZero));
    }

    #[test]
    fn a_result_beyond_an_amount_is_an_error() {
        assert_eq!(
            amount("999999999999").checked_add(Amount::ONE),
            Err(AmountError::TooLarge)
        );
        assert_eq!(
            amount("999999999999").checked_mul(2),
            Err(AmountError::TooLarge)
        );
    }

    #[test]
    fn an_amount_is_padded_for_people_and_never_cut() {
        assert_eq!(amount("5").with_min_decimals(2).to_string(), "5.00");
        assert_eq!(amount("5.123").with_min_decimals(2).to_string(), "5.123");
    }

    #[test]
    fn six_digits_are_kept_and_the_last_is_rounded_up() {
        for (whole, short) in [
            ("124.66172197", "124.662"),
            ("0.00030973", "0.00030973"),
            ("0.123456789", "0.123457"),
            ("19.900000", "19.9"),
            // A carry goes through every digit.
            ("9.999999001", "10"),
            ("0.09999999", "0.1"),
            ("999999.5", "1000000"),
            // Whole digits are never cut.
            ("1234567.25", "1234568"),
            ("1234567", "1234567"),
            ("999999999999.5", "999999999999.5"),
        ] {
            assert_eq!(amount(whole).shortened().to_string(), short);
        }
    }

    proptest! {
        #[test]
        fn parsing_what_was_shown_gives_the_same_amount(units in 0_u64..10_u64.pow(12), scale in 0_u32..=18) {
            let shown = Amount(Decimal::from_i128_with_scale(i128::from(units), scale)).to_string();
            prop_assert_eq!(amount(&shown).to_string(), shown);
        }

        #[test]
        fn rounded_up_covers_and_rounded_down_never_exceeds(
            price in 1_u32..100_000_000, rate in 1_u32..1_000_000_000, decimals in 2_u32..=8
        ) {
            let price = Amount(Decimal::new(i64::from(price), 2));
            let rate = Amount(Decimal::new(i64::from(rate), 4));
            let up = price.mul_div(Amount::ONE, rate, decimals, Rounding::Up).unwrap();
            let down = price.mul_div(Amount::ONE, rate, decimals, Rounding::Down).unwrap();
            prop_assert!(up.0 * rate.0 >= price.0);
            prop_assert!(down.0 * rate.0 <= price.0);
            prop_assert!(up.0 - down.0 <= Decimal::new(1, decimals));
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in ".{0,64}") {
            let _ = Amount::parse(&text);
        }
    }
}

//! Amounts in the smallest unit of an asset, written as EIP-681 allows: `2014000000000000000` or `2.014e18`.

use money::Amount;

/// Whether `text` units of 10^-`decimals` are exactly `amount`.
pub(super) fn equal(text: &str, amount: Amount, decimals: u32) -> bool {
    let shift = i64::from(decimals);
    let asked = Number::parse(&amount.to_string(), shift);
    asked.is_some() && Number::parse(text, 0) == asked
}

/// `digits` × 10^`exponent`, with no zero at either end: equal numbers are equal.
#[derive(PartialEq, Eq)]
struct Number {
    digits: String,
    exponent: i64,
}

impl Number {
    /// Reads digits with an optional point and exponent, and moves the point by `shift` places.
    fn parse(text: &str, shift: i64) -> Option<Self> {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
        let plain = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if ![integer, fraction, exponent].into_iter().all(plain) {
            return None;
        }
        let exponent = i64::from(exponent.parse::<u32>().ok()?) + shift;
        let exponent = exponent - i64::try_from(fraction.len()).ok()?;
        let digits = format!("{integer}{fraction}");
        let significant = digits.trim_start_matches('0');
        let digits = significant.trim_end_matches('0');
        if digits.is_empty() {
            return Some(Self {
                digits: String::new(),
                exponent: 0,
            });
        }
        Some(Self {
            digits: digits.to_owned(),
            exponent: exponent + i64::try_from(significant.len() - digits.len()).ok()?,
        })
    }
}

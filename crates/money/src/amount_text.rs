//! An amount as it is written: the one grammar for amounts, wherever they come from.

use core::fmt;

/// Digits allowed before the point.
const MAX_INTEGER_DIGITS: usize = 12;
/// Digits allowed behind the point: the smallest unit of ether has eighteen.
const MAX_FRACTION_DIGITS: usize = 18;
/// Both together: what a 96-bit decimal holds without rounding.
const MAX_DIGITS: usize = 28;

/// A non-negative decimal number as text.
///
/// Shape: `0` or digits without a leading zero, at most 12; optionally a point and 1 to 18 digits; at most 28 digits
/// in all. No sign, no exponent, no blanks, no grouping. `"19.90"` stays `"19.90"`: what was written is what is shown.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(transparent))]
pub struct AmountText(String);

impl AmountText {
    /// Checks the grammar, before any number parser sees the text.
    ///
    /// # Errors
    /// [`InvalidAmount`] names what is wrong and keeps the refused text.
    pub fn parse(text: &str) -> Result<Self, InvalidAmount> {
        check(text).map_err(|reason| InvalidAmount {
            // An overlong text is not echoed whole: errors are logged and sent to people.
            input: text.chars().take(40).collect(),
            reason,
        })?;
        Ok(Self(text.to_owned()))
    }

    /// The text itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Digits behind the point.
    pub fn decimals(&self) -> usize {
        self.0
            .split_once('.')
            .map_or(0, |(_, fraction)| fraction.len())
    }
}

impl fmt::Display for AmountText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for AmountText {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// A text that is not an amount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidAmount {
    /// The refused text, its first 40 characters.
    pub input: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl fmt::Display for InvalidAmount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not an amount: {}", self.input, self.reason)
    }
}

impl core::error::Error for InvalidAmount {}

fn check(text: &str) -> Result<(), &'static str> {
    let (integer, fraction) = match text.split_once('.') {
        Some((integer, fraction)) => (integer, Some(fraction)),
        None => (text, None),
    };
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !digits(integer) || !fraction.is_none_or(digits) {
        return Err("write digits, and a point before the decimals, like 19.90");
    }
    if integer.len() > 1 && integer.starts_with('0') {
        return Err("leave out the leading zero");
    }
    if integer.len() > MAX_INTEGER_DIGITS {
        return Err("it has more than 12 digits before the point");
    }
    let decimals = fraction.map_or(0, str::len);
    if decimals > MAX_FRACTION_DIGITS || integer.len() + decimals > MAX_DIGITS {
        return Err("it has too many decimals");
    }
    Ok(())
}

/// Without trailing zeros: `0.0002` for `0.00020000`. From one whole unit on, a fraction keeps two decimals as money has
/// them: `19.90`.
pub fn trimmed(amount: &str) -> String {
    let Some((whole, fraction)) = amount.split_once('.') else {
        return amount.to_owned();
    };
    let fraction = fraction.trim_end_matches('0');
    match fraction.len() {
        0 => whole.to_owned(),
        1 if whole != "0" => format!("{whole}.{fraction}0"),
        _ => format!("{whole}.{fraction}"),
    }
}

/// With at least as many decimals as `other`, so that the two compare at sight: `0.00020000` for `0.0002` beside `0.00030973`.
pub fn padded(mut amount: String, other: &str) -> String {
    let decimals = |text: &str| {
        text.split_once('.')
            .map_or(0, |(_, decimals)| decimals.len())
    };
    let missing = decimals(other).saturating_sub(decimals(&amount));
    if missing > 0 && !amount.contains('.') {
        amount.push('.');
    }
    amount.extend(core::iter::repeat_n('0', missing));
    amount
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_the_decimals_of_the_whole() {
        for (part, whole, shown) in [
            ("0.0002", "0.00030973", "0.00020000"),
            ("6.25", "12.50", "6.25"),
            ("6", "12.50", "6.00"),
            ("6.125", "12.50", "6.125"),
            ("6", "12", "6"),
        ] {
            assert_eq!(padded(part.to_owned(), whole), shown);
        }
    }

    #[track_caller]
    fn refused(text: &str) -> &'static str {
        AmountText::parse(text).expect_err("must be refused").reason
    }

    #[test]
    fn what_was_written_is_what_is_shown() {
        for text in [
            "0",
            "0.00",
            "19.90",
            "999999999999.99",
            "0.000000000000000001",
        ] {
            assert_eq!(AmountText::parse(text).unwrap().as_str(), text);
        }
    }

    #[test]
    fn signs_exponents_words_and_blanks_are_refused() {
        let hint = "write digits, and a point before the decimals, like 19.90";
        for text in [
            "", ".", "1.", ".5", "+1", "-1", "1e3", "1E3", "NaN", "inf", " 1", "1 ", "1,000",
            "1.2.3", "0x10", "١", "1_0", "1\n",
        ] {
            assert_eq!(refused(text), hint, "{text:?}");
        }
    }

    #[test]
    fn leading_zeros_and_overlong_numbers_are_refused() {
        assert_eq!(refused("00"), "leave out the leading zero");
        assert_eq!(refused("01.5"), "leave out the leading zero");
        assert_eq!(
            refused("1000000000000"),
            "it has more than 12 digits before the point"
        );
        assert_eq!(refused("0.0000000000000000001"), "it has too many decimals");
        assert_eq!(
            refused("99999999999.123456789012345678"),
            "it has too many decimals"
        );
    }

    #[test]
    fn an_overlong_text_is_not_echoed_whole() {
        let error = AmountText::parse(&"9".repeat(10_000)).expect_err("must be refused");
        assert_eq!(error.input.len(), 40);
    }

    #[test]
    fn trailing_zeros_are_cut() {
        assert_eq!(trimmed("0.00020000"), "0.0002");
        assert_eq!(trimmed("0.50"), "0.5");
        assert_eq!(trimmed("19.900000"), "19.90");
        assert_eq!(trimmed("12.000000"), "12");
        assert_eq!(trimmed("1200"), "1200");
    }
}

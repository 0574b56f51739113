//! The currency's sign beside an amount.

/// A currency's sign, and on which side of the amount it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sign {
    /// `$`, `US$`, `CHF`, `kr`.
    pub sign: String,
    /// Whether it stands before the amount, on the left.
    pub leads: bool,
}

/// Reads the sign out of nothing as the language writes it: `nothing` in this currency, `$0`, and `zero` without one,
/// `0`.
pub fn sign(nothing: &str, zero: &str) -> Sign {
    let is_digit = |c: char| zero.chars().any(|digit| digit == c);
    // U+061C, U+200E and U+200F steer the direction; U+066B is the Arabic decimal point.
    let is_amount = |c: char| {
        is_digit(c)
            || matches!(
                c,
                ' ' | '\u{a0}'
                    | '\u{202f}'
                    | '.'
                    | ','
                    | '\u{66b}'
                    | '\u{61c}'
                    | '\u{200e}'
                    | '\u{200f}'
            )
    };
    let digits = nothing.find(is_digit);
    let sign: String = nothing.chars().filter(|c| !is_amount(*c)).collect();
    let leads = nothing.find(|c| !is_amount(c)) < digits;
    Sign { sign, leads }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn is(nothing: &str, zero: &str, expected: &str, leads: bool) {
        let found = sign(nothing, zero);
        assert_eq!((found.sign.as_str(), found.leads), (expected, leads));
    }

    #[test]
    fn a_sign_is_read_on_either_side() {
        is("$0.00", "0", "$", true);
        is("0,00\u{a0}€", "0", "€", false);
        is("CHF\u{a0}0.00", "0", "CHF", true);
        is("\u{200f}0.00\u{a0}US$", "0", "US$", false);
    }

    #[test]
    fn digits_of_other_scripts_are_no_sign() {
        is(
            "\u{200e}US$\u{6f0}\u{66b}\u{6f0}\u{6f0}",
            "\u{6f0}",
            "US$",
            true,
        );
    }

    #[test]
    fn a_currency_without_decimals_has_a_sign() {
        is("¥0", "0", "¥", true);
    }
}

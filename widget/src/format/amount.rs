//! Amounts as texts: shortened where they are compared, not copied; and the currency's sign beside them.

/// Digits after leading zeros in a list of amounts.
const SIGNIFICANT_DIGITS: usize = 6;

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

/// At most six significant digits and every whole one, rounded up: `124.662` for `124.66172197`. An amount in a list must
/// not promise less than is to be sent.
pub fn shortened(amount: &str) -> String {
    let Some((whole, fraction)) = amount.split_once('.') else {
        return amount.to_owned();
    };
    let is_below_one = whole.bytes().all(|b| b == b'0');
    let decimals = if is_below_one {
        let zeros = fraction.bytes().take_while(|b| *b == b'0').count();
        zeros + SIGNIFICANT_DIGITS
    } else {
        SIGNIFICANT_DIGITS.saturating_sub(whole.len())
    };
    let Some((kept, cut)) = fraction.split_at_checked(decimals) else {
        return trimmed(amount);
    };
    if cut.bytes().all(|b| b == b'0') {
        return trimmed(&format!("{whole}.{kept}"));
    }
    let mut digits = format!("{whole}{kept}").into_bytes();
    let is_carried_out = !increment(&mut digits);
    if is_carried_out {
        digits.insert(0, b'1');
    }
    let digits = String::from_utf8(digits).unwrap_or_default();
    match digits.split_at_checked(digits.len() - kept.len()) {
        Some((whole, "")) => whole.to_owned(),
        Some((whole, kept)) => trimmed(&format!("{whole}.{kept}")),
        None => trimmed(amount),
    }
}

/// Adds one to a row of decimal digits. Returns `false` if all were nines: they are zeros then, and a one is to be put
/// before them.
fn increment(digits: &mut [u8]) -> bool {
    for digit in digits.iter_mut().rev() {
        if *digit != b'9' {
            *digit += 1;
            return true;
        }
        *digit = b'0';
    }
    false
}

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

    #[test]
    fn trailing_zeros_are_cut() {
        assert_eq!(trimmed("0.00020000"), "0.0002");
        assert_eq!(trimmed("0.50"), "0.5");
        assert_eq!(trimmed("19.900000"), "19.90");
        assert_eq!(trimmed("12.000000"), "12");
        assert_eq!(trimmed("1200"), "1200");
    }

    #[test]
    fn six_digits_are_kept_and_the_last_is_rounded_up() {
        assert_eq!(shortened("124.66172197"), "124.662");
        assert_eq!(shortened("0.00030973"), "0.00030973");
        assert_eq!(shortened("0.123456789"), "0.123457");
        assert_eq!(shortened("0.23952096"), "0.239521");
        assert_eq!(shortened("19.900000"), "19.90");
    }

    #[test]
    fn a_carry_goes_through_every_digit() {
        assert_eq!(shortened("9.999999001"), "10");
        assert_eq!(shortened("999999.5"), "1000000");
        assert_eq!(shortened("0.09999999"), "0.1");
    }

    #[test]
    fn whole_digits_are_never_cut() {
        assert_eq!(shortened("1234567.25"), "1234568");
        assert_eq!(shortened("1234567"), "1234567");
    }

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

//! Exact amounts: whole numbers of 10⁻¹⁸, with none of the product's arithmetic.

pub const ONE: i128 = 1_000_000_000_000_000_000;

/// A price and the part of it that may be missing, in units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    pub amount: i128,
    /// The store's `underpayment_tolerance`.
    pub tolerance: i128,
}

/// Parses `19.90`. Returns `None` for anything but digits with at most one point and 18 decimals.
pub fn units(text: &str) -> Option<i128> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !is_digits(whole) || !is_digits(fraction) || fraction.len() > 18 {
        return None;
    }
    format!("{whole}{fraction:0<18}").parse().ok()
}

pub fn text(units: i128) -> String {
    let fraction = format!("{:018}", units % ONE);
    let kept = fraction.trim_end_matches('0').len().max(2);
    format!("{}.{}", units / ONE, &fraction[..kept])
}

/// `of * part / whole`, rounded down to this number of decimals.
pub fn share(of: i128, part: i128, whole: i128, decimals: u32) -> i128 {
    // The product of two amounts does not fit: exact long division.
    let (quotient, rest) = (of / whole, of % whole);
    let exact = quotient * part + mul_div(rest, part, whole);
    let step = 10_i128.pow(18 - decimals);
    exact / step * step
}

/// `a * b / c` rounded down, for `a < c`, digit by digit in base 2.
fn mul_div(a: i128, b: i128, c: i128) -> i128 {
    let (mut quotient, mut rest) = (0, 0);
    for bit in (0..127).rev() {
        quotient *= 2;
        rest *= 2;
        if b >> bit & 1 == 1 {
            rest += a;
        }
        quotient += rest / c;
        rest %= c;
    }
    quotient
}

/// Returns `true` if `a * b >= c * d`. No factor is negative.
pub fn at_least(a: i128, b: i128, c: i128, d: i128) -> bool {
    wide(a, b) >= wide(c, d)
}

/// The product of two amounts: its upper and lower 128 bits.
fn wide(a: i128, b: i128) -> (u128, u128) {
    let (low, high) = a.unsigned_abs().carrying_mul(b.unsigned_abs(), 0);
    (high, low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_parsed_and_formatted_exactly() {
        assert_eq!(units("19.90"), Some(199 * ONE / 10));
        assert_eq!(units("0.000000000000000001"), Some(1));
        assert_eq!(text(199 * ONE / 10), "19.90");
        assert_eq!(text(1), "0.000000000000000001");
        for wrong in [
            "",
            ".5",
            "-1",
            "1e3",
            "1,5",
            "1.2.3",
            "0.0000000000000000001",
        ] {
            assert_eq!(units(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_share_is_rounded_down() {
        assert_eq!(share(10 * ONE, 1, 3, 2), 333 * ONE / 100);
        // 123456789 ETH of 987654321: the product has 53 digits.
        let (of, part, whole) = (123_456_789 * ONE, 2 * ONE, 3 * ONE);
        assert_eq!(share(of, part, whole, 18), 82_304_526 * ONE);
    }

    #[test]
    fn products_beyond_128_bits_are_compared_exactly() {
        let large = i128::MAX / 3;
        assert!(at_least(large, large, large, large));
        assert!(!at_least(large, large - 1, large, large));
        assert!(at_least(large, large, large - 1, large));
        assert_eq!(wide(1 << 64, 1 << 64), (1, 0));
        assert_eq!(wide(i128::MAX, 4), (1, u128::MAX - 3));
    }
}

//! Amounts of the model: whole numbers of 10⁻¹⁸, with none of the product's arithmetic.

/// How many units are one.
pub(crate) const ONE: i128 = 1_000_000_000_000_000_000;

/// Reads `19.90`; `None` for anything else than digits with at most one point.
pub(crate) fn units(text: &str) -> Option<i128> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !is_digits(whole) || !is_digits(fraction) || fraction.len() > 18 {
        return None;
    }
    format!("{whole}{fraction:0<18}").parse().ok()
}

/// Writes it with at least two decimals.
pub(crate) fn text(units: i128) -> String {
    let fraction = format!("{:018}", units % ONE);
    let kept = fraction.trim_end_matches('0').len().max(2);
    format!("{}.{}", units / ONE, &fraction[..kept])
}

/// `part` of `whole` of `of`, rounded down to so many decimals.
pub(crate) fn share(of: i128, part: i128, whole: i128, decimals: u32) -> i128 {
    // Exact long division: the product of two amounts does not fit.
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

/// Whether `a * b >= c * d`.
pub(crate) fn at_least(a: i128, b: i128, c: i128, d: i128) -> bool {
    wide(a, b) >= wide(c, d)
}

/// The product of two amounts as two digits in base 2⁶⁴·2⁶⁴.
fn wide(a: i128, b: i128) -> (u128, u128) {
    let (a, b) = (a.unsigned_abs(), b.unsigned_abs());
    let low = |n: u128| n & u128::from(u64::MAX);
    let (a1, a0, b1, b0) = (a >> 64, low(a), b >> 64, low(b));
    let bottom = a0 * b0;
    let middle = a1 * b0 + (bottom >> 64);
    let (carry, middle) = (middle >> 64, low(middle) + a0 * b1);
    (
        a1 * b1 + carry + (middle >> 64),
        (middle << 64) | low(bottom),
    )
}

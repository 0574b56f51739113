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
fn rounding_up_never_asks_for_less_than_the_price() {
    let third = amount("1")
        .mul_div(Amount::ONE, amount("3"), 8, Rounding::Up)
        .unwrap();
    assert_eq!(third.to_string(), "0.33333334");
    let exact = amount("1")
        .mul_div(Amount::ONE, amount("4"), 8, Rounding::Up)
        .unwrap();
    assert_eq!(exact.to_string(), "0.25");
}

#[test]
fn rounding_down_never_claims_more_than_was_sent() {
    let two_thirds = amount("2")
        .mul_div(Amount::ONE, amount("3"), 2, Rounding::Down)
        .unwrap();
    assert_eq!(two_thirds.to_string(), "0.66");
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
fn an_invalid_text_is_refused_with_the_reason() {
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

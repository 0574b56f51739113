//! Prices as the shop writes them.

use florin_money::{Amount, Currency};

/// Signs that stand before an amount in English.
const SIGNS: [(&str, &str); 4] = [("USD", "$"), ("EUR", "€"), ("GBP", "£"), ("JPY", "¥")];

/// `$5,200.00`; `5,200.00 CHF` in a currency without a sign.
pub(crate) fn price(amount: Amount, currency: Currency) -> String {
    let amount = grouped(&amount.with_min_decimals(currency.decimals()).to_string());
    match SIGNS.iter().find(|(code, _)| *code == currency.as_str()) {
        Some((_, sign)) => format!("{sign}{amount}"),
        None => format!("{amount}\u{a0}{currency}"),
    }
}

/// Commas between the thousands.
fn grouped(amount: &str) -> String {
    let whole = amount.find('.').unwrap_or(amount.len());
    let mut text = String::new();
    for (at, digit) in amount.char_indices() {
        if at > 0 && at < whole && (whole - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn is(amount: &str, currency: &str, written: &str) {
        let amount = Amount::parse(amount).unwrap();
        assert_eq!(price(amount, Currency::parse(currency).unwrap()), written);
    }

    #[test]
    fn a_price_has_its_sign_and_its_thousands_apart() {
        is("5200", "USD", "$5,200.00");
        is("19.9", "EUR", "€19.90");
        is("1234567.5", "USD", "$1,234,567.50");
        is("150", "JPY", "¥150");
        is("999", "CHF", "999.00\u{a0}CHF");
    }
}

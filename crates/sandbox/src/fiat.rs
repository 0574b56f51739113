//! The currencies in which a customer of a hosted checkout may pay.

use florin_money::{Amount, Currency};

use crate::Settings;

/// Units for one US dollar, rounded from the rates of late 2026. They stand still: only coins move here.
const RATES: [(&str, &str); 9] = [
    ("USD", "1"),
    ("EUR", "0.92"),
    ("GBP", "0.79"),
    ("CHF", "0.88"),
    ("JPY", "150"),
    ("CAD", "1.36"),
    ("AUD", "1.52"),
    ("INR", "83.4"),
    ("BRL", "5.4"),
];

/// Units of a currency for one US dollar: the account's own rate for its currency, else the table's.
pub(crate) fn per_usd(settings: &Settings, currency: Currency) -> Option<Amount> {
    if currency == settings.local_currency {
        return Some(settings.local_per_usd);
    }
    let listed = RATES.iter().find(|(code, _)| *code == currency.as_str());
    listed.map(|(_, rate)| Amount::parse(rate).expect("the table holds amounts"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_currency_has_a_rate_and_others_have_none() {
        let settings = Settings::default();
        for (code, rate) in RATES {
            let found = per_usd(&settings, Currency::parse(code).unwrap());
            assert_eq!(found.unwrap().to_string(), rate);
        }
        let unlisted = Currency::parse("KWD").unwrap();
        assert_eq!(per_usd(&settings, unlisted), None);
    }

    #[test]
    fn the_accounts_own_rate_comes_first() {
        let settings = Settings {
            local_currency: Currency::parse("EUR").unwrap(),
            local_per_usd: Amount::ONE,
            ..Settings::default()
        };
        let euro = per_usd(&settings, settings.local_currency);
        assert_eq!(euro, Some(Amount::ONE));
    }
}

use florin_money::Asset;

use super::*;
use crate::coin::offered;

fn amount(text: &str) -> Amount {
    Amount::parse(text).unwrap()
}

fn conversion(asset: Asset, usd: &str, local: &str, currency: &str) -> Conversion {
    let coins = offered(false);
    let coin = coins
        .into_iter()
        .find(|coin| coin.code == asset.crypto_code());
    Conversion {
        coin: coin.unwrap(),
        usd: amount(usd),
        local: amount(local),
        local_currency: Currency::parse(currency).unwrap(),
        issued_at: Timestamp::from_second(1_000).unwrap(),
        number: 1,
    }
}

fn bitcoin() -> Conversion {
    conversion(Asset::BTC, "64250.13", "64250.13", "USD")
}

fn terms(crypto: &str, usd: &str, local: &str) -> Terms {
    let text = |text| AmountText::parse(text).unwrap();
    Terms {
        crypto: text(crypto),
        usd: text(usd),
        local: text(local),
    }
}

#[track_caller]
fn wrong_because(conversion: &Conversion, terms: &Terms) -> String {
    match conversion.check(terms) {
        Err(Misfit::Wrong(text)) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_price_rounded_either_way_fits() {
    // 19.90 ÷ 64250.13 = 0.000309726…
    for crypto in ["0.00030972", "0.00030973", "0.00031000"] {
        assert_eq!(
            bitcoin().check(&terms(crypto, "19.90", "19.90")),
            Ok(()),
            "{crypto}"
        );
    }
}

#[test]
fn less_crypto_than_the_price_asks_for_is_wrong() {
    let text = wrong_because(&bitcoin(), &terms("0.00030971", "19.90", "19.90"));
    assert!(
        text.contains("less than") && text.contains("0.00030972 BTC"),
        "{text}"
    );
}

#[test]
fn much_more_crypto_than_the_price_asks_for_is_wrong() {
    let text = wrong_because(&bitcoin(), &terms("0.00031500", "19.90", "19.90"));
    assert!(
        text.contains("more than") && text.contains("0.00030973 BTC"),
        "{text}"
    );
}

#[test]
fn dollars_must_be_worth_the_local_amount() {
    let yen = conversion(Asset::LTC, "84.20", "12630", "JPY");
    // 3000 JPY ÷ 150 = 20 USD; a yen is 0.0067 USD.
    for usd in ["20.00", "20.01", "19.99", "20.016"] {
        assert_eq!(
            yen.check(&terms("0.23752970", usd, "3000")),
            Ok(()),
            "{usd}"
        );
    }
    for usd in ["20.02", "19.98", "3000"] {
        let text = wrong_because(&yen, &terms("0.23752970", usd, "3000"));
        assert!(
            text.contains("not the same money") && text.contains("20 USD"),
            "{text}"
        );
    }
}

#[test]
fn limits_are_in_the_assets_own_unit_and_included() {
    let tether = conversion(Asset::USDTERC20, "1", "1", "USD");
    let check = |text| tether.check(&terms(text, text, text));
    assert_eq!(check("5"), Ok(()));
    assert_eq!(check("50000"), Ok(()));
    assert_eq!(
        check("4.99"),
        Err(Misfit::OutOfRange(
            "amount_in_crypto 4.99 is below the minimum of 5 USDTERC20".to_owned()
        ))
    );
    assert_eq!(
        check("50000.01"),
        Err(Misfit::OutOfRange(
            "amount_in_crypto 50000.01 is above the maximum of 50000 USDTERC20".to_owned()
        ))
    );
}

#[test]
fn an_asset_without_a_minimum_still_needs_an_amount() {
    let bnb = conversion(Asset::BNB, "590", "590", "USD");
    assert_eq!(
        bnb.check(&terms("0.00000001", "0.00", "0.00000590")),
        Ok(())
    );
    for (crypto, local) in [("0", "0"), ("0.1", "0.00"), ("0.000", "59")] {
        let text = wrong_because(&bnb, &terms(crypto, local, local));
        assert!(text.contains("over nothing"), "{text}");
    }
}

#[test]
fn an_amount_finer_than_the_asset_is_wrong() {
    let text = wrong_because(&bitcoin(), &terms("0.000309731", "19.90", "19.90"));
    assert!(text.contains("more decimals than BTC has (8)"), "{text}");
    assert_eq!(
        bitcoin().check(&terms("0.0003097300", "19.90", "19.90")),
        Ok(())
    );
}

#[test]
fn amounts_beyond_calculation_are_wrong_and_no_panic() {
    let tether = conversion(Asset::TRX, "0.13", "0.13", "USD");
    let text = wrong_because(
        &tether,
        &terms("999999999999.999999", "1", "999999999999.99"),
    );
    assert!(text.contains("cannot be calculated with"), "{text}");
}

#[test]
fn a_conversion_lapses_when_its_time_is_over() {
    let at = |second| Timestamp::from_second(second).unwrap();
    assert!(!bitcoin().has_lapsed(at(1_119), 120));
    assert!(bitcoin().has_lapsed(at(1_120), 120));
}

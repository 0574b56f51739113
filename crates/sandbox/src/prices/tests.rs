use florin_money::Asset;

use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn amount(text: &str) -> Amount {
    Amount::parse(text).unwrap()
}

fn code(text: &str) -> CryptoCode {
    CryptoCode::parse(text).unwrap()
}

fn prices(seed: u64) -> Prices {
    Prices::new(&Settings::default(), Seed::new(seed)).unwrap()
}

fn issue(prices: &mut Prices, text: &str) -> Conversion {
    let mut issued = prices.issue(at(1_000)).into_iter();
    issued
        .find(|issued| issued.coin.code == code(text))
        .unwrap()
}

#[test]
fn a_conversion_is_valid_for_its_asset_and_its_time() {
    let mut prices = prices(1);
    let id = issue(&mut prices, "BTC").id;
    let found = |text, second| prices.conversion(&id, &code(text), at(second)).map(|_| ());
    assert_eq!(found("BTC", 1_119), Ok(()));
    let other = Err(ConversionError::OtherAsset(code("BTC")));
    assert_eq!(found("ETH", 1_000), other);
    assert_eq!(found("BTC", 1_120), Err(ConversionError::Expired));
    let unknown = prices.conversion("conv_1", &code("BTC"), at(1_000));
    assert_eq!(unknown.map(|_| ()), Err(ConversionError::Unknown));
}

#[test]
fn a_moved_price_applies_to_new_conversions_only() {
    let mut prices = prices(1);
    let before = issue(&mut prices, "BTC");
    prices.set(&code("BTC"), amount("70000")).unwrap();
    let kept = prices.conversion(&before.id, &code("BTC"), at(1_000));
    assert_eq!(kept.unwrap().usd, before.usd);
    assert_eq!(issue(&mut prices, "BTC").usd.to_string(), "70000.00");
}

fn conversion(asset: Asset, usd: &str, local: &str, currency: &str) -> Conversion {
    let coins = offered(false);
    let coin = coins
        .into_iter()
        .find(|coin| coin.code == asset.crypto_code());
    Conversion {
        id: "conv_1".to_owned(),
        coin: coin.unwrap(),
        usd: amount(usd),
        local: amount(local),
        local_currency: Currency::parse(currency).unwrap(),
        issued_at: at(1_000),
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
fn mismatch(conversion: &Conversion, terms: &Terms) -> String {
    match conversion.check(terms) {
        Err(TermsError::Mismatch(text)) => text,
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
fn crypto_that_does_not_fit_the_price_the_asset_or_the_arithmetic_is_wrong() {
    for (crypto, local, expected) in [
        (
            "0.00030971",
            "19.90",
            "less than amount_in_local_currency 19.90 USD asks for",
        ),
        (
            "0.00031500",
            "19.90",
            "at this conversion_id: 0.00030973 BTC",
        ),
        ("0.000309731", "19.90", "more decimals than BTC has (8)"),
    ] {
        let text = mismatch(&bitcoin(), &terms(crypto, local, local));
        assert!(text.contains(expected), "{text}");
    }
    let zeros = terms("0.0003097300", "19.90", "19.90");
    assert_eq!(bitcoin().check(&zeros), Ok(()));
    let tron = conversion(Asset::TRX, "0.13", "0.13", "USD");
    let huge = terms("999999999999.999999", "1", "999999999999.99");
    let text = mismatch(&tron, &huge);
    assert!(text.contains("cannot be calculated with"), "{text}");
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
        let text = mismatch(&yen, &terms("0.23752970", usd, "3000"));
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
        Err(TermsError::OutOfRange(
            "amount_in_crypto 4.99 is below the minimum of 5 USDTERC20".to_owned()
        ))
    );
    assert_eq!(
        check("50000.01"),
        Err(TermsError::OutOfRange(
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
        let text = mismatch(&bnb, &terms(crypto, local, local));
        assert!(text.contains("over nothing"), "{text}");
    }
}

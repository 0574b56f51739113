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

fn issue(prices: &mut Prices, text: &str) -> Conversion {
    let mut issued = prices.issue(at(1_000)).into_iter();
    issued
        .find(|issued| issued.coin.code == code(text))
        .unwrap()
}

#[test]
fn a_conversion_is_valid_for_its_asset_its_time_and_at_its_price() {
    let mut prices = Prices::new(&Settings::default(), Seed::new(1)).unwrap();
    let issued = issue(&mut prices, "BTC");
    prices.set(&code("BTC"), amount("70000")).unwrap();
    let found = |id: &str, asset, second| {
        let found = prices.conversion(id, &code(asset), at(second));
        found.map_err(|error| error.message).map(|found| found.usd)
    };
    let message = |id, asset, second| found(id, asset, second).unwrap_err();
    assert_eq!(found(&issued.id, "BTC", 1_119), Ok(issued.usd));
    assert!(message(&issued.id, "ETH", 1_000).ends_with("is a price of BTC"));
    assert!(message(&issued.id, "BTC", 1_120).contains("has expired"));
    assert!(message("conv_1", "BTC", 1_000).starts_with("no price was issued"));
    assert_eq!(issue(&mut prices, "BTC").usd.to_string(), "70000.00");
}

fn conversion(code: &str, usd: &str, local: &str, currency: &str) -> Conversion {
    let mut coins = offered(false).into_iter();
    let coin = coins.find(|coin| coin.code.as_str() == code);
    Conversion {
        id: "conv_1".to_owned(),
        coin: coin.unwrap(),
        usd: amount(usd),
        local: amount(local),
        local_currency: Currency::parse(currency).unwrap(),
        issued_at: at(1_000),
    }
}

/// Asset, its price in dollars and in a currency; the amounts in the asset, in dollars and in the currency; and a part of the
/// error, or `ok`. 19.90 ÷ 64250.13 = 0.000309726…; 3000 JPY ÷ 150 = 20 USD, and a yen is 0.0067 USD.
const CASES: &str = "
BTC 64250.13 64250.13 USD 0.00030972 19.90 19.90 ok
BTC 64250.13 64250.13 USD 0.00030973 19.90 19.90 ok
BTC 64250.13 64250.13 USD 0.00031000 19.90 19.90 ok
BTC 64250.13 64250.13 USD 0.0003097300 19.90 19.90 ok
BTC 64250.13 64250.13 USD 0.00030971 19.90 19.90 less than amount_in_local_currency 19.90
BTC 64250.13 64250.13 USD 0.00031500 19.90 19.90 0.00030973 BTC
BTC 64250.13 64250.13 USD 0.000309731 19.90 19.90 more decimals
LTC 84.20 12630 JPY 0.23752970 20.00 3000 ok
LTC 84.20 12630 JPY 0.23752970 19.99 3000 ok
LTC 84.20 12630 JPY 0.23752970 20.016 3000 ok
LTC 84.20 12630 JPY 0.23752970 20.02 3000 not the same money
LTC 84.20 12630 JPY 0.23752970 19.98 3000 not the same money
LTC 84.20 12630 JPY 0.23752970 3000 3000 not the same money
USDTERC20 1 1 USD 5 5 5 ok
USDTERC20 1 1 USD 50000 50000 50000 ok
USDTERC20 1 1 USD 4.99 4.99 4.99 below the minimum of 5
USDTERC20 1 1 USD 50000.01 50000.01 50000.01 above the maximum of 50000
BNB 590 590 USD 0.00000001 0.00 0.00000590 ok
BNB 590 590 USD 0 0 0 over nothing
BNB 590 590 USD 0.1 0.00 0.00 over nothing
BNB 590 590 USD 0.000 59 59 over nothing
TRX 0.13 0.13 USD 999999999999.999999 1 999999999999.99 cannot be calculated
";

#[test]
fn the_amounts_of_an_invoice_fit_each_other_the_price_and_the_limits() {
    for line in CASES.trim().lines() {
        let words: Vec<&str> = line.splitn(8, ' ').collect();
        let [
            asset,
            usd,
            local,
            currency,
            crypto,
            in_usd,
            in_local,
            expected,
        ] = words[..]
        else {
            panic!("{line}");
        };
        let [crypto, in_usd, in_local] =
            [crypto, in_usd, in_local].map(|text| AmountText::parse(text).unwrap());
        let terms = Terms {
            crypto,
            usd: in_usd,
            local: in_local,
        };
        let Err(error) = conversion(asset, usd, local, currency).check(&terms) else {
            assert_eq!(expected, "ok", "{line}");
            continue;
        };
        let is_expected = expected != "ok" && error.message.contains(expected);
        assert!(is_expected, "{line}: {error:?}");
        let code = if expected.contains("imum of") {
            ErrorCode::AmountOutOfRange
        } else {
            ErrorCode::InvalidRequest
        };
        assert_eq!(error.code, code, "{line}: {error:?}");
    }
}

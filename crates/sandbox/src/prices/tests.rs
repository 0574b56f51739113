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

fn conversion(asset: Asset, usd: &str, local: &str, currency: &str) -> Conversion {
    let mut coins = offered(false).into_iter();
    let coin = coins.find(|coin| coin.code == asset.crypto_code());
    Conversion {
        id: "conv_1".to_owned(),
        coin: coin.unwrap(),
        usd: amount(usd),
        local: amount(local),
        local_currency: Currency::parse(currency).unwrap(),
        issued_at: at(1_000),
    }
}

/// Asset with its price in dollars and in a currency; the amounts in the asset, in dollars and in the
/// currency; and a part of the error, empty when they fit.
type Case = ([&'static str; 3], [&'static str; 3], &'static str);

#[test]
fn the_amounts_of_an_invoice_fit_each_other_the_price_and_the_limits() {
    // 19.90 ÷ 64250.13 = 0.000309726…
    let btc = ["64250.13", "64250.13", "USD"];
    // 3000 JPY ÷ 150 = 20 USD; a yen is 0.0067 USD.
    let ltc = ["84.20", "12630", "JPY"];
    let (usdt, bnb) = (["1", "1", "USD"], ["590", "590", "USD"]);
    let trx = ["0.13", "0.13", "USD"];
    let (less, same) = (
        "less than amount_in_local_currency 19.90",
        "not the same money",
    );
    let (below, above) = ("below the minimum of 5", "above the maximum of 50000");
    let cases: [(Asset, Case); 22] = [
        (Asset::BTC, (btc, ["0.00030972", "19.90", "19.90"], "")),
        (Asset::BTC, (btc, ["0.00030973", "19.90", "19.90"], "")),
        (Asset::BTC, (btc, ["0.00031000", "19.90", "19.90"], "")),
        (Asset::BTC, (btc, ["0.0003097300", "19.90", "19.90"], "")),
        (Asset::BTC, (btc, ["0.00030971", "19.90", "19.90"], less)),
        (
            Asset::BTC,
            (btc, ["0.00031500", "19.90", "19.90"], "0.00030973 BTC"),
        ),
        (
            Asset::BTC,
            (btc, ["0.000309731", "19.90", "19.90"], "more decimals"),
        ),
        (Asset::LTC, (ltc, ["0.23752970", "20.00", "3000"], "")),
        (Asset::LTC, (ltc, ["0.23752970", "19.99", "3000"], "")),
        (Asset::LTC, (ltc, ["0.23752970", "20.016", "3000"], "")),
        (Asset::LTC, (ltc, ["0.23752970", "20.02", "3000"], same)),
        (Asset::LTC, (ltc, ["0.23752970", "19.98", "3000"], same)),
        (Asset::LTC, (ltc, ["0.23752970", "3000", "3000"], same)),
        (Asset::USDTERC20, (usdt, ["5", "5", "5"], "")),
        (Asset::USDTERC20, (usdt, ["50000", "50000", "50000"], "")),
        (Asset::USDTERC20, (usdt, ["4.99", "4.99", "4.99"], below)),
        (
            Asset::USDTERC20,
            (usdt, ["50000.01", "50000.01", "50000.01"], above),
        ),
        (Asset::BNB, (bnb, ["0.00000001", "0.00", "0.00000590"], "")),
        (Asset::BNB, (bnb, ["0", "0", "0"], "over nothing")),
        (Asset::BNB, (bnb, ["0.1", "0.00", "0.00"], "over nothing")),
        (Asset::BNB, (bnb, ["0.000", "59", "59"], "over nothing")),
        (
            Asset::TRX,
            (
                trx,
                ["999999999999.999999", "1", "999999999999.99"],
                "cannot be calculated",
            ),
        ),
    ];
    for (asset, ([usd, local, currency], amounts, expected)) in cases {
        let [crypto, in_usd, in_local] = amounts.map(|text| AmountText::parse(text).unwrap());
        let terms = Terms {
            crypto,
            usd: in_usd,
            local: in_local,
        };
        let checked = conversion(asset, usd, local, currency).check(&terms);
        let code = if [below, above].contains(&expected) {
            ErrorCode::AmountOutOfRange
        } else {
            ErrorCode::InvalidRequest
        };
        match checked {
            Ok(()) => assert_eq!(expected, "", "{amounts:?}"),
            Err(error) => {
                assert!(
                    !expected.is_empty() && error.message.contains(expected),
                    "{error:?}"
                );
                assert_eq!(error.code, code, "{error:?}");
            }
        }
    }
}

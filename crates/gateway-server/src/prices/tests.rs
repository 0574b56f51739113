use florin_money::Asset;

use super::*;
use crate::chain::Network;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn amount(text: &str) -> Amount {
    Amount::parse(text).unwrap()
}

#[derive(Debug)]
struct Fixed;

impl PriceSource for Fixed {
    fn usd_price(&self, code: &CryptoCode) -> Option<Amount> {
        (code.as_str() == "BTC").then(|| amount("64250.13"))
    }

    fn per_usd(&self, _: Currency) -> Option<Amount> {
        Some(amount("150"))
    }
}

fn prices(secret: &str) -> Prices {
    let coins = Asset::ALL.map(|asset| Coin::listed(asset, Network::Test));
    Prices {
        coins: coins.to_vec(),
        source: Arc::new(Fixed),
        local_currency: Currency::parse("JPY").unwrap(),
        lifetime: SignedDuration::from_secs(120),
        secret: secret.into(),
    }
}

#[test]
fn a_conversion_is_valid_for_its_asset_its_time_and_the_gateway_that_issued_it() {
    let prices = prices("one");
    let [issued] = &prices.listed(at(1_000))[..] else {
        panic!("only BTC has a price");
    };
    let id = &prices.id(issued);
    assert_eq!(issued.local, amount("9637519.5"));
    let found = |id: &str, asset: &str, second| {
        let found = prices.conversion(id, prices.coin(asset).unwrap(), at(second));
        found.map_err(|error| error.message).map(|found| found.usd)
    };
    let message = |id: &str, asset, second| found(id, asset, second).unwrap_err();
    assert_eq!(found(id, "BTC", 1_119), Ok(issued.usd));
    assert!(message(id, "ETH", 1_000).ends_with("is a price of BTC"));
    assert!(message(id, "BTC", 1_120).contains("has expired"));
    assert!(message(id, "BTC", 999).contains("has expired"));
    let other = self::prices("other").id(issued);
    let cut = &id[..id.len() - 2];
    for invalid in ["conv_1", "conv_1_", cut, &other] {
        let message = message(invalid, "BTC", 1_000);
        assert!(message.starts_with("no price was issued"), "{message}");
    }
}

fn conversion(code: &str, usd: &str, local: &str, currency: &str) -> Conversion {
    let asset = Asset::of(&CryptoCode::parse(code).unwrap()).unwrap();
    let mut coin = Coin::listed(asset, Network::Test);
    if code == "USDTERC20" {
        coin.limits.min = Some(amount("5"));
        coin.limits.max = Some(amount("50000"));
    }
    Conversion {
        coin,
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

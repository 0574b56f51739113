//! Payment URIs of every asset as a wallet reads them: coin, amount, recipient, chain.

use super::wallet::{self, Sent};
use super::*;

const LTC: &str = "ltc1qhdhvrwe6rgqns8fz28tee0hphr5x7ulw5exv4w";
const DOGE: &str = "DD4KSSuBJqcjuTcvUg1CgUKeurPUFeEZkE";
const TEST_BTC: &str = "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx";
const TETHER_ON_TRON: &str = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";
const NILE_TOKEN: &str = "TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf";
const SEPOLIA_TOKEN: &str = "0xaA8E23Fb1079EA71e0a56F48a2aA51851D8433D0";

/// What a wallet sends that reads the text.
#[track_caller]
fn sends(uri: &str) -> Sent {
    wallet::sends(uri).unwrap()
}

/// What is written for `due` of an invoice over `asked` whose gateway wrote `gateway_text`.
#[track_caller]
fn written(
    network: Network,
    asset: Asset,
    gateway_text: &str,
    address: &str,
    [asked, due]: [&str; 2],
) -> String {
    let [asked, due] = [asked, due].map(|text| Amount::parse(text).unwrap());
    let target = PaymentTarget::check(asset, gateway_text, address, asked, network);
    target
        .unwrap_or_else(|error| panic!("{gateway_text}: {error}"))
        .uri(due)
}

/// What is written on the main network for a gateway that names the address and no more.
#[track_caller]
fn for_bare(asset: Asset, address: &str, amount: &str) -> String {
    written(Main, asset, address, address, [amount, amount])
}

fn output(chain: &'static str, to: &str, amount: u128) -> Sent {
    Sent::Output {
        chain,
        to: to.into(),
        amount: Some(amount),
    }
}

fn coin(chain_id: u64, to: &str, wei: u128) -> Sent {
    Sent::Evm {
        chain_id: Some(chain_id),
        to: to.to_lowercase(),
        value: Some(wei),
        data: String::new(),
    }
}

/// A call of `transfer(address,uint256)`.
fn transfer(chain_id: u64, contract: &str, to: &str, units: u128) -> Sent {
    let to = &to.to_lowercase()[2..];
    Sent::Evm {
        chain_id: Some(chain_id),
        to: contract.to_lowercase(),
        value: Some(0),
        data: format!("a9059cbb{}{to}{units:064x}", "0".repeat(24)),
    }
}

fn on_tron(token: Option<&str>, to: &str, millionths: u128) -> Sent {
    Sent::Tron {
        token: token.map(Into::into),
        to: to.into(),
        amount: Some(millionths),
    }
}

#[test]
fn bitcoin_and_its_kin_are_asked_for_in_whole_coins() {
    let uri = for_bare(Asset::BTC, BTC, "0.00030970");
    assert_eq!(uri, format!("bitcoin:{BTC}?amount=0.0003097"));
    assert_eq!(sends(&uri), output("Bitcoin", BTC, 30_970));

    let uri = for_bare(Asset::LTC, LTC, "1.00000001");
    assert_eq!(uri, format!("litecoin:{LTC}?amount=1.00000001"));
    assert_eq!(sends(&uri), output("Litecoin", LTC, 100_000_001));

    let uri = for_bare(Asset::DOGE, DOGE, "120.00000000");
    assert_eq!(uri, format!("dogecoin:{DOGE}?amount=120"));
    assert_eq!(sends(&uri), output("Dogecoin", DOGE, 12_000_000_000));
}

#[test]
fn bitcoin_cash_has_its_prefix_once() {
    for address in [BCH, BARE_BCH, &BCH.to_uppercase(), &BARE_BCH.to_uppercase()] {
        let uri = for_bare(Asset::BCH, address, "0.25");
        assert_eq!(uri, format!("{BCH}?amount=0.25"), "{address}");
        assert_eq!(sends(&uri), output("Bitcoin Cash", BCH, 25_000_000));
    }
}

#[test]
fn ether_is_asked_for_in_wei_on_chain_1() {
    let uri = for_bare(Asset::ETH, EVM, "0.00623119");
    assert_eq!(uri, format!("ethereum:{EVM}@1?value=6231190000000000"));
    assert_eq!(sends(&uri), coin(1, EVM, 6_231_190_000_000_000));
}

#[test]
fn bnb_is_asked_for_in_wei_on_chain_56() {
    let uri = for_bare(Asset::BNB, EVM, "0.03372882");
    assert_eq!(uri, format!("ethereum:{EVM}@56?value=33728820000000000"));
    assert_eq!(sends(&uri), coin(56, EVM, 33_728_820_000_000_000));
}

#[test]
fn usdt_on_ethereum_is_a_transfer_by_tethers_contract_on_chain_1() {
    let uri = for_bare(Asset::USDTERC20, EVM, "19.900000");
    assert_eq!(
        uri,
        "ethereum:0xdAC17F958D2ee523a2206206994597C13D831ec7@1/transfer\
         ?address=0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed&uint256=19900000"
    );
    assert_eq!(
        sends(&uri),
        Sent::Evm {
            chain_id: Some(1),
            to: "0xdac17f958d2ee523a2206206994597c13d831ec7".into(),
            value: Some(0),
            data: "a9059cbb\
                   0000000000000000000000005aaeb6053f3e94c9b9a09f33669435e7ef1beaed\
                   00000000000000000000000000000000000000000000000000000000012fa660"
                .into(),
        }
    );
}

#[test]
fn trx_is_asked_for_with_a_point_in_its_amount() {
    let uri = for_bare(Asset::TRX, TRON, "55.5");
    assert_eq!(uri, format!("tron:{TRON}?amount=55.5"));
    assert_eq!(sends(&uri), on_tron(None, TRON, 55_500_000));
    // Without the point some wallets send 0.15 TRX.
    let uri = for_bare(Asset::TRX, TRON, "150000");
    assert_eq!(uri, format!("tron:{TRON}?amount=150000.0"));
    assert_eq!(sends(&uri), on_tron(None, TRON, 150_000_000_000));
}

#[test]
fn usdt_on_tron_is_asked_for_only_with_the_token_that_the_gateway_names() {
    let named = format!("tron:{TRON}?token={TETHER_ON_TRON}&amount=19.9");
    let uri = written(Main, Asset::USDTTRC20, &named, TRON, ["19.90", "19.90"]);
    assert_eq!(
        uri,
        format!("tron:{TRON}?token={TETHER_ON_TRON}&amount=19.9")
    );
    assert_eq!(sends(&uri), on_tron(Some(TETHER_ON_TRON), TRON, 19_900_000));
    // Each of these would have a wallet send 19.90 TRX, or ask for an amount of it.
    for unnamed in [
        TRON.to_owned(),
        format!("tron:{TRON}"),
        format!("tron:{TRON}?amount=19.90"),
    ] {
        let uri = written(Main, Asset::USDTTRC20, &unnamed, TRON, ["19.90", "19.90"]);
        assert_eq!(sends(&uri), Sent::AddressOnly(TRON.into()), "{unnamed}");
    }
}

#[test]
fn omitted_parts_are_written() {
    for gateway_text in [
        EVM.to_owned(),
        format!("ethereum:{EVM}"),
        format!("ethereum:{LOWER_EVM}@1"),
        format!("ethereum:pay-{EVM}?value=5e17&gasLimit=21000"),
    ] {
        let uri = written(Main, Asset::ETH, &gateway_text, EVM, ["0.5", "0.5"]);
        assert_eq!(
            sends(&uri),
            coin(1, EVM, 5 * 10_u128.pow(17)),
            "{gateway_text}"
        );
    }
    for gateway_text in [format!("smartchain:{EVM}"), format!("ethereum:{EVM}@56")] {
        let uri = written(Main, Asset::BNB, &gateway_text, EVM, ["0.5", "0.5"]);
        assert_eq!(
            sends(&uri),
            coin(56, EVM, 5 * 10_u128.pow(17)),
            "{gateway_text}"
        );
    }
    let lower = TETHER.to_lowercase();
    let gateway_text = format!("ethereum:{lower}/transfer?address={LOWER_EVM}");
    let uri = written(Main, Asset::USDTERC20, &gateway_text, EVM, ["0.5", "0.5"]);
    assert_eq!(sends(&uri), transfer(1, TETHER, EVM, 500_000));
    let gateway_text = format!("bitcoin:{BTC}?label=A%20shop&message=%26amount%3D9&time=1&exp=900");
    let uri = written(Main, Asset::BTC, &gateway_text, BTC, ["0.5", "0.5"]);
    assert_eq!(uri, format!("bitcoin:{BTC}?amount=0.5"));
}

#[test]
fn the_rest_of_a_payment_is_asked_for_alone() {
    let gateway_text = format!("bitcoin:{BTC}?amount=0.5");
    let uri = written(Main, Asset::BTC, &gateway_text, BTC, ["0.5", "0.19999999"]);
    assert_eq!(sends(&uri), output("Bitcoin", BTC, 19_999_999));
    let gateway_text = format!("ethereum:{TETHER}@1/transfer?address={EVM}&uint256=19900000");
    let uri = written(
        Main,
        Asset::USDTERC20,
        &gateway_text,
        EVM,
        ["19.9", "0.000001"],
    );
    assert_eq!(sends(&uri), transfer(1, TETHER, EVM, 1));
}

#[test]
fn an_amount_that_no_wallet_can_send_is_not_written() {
    for due in ["0", "0.00", "0.000000001", "0.100000001"] {
        let uri = written(Main, Asset::BTC, BTC, BTC, ["0.5", due]);
        assert_eq!(uri, BTC, "{due}");
    }
    let uri = written(Main, Asset::USDTERC20, EVM, EVM, ["0.5", "0.1234567"]);
    assert_eq!(uri, EVM);
}

// Addresses of these chains are the same on the main network: a link that does not name the test network would spend
// real coins.
#[test]
fn on_a_test_network_only_a_chain_that_the_gateway_names_is_written() {
    let amounts = ["0.5", "0.5"];
    let half = 5 * 10_u128.pow(17);
    for (asset, chain_id) in [
        (Asset::ETH, 11_155_111),
        (Asset::ETH, 560_048),
        (Asset::ETH, 17_000),
        (Asset::BNB, 97),
    ] {
        let gateway_text = format!("ethereum:{EVM}@{chain_id}?value=5e17");
        let uri = written(Test, asset, &gateway_text, EVM, amounts);
        assert_eq!(sends(&uri), coin(chain_id, EVM, half));
    }
    let named = format!("ethereum:{SEPOLIA_TOKEN}@11155111/transfer?address={EVM}&uint256=5e5");
    let uri = written(Test, Asset::USDTERC20, &named, EVM, amounts);
    assert_eq!(
        sends(&uri),
        transfer(11_155_111, SEPOLIA_TOKEN, EVM, 500_000)
    );
    for (asset, gateway_text) in [
        (Asset::ETH, EVM.to_owned()),
        (Asset::ETH, format!("ethereum:{EVM}?value=5e17")),
        (Asset::BNB, EVM.to_owned()),
        (Asset::BNB, format!("smartchain:{EVM}?amount=0.5")),
        (Asset::USDTERC20, EVM.to_owned()),
        (
            Asset::USDTERC20,
            format!("ethereum:{TETHER}/transfer?address={EVM}&uint256=5e5"),
        ),
    ] {
        let uri = written(Test, asset, &gateway_text, EVM, amounts);
        assert_eq!(sends(&uri), Sent::AddressOnly(EVM.into()), "{gateway_text}");
    }
}

// `tron:` names no network.
#[test]
fn on_a_test_network_of_tron_only_its_own_token_is_written() {
    let amounts = ["19.9", "19.9"];
    let named = format!("tron:{TRON}?token={NILE_TOKEN}&amount=19.9");
    let uri = written(Test, Asset::USDTTRC20, &named, TRON, amounts);
    assert_eq!(sends(&uri), on_tron(Some(NILE_TOKEN), TRON, 19_900_000));
    for (asset, gateway_text) in [
        (Asset::TRX, format!("tron:{TRON}?amount=19.9")),
        (Asset::USDTTRC20, format!("tron:{TRON}?amount=19.9")),
        (
            Asset::USDTTRC20,
            format!("tron:{TRON}?token={TETHER_ON_TRON}"),
        ),
        // A token that the gateway has deployed itself.
        (
            Asset::USDTTRC20,
            format!("tron:{TRON}?token=TY1DBj7Ys1bDcK37kwATaQpHxdTCnYrr1f"),
        ),
    ] {
        let uri = written(Test, asset, &gateway_text, TRON, amounts);
        assert_eq!(
            sends(&uri),
            Sent::AddressOnly(TRON.into()),
            "{gateway_text}"
        );
    }
}

#[test]
fn addresses_of_the_other_test_networks_name_them() {
    let uri = written(Test, Asset::BTC, TEST_BTC, TEST_BTC, ["1", "1"]);
    assert_eq!(sends(&uri), output("Bitcoin test", TEST_BTC, 100_000_000));
    let uri = written(Test, Asset::BCH, TEST_BCH, TEST_BCH, ["1", "1"]);
    assert_eq!(uri, format!("{TEST_BCH}?amount=1"));
    assert_eq!(
        sends(&uri),
        output("Bitcoin Cash test", TEST_BCH, 100_000_000)
    );
}

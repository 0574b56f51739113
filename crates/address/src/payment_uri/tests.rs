mod pays;
mod transactions;
mod vectors;
mod wallet;
mod written;

use Network::{Main, Test};
use proptest::prelude::*;

use super::*;

const BTC: &str = "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu";
const OTHER_BTC: &str = "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa";
const BCH: &str = "bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a";
const BARE_BCH: &str = "qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a";
const TEST_BCH: &str = "bchtest:pr6m7j9njldwwzlg9v7v53unlr4jkmx6eyvwc0uz5t";
const EVM: &str = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const LOWER_EVM: &str = "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed";
const OTHER_EVM: &str = "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359";
const TETHER: &str = "0xdAC17F958D2ee523a2206206994597C13D831ec7";
const TRON: &str = "TNPeeaaFB7K9cmo4uQpcU32zGK8G1NYqeL";

fn checked(asset: Asset, qr: &str, address: &str, amount: &str) -> Result<(), UriError> {
    checked_on(Main, asset, qr, address, amount)
}

fn checked_on(
    network: Network,
    asset: Asset,
    qr: &str,
    address: &str,
    amount: &str,
) -> Result<(), UriError> {
    let amount = Amount::parse(amount).unwrap();
    PaymentTarget::check(asset, qr, address, amount, network).map(drop)
}

#[track_caller]
fn accepted(asset: Asset, address: &str, amount: &str, codes: &[&str]) {
    for code in codes {
        assert_eq!(checked(asset, code, address, amount), Ok(()), "{code}");
    }
}

fn amount_error(found: &str) -> Result<(), UriError> {
    Err(UriError::Amount {
        found: found.into(),
    })
}

fn address_error(found: &str) -> Result<(), UriError> {
    Err(UriError::Address {
        found: found.into(),
    })
}

fn token_error(found: &str) -> Result<(), UriError> {
    Err(UriError::Token {
        found: found.into(),
    })
}

fn chain_error(found: &str) -> Result<(), UriError> {
    Err(UriError::Chain {
        found: found.into(),
    })
}

fn parameter_error(key: &str) -> Result<(), UriError> {
    Err(UriError::Parameter { key: key.into() })
}

#[test]
fn a_code_that_asks_for_the_payment_is_accepted() {
    let upper = format!("BITCOIN:{}?AMOUNT=0.5", BTC.to_uppercase());
    accepted(
        Asset::BTC,
        BTC,
        "0.5",
        &[
            BTC,
            &format!("bitcoin:{BTC}"),
            &format!("bitcoin:{BTC}?amount=0.5"),
            &format!("Bitcoin:{BTC}?amount=0.50000000&label=A%20shop&message=&time"),
            &upper,
        ],
    );
    accepted(
        Asset::LTC,
        "MHrYRxAiMNBTku3eoDHwhA1LQGDjUStZW2",
        "1.00000001",
        &["litecoin:MHrYRxAiMNBTku3eoDHwhA1LQGDjUStZW2?amount=1.00000001"],
    );
    accepted(
        Asset::DOGE,
        "DD4KSSuBJqcjuTcvUg1CgUKeurPUFeEZkE",
        "120",
        &["dogecoin:DD4KSSuBJqcjuTcvUg1CgUKeurPUFeEZkE?amount=120.0"],
    );
    accepted(
        Asset::TRX,
        TRON,
        "55.5",
        &[TRON, &format!("tron:{TRON}?amount=55.5")],
    );
    accepted(
        Asset::USDTTRC20,
        TRON,
        "19.9",
        &[
            &format!("tron:{TRON}?amount=19.900000"),
            &format!("tron:{TRON}?token=TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t&amount=19.9"),
        ],
    );
}

#[test]
fn a_cashaddr_is_the_same_with_and_without_its_prefix() {
    let code = format!("{BCH}?amount=0.25");
    for address in [BCH, BARE_BCH] {
        accepted(
            Asset::BCH,
            address,
            "0.25",
            &[BCH, BARE_BCH, &code, &code.to_uppercase()],
        );
    }
    let code = format!("{TEST_BCH}?amount=1");
    assert_eq!(checked_on(Test, Asset::BCH, &code, TEST_BCH, "1"), Ok(()));
}

#[test]
fn an_ether_code_counts_in_wei() {
    accepted(
        Asset::ETH,
        EVM,
        "2.014",
        &[
            EVM,
            LOWER_EVM,
            &format!("ethereum:{EVM}?value=2014000000000000000"),
            &format!("ethereum:{LOWER_EVM}@1?value=2.014e18&gas=21000"),
            &format!("ethereum:pay-{EVM}?value=2014E15"),
            &format!("ethereum:{EVM}?amount=2.014"),
        ],
    );
    accepted(
        Asset::ETH,
        EVM,
        "0.00000001",
        &[&format!("ethereum:{EVM}?value=10000000000")],
    );
}

#[test]
fn a_token_code_names_the_contract_the_receiver_and_the_units() {
    let code = format!("ethereum:{TETHER}/transfer?address={EVM}&uint256=19900000");
    let on_chain = format!("ethereum:{TETHER}@1/transfer?uint256=1.99e7&address={LOWER_EVM}");
    accepted(Asset::USDTERC20, EVM, "19.9", &[EVM, &code, &on_chain]);
}

#[test]
fn a_bnb_code_names_its_chain() {
    accepted(
        Asset::BNB,
        EVM,
        "0.03",
        &[
            &format!("ethereum:{EVM}@56?value=3e16"),
            &format!("smartchain:{EVM}?amount=0.03"),
            &format!("bnb:{EVM}?value=30000000000000000"),
        ],
    );
    let code = format!("ethereum:{EVM}?value=3e16");
    assert_eq!(checked(Asset::BNB, &code, EVM, "0.03"), chain_error(""));
    let code = format!("bnb:{EVM}@1?value=3e16");
    assert_eq!(checked(Asset::BNB, &code, EVM, "0.03"), chain_error("1"));
}

#[test]
fn another_address_is_refused() {
    let found = |asset, code: &str, address| checked(asset, code, address, "0.5");
    let other = address_error(OTHER_BTC);
    assert_eq!(
        found(Asset::BTC, &format!("bitcoin:{OTHER_BTC}?amount=0.5"), BTC),
        other
    );
    assert_eq!(
        found(Asset::BTC, "bitcoin:?amount=0.5", BTC),
        address_error("")
    );
    let encoded = BTC.replace('q', "%71");
    assert_eq!(
        found(Asset::BTC, &format!("bitcoin:{encoded}"), BTC),
        address_error(&encoded)
    );
    // Base58 is another address in another case, and bech32 none in both.
    let lower = OTHER_BTC.to_lowercase();
    assert_eq!(
        found(Asset::BTC, &format!("bitcoin:{lower}"), OTHER_BTC),
        address_error(&lower)
    );
    let mixed = BTC.replace("bc1q", "bc1Q");
    assert_eq!(
        found(Asset::BTC, &format!("bitcoin:{mixed}"), BTC),
        address_error(&mixed)
    );
    let mixed = BARE_BCH.replace("qpm", "qPm");
    let code = format!("bitcoincash:{mixed}");
    assert_eq!(found(Asset::BCH, &code, BCH), address_error(&mixed));
    let code = format!("ethereum:{OTHER_EVM}?value=1");
    assert_eq!(found(Asset::ETH, &code, EVM), address_error(OTHER_EVM));
    let code = format!("ethereum:{TETHER}/transfer?address={OTHER_EVM}&uint256=500000");
    assert_eq!(
        found(Asset::USDTERC20, &code, EVM),
        address_error(OTHER_EVM)
    );
    let code = format!("ethereum:{TETHER}/transfer?uint256=500000");
    assert_eq!(found(Asset::USDTERC20, &code, EVM), address_error(""));
    let code = "tron:TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t?amount=0.5";
    assert_eq!(
        found(Asset::TRX, code, TRON),
        address_error("TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t")
    );
}

#[test]
fn another_amount_is_refused_wherever_it_stands() {
    for found in [
        "0.51",
        "5",
        "50000000",
        "",
        "0,5",
        "0.5e0",
        "-0.5",
        ".5",
        "0.50000000000000000001",
    ] {
        let code = format!("bitcoin:{BTC}?amount={found}");
        assert_eq!(checked(Asset::BTC, &code, BTC, "0.5"), amount_error(found));
    }
    for found in [
        "2014000000000000001",
        "2.014",
        "2.014e17",
        "-2.014e18",
        "2.014e",
        "e18",
        "2.0.14e18",
    ] {
        let code = format!("ethereum:{EVM}?value={found}");
        assert_eq!(
            checked(Asset::ETH, &code, EVM, "2.014"),
            amount_error(found)
        );
    }
    let code = format!("ethereum:{EVM}?amount=5");
    assert_eq!(checked(Asset::ETH, &code, EVM, "2.014"), amount_error("5"));
    let code = format!("ethereum:{TETHER}/transfer?address={EVM}&uint256=19.9");
    assert_eq!(
        checked(Asset::USDTERC20, &code, EVM, "19.9"),
        amount_error("19.9")
    );
    let code = format!("ethereum:{TETHER}/transfer?address={EVM}&amount=5");
    assert_eq!(
        checked(Asset::USDTERC20, &code, EVM, "19.9"),
        amount_error("5")
    );
    let code = format!("tron:{TRON}?amount=19900000");
    assert_eq!(
        checked(Asset::USDTTRC20, &code, TRON, "19.9"),
        amount_error("19900000")
    );
}

#[test]
fn the_scheme_of_another_coin_is_refused() {
    let scheme = |found: &str| {
        Err(UriError::Scheme {
            found: found.into(),
        })
    };
    let code = format!("litecoin:{BTC}?amount=0.5");
    assert_eq!(checked(Asset::BTC, &code, BTC, "0.5"), scheme("litecoin"));
    let code = format!("bitcoin:{EVM}");
    assert_eq!(checked(Asset::ETH, &code, EVM, "0.5"), scheme("bitcoin"));
    let code = format!("smartchain:{EVM}");
    assert_eq!(checked(Asset::ETH, &code, EVM, "0.5"), scheme("smartchain"));
    let code = format!("ethereum:{TRON}");
    assert_eq!(checked(Asset::TRX, &code, TRON, "0.5"), scheme("ethereum"));
    assert_eq!(
        checked(Asset::BTC, OTHER_BTC, BTC, "0.5"),
        scheme(OTHER_BTC)
    );
    assert_eq!(checked(Asset::BTC, "", BTC, "0.5"), scheme(""));
}

#[test]
fn another_token_is_refused() {
    // A wallet would send ether.
    let coin = format!("ethereum:{EVM}?value=500000");
    assert_eq!(
        checked(Asset::USDTERC20, &coin, EVM, "0.5"),
        token_error("")
    );
    let approve = format!("ethereum:{TETHER}/approve?address={EVM}&uint256=500000");
    assert_eq!(
        checked(Asset::USDTERC20, &approve, EVM, "0.5"),
        token_error("")
    );
    let other = format!("ethereum:{OTHER_EVM}/transfer?address={EVM}&uint256=500000");
    assert_eq!(
        checked(Asset::USDTERC20, &other, EVM, "0.5"),
        token_error(OTHER_EVM)
    );
    assert_eq!(
        checked_on(Test, Asset::USDTERC20, &other, EVM, "0.5"),
        Ok(())
    );
    let broken = format!(
        "ethereum:{}/transfer?address={EVM}",
        OTHER_EVM.replace("fB", "Fb")
    );
    assert_eq!(
        checked_on(Test, Asset::USDTERC20, &broken, EVM, "0.5"),
        token_error(&OTHER_EVM.replace("fB", "Fb"))
    );
    let token = format!("ethereum:{TETHER}/transfer?address={EVM}&uint256=500000");
    assert_eq!(checked(Asset::ETH, &token, EVM, "0.5"), token_error(TETHER));
    let tron = format!("tron:{TRON}?token={TRON}");
    assert_eq!(
        checked(Asset::USDTTRC20, &tron, TRON, "0.5"),
        token_error(TRON)
    );
    let tron = format!("tron:{TRON}?token=TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t");
    assert_eq!(
        checked(Asset::TRX, &tron, TRON, "0.5"),
        token_error("TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t")
    );
}

#[test]
fn another_chain_is_refused() {
    let on = |asset, chain: &str, network| {
        let code = format!("ethereum:{EVM}@{chain}?value=5e17");
        checked_on(network, asset, &code, EVM, "0.5")
    };
    assert_eq!(on(Asset::ETH, "56", Main), chain_error("56"));
    assert_eq!(on(Asset::ETH, "11155111", Main), chain_error("11155111"));
    assert_eq!(on(Asset::BNB, "1", Main), chain_error("1"));
    assert_eq!(on(Asset::BNB, "97", Main), chain_error("97"));
    assert_eq!(on(Asset::BNB, "97", Test), Ok(()));
    assert_eq!(on(Asset::BNB, "56", Test), chain_error("56"));
    assert_eq!(on(Asset::ETH, "11155111", Test), Ok(()));
    // Main networks, and a test network of another coin.
    for chain in ["1", "56", "97", "137", "8453", "", "0xaa36a7", "011155111"] {
        assert_eq!(on(Asset::ETH, chain, Test), chain_error(chain));
    }
}

#[test]
fn a_parameter_that_is_not_on_the_list_is_refused() {
    let refused = |asset, start: &str, address, keys: &[&str]| {
        for key in keys {
            let code = format!("{start}&{key}=x");
            let expected = parameter_error(&key.to_lowercase());
            assert_eq!(checked(asset, &code, address, "0.5"), expected, "{code}");
        }
    };
    let bip21 = [
        "r",
        "lightning",
        "LNO",
        "pay",
        "pj",
        "pjos",
        "sp",
        "bc",
        "tb",
        "req-somethingyoudontunderstand",
        "somethingyoudontunderstand",
        "value",
        "token",
    ];
    let bitcoin = format!("bitcoin:{BTC}?amount=0.5");
    refused(Asset::BTC, &bitcoin, BTC, &bip21);
    refused(Asset::BCH, &format!("{BCH}?amount=0.5"), BCH, &bip21);
    let coin = format!("ethereum:{EVM}@1?value=5e17");
    let not_ether = [
        "gasPrice",
        "contractAddress",
        "address",
        "uint256",
        "data",
        "label",
        "req-x",
    ];
    refused(Asset::ETH, &coin, EVM, &not_ether);
    let token = format!("ethereum:{TETHER}@1/transfer?address={EVM}&uint256=500000");
    refused(
        Asset::USDTERC20,
        &token,
        EVM,
        &["value", "gasPrice", "contractAddress", "bytes32"],
    );
    let tron = format!("tron:{TRON}?amount=0.5");
    for asset in [Asset::TRX, Asset::USDTTRC20] {
        let keys = ["contract", "contractAddress", "value", "memo", "label"];
        refused(asset, &tron, TRON, &keys);
    }
}

#[test]
fn a_cashaddr_of_another_network_is_refused() {
    let main = format!("{BCH}?amount=1");
    let scheme = UriError::Scheme {
        found: "bitcoincash".into(),
    };
    assert_eq!(
        checked_on(Test, Asset::BCH, &main, TEST_BCH, "1"),
        Err(scheme)
    );
    for code in [
        format!("bitcoincash:{TEST_BCH}"),
        format!("bitcoincash:ethereum:{BARE_BCH}"),
    ] {
        let path = code.strip_prefix("bitcoincash:").unwrap();
        assert_eq!(
            checked(Asset::BCH, &code, BCH, "1"),
            address_error(path),
            "{code}"
        );
    }
}

#[test]
fn an_overlong_code_is_not_echoed_whole() {
    let code = format!("bitcoin:{}", "x".repeat(10_000));
    assert_eq!(
        checked(Asset::BTC, &code, BTC, "0.5"),
        address_error(&"x".repeat(80))
    );
}

proptest! {
    #[test]
    fn no_code_makes_the_check_panic(
        scheme in "(bitcoin:|ethereum:|tron:|bitcoincash:|)", text in "\\PC{0,80}", asset in 0_usize..9
    ) {
        let _ = checked(Asset::ALL[asset], &format!("{scheme}{text}"), EVM, "0.5");
    }

    #[test]
    fn wei_and_ether_agree(units in 1_u64..u64::MAX) {
        let amount = format!("{}.{:018}", units / 10_u64.pow(18), units % 10_u64.pow(18));
        let code = |units| format!("ethereum:{EVM}?value={units}");
        prop_assert_eq!(checked(Asset::ETH, &code(units), EVM, &amount), Ok(()));
        let other = (units - 1).to_string();
        prop_assert_eq!(checked(Asset::ETH, &code(units - 1), EVM, &amount), amount_error(&other));
    }
}

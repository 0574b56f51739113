//! Transactions for wallets in the browser: encoded as another encoder does, and the same payment as the URI's.

use serde::Deserialize;

use super::wallet::{self, Sent};
use super::*;

const SEPOLIA_TOKEN: &str = "0xaA8E23Fb1079EA71e0a56F48a2aA51851D8433D0";

#[derive(Deserialize)]
struct Table {
    transfers: Vec<Transfer>,
}

/// A transfer as another encoder writes it.
#[derive(Deserialize)]
struct Transfer {
    address: String,
    units: String,
    #[serde(default)]
    value: String,
    data: String,
}

fn transfers(table: &str) -> Vec<Transfer> {
    serde_json::from_str::<Table>(table).unwrap().transfers
}

#[test]
fn a_token_transfer_is_encoded_as_viem_and_tronweb_encode_it() {
    let form = Form::Eip681 {
        chain_id: "1",
        contract: None,
    };
    for row in transfers(include_str!("../../../vectors/evm_transfer_viem.json")) {
        let data = transaction::transfer(&row.address, row.units.parse().unwrap());
        assert_eq!(data.as_ref(), Some(&row.data));
        // A whole number of units of an asset without decimals.
        if let Ok(amount) = Amount::parse(&row.units) {
            let units = Units::of(amount, 0).unwrap();
            let written = transaction::write_evm(&form, EVM, units).unwrap();
            assert_eq!(written.value, row.value);
        }
    }
    for row in transfers(include_str!("../../../vectors/tron_transfer_tronweb.json")) {
        let data = transaction::tron_transfer(&row.address, row.units.parse().unwrap());
        assert_eq!(data, Some(row.data), "{}", row.address);
    }
}

/// The target of a gateway's text that names everything.
fn target(asset: Asset, network: Network, amount: &str) -> PaymentTarget {
    let parsed = Amount::parse(amount).unwrap();
    let units = Units::of(parsed, asset.decimals()).unwrap().in_smallest();
    let text = match (asset, network) {
        (Asset::ETH, Main) => format!("ethereum:{EVM}@1?value={units}"),
        (Asset::ETH, Test) => format!("ethereum:{EVM}@11155111?value={units}"),
        (Asset::BNB, Main) => format!("ethereum:{EVM}@56?value={units}"),
        (Asset::BNB, Test) => format!("ethereum:{EVM}@97?value={units}"),
        (_, Main) => format!("ethereum:{TETHER}@1/transfer?address={EVM}&uint256={units}"),
        (_, Test) => {
            format!("ethereum:{SEPOLIA_TOKEN}@11155111/transfer?address={EVM}&uint256={units}")
        }
    };
    PaymentTarget::check(asset, &text, EVM, parsed, network).unwrap()
}

/// What leaves a wallet that signs the transaction.
fn signed(transaction: &WalletTransaction) -> Sent {
    let number = |quantity: &str| u128::from_str_radix(quantity, 16).unwrap();
    let value = number(&transaction.value[2..]);
    let chain = format!("chain {}", number(&transaction.chain_id[2..]));
    let to = transaction.to.to_lowercase();
    match transaction.data.strip_prefix("0xa9059cbb") {
        None => Sent {
            chain,
            to,
            amount: Some(value),
            ..Sent::default()
        },
        Some(words) => Sent {
            chain,
            token: Some(to),
            to: format!("0x{}", &words[24..64]),
            amount: Some(number(&words[64..])),
            extra_wei: value,
        },
    }
}

proptest! {
    #[test]
    fn the_transaction_pays_what_the_uri_asks_for(
        asset in prop::sample::select(vec![Asset::ETH, Asset::BNB, Asset::USDTERC20]),
        is_main: bool,
        whole in 0_u32..2_000_000,
        fraction in 1_u32..1_000_000,
        due in 1_u32..1_000_000,
    ) {
        let network = if is_main { Main } else { Test };
        let target = target(asset, network, &format!("{whole}.{fraction:06}"));
        let due = Amount::parse(&format!("{whole}.{due:06}")).unwrap();
        let transaction = target.evm_transaction(due).unwrap();
        prop_assert_eq!(signed(&transaction), wallet::sends(&target.uri(due)).unwrap());
    }
}

#[test]
fn no_transaction_is_written_where_the_uri_is_the_bare_address_or_of_another_chain() {
    // A test network or a token that the text does not name, and assets of other chains.
    for line in [
        "ETH test <to>",
        "USDTERC20 test <to>",
        "BTC main <to>",
        "BCH main <to>",
        "TRX main <to>",
    ] {
        let target = Row::read(line).target().unwrap();
        assert_eq!(target.evm_transaction(amount("0.5")), None, "{line}");
    }
    for line in [
        "USDTTRC20 test <to>",
        "USDTTRC20 main <to>",
        "ETH main ethereum:<to>@1",
    ] {
        let target = Row::read(line).target().unwrap();
        assert_eq!(target.tron_transaction(amount("0.5")), None, "{line}");
    }
    let ether = target(Asset::ETH, Main, "0.5");
    assert_eq!(ether.evm_transaction(Amount::ZERO), None);
    let tether = target(Asset::USDTERC20, Main, "0.5");
    assert_eq!(tether.evm_transaction(amount("0.0000001")), None);
}

#[test]
fn a_transaction_of_tron_names_chain_contract_and_amount() {
    let target = |asset, text: &str, network| {
        PaymentTarget::check(asset, text, TRON, amount("19.9"), network).unwrap()
    };
    let due = amount("12.5");
    let coin = target(Asset::TRX, &format!("tron:{TRON}?amount=19.9"), Main);
    let expected = WalletTransaction {
        chain_id: "0x2b6653dc".to_owned(),
        to: TRON.to_owned(),
        value: "0xbebc20".to_owned(),
        data: "0x".to_owned(),
    };
    assert_eq!(coin.tron_transaction(due), Some(expected.clone()));
    // No URI names TRX on a test network.
    let expected = WalletTransaction {
        chain_id: "0xcd8690dc".to_owned(),
        ..expected
    };
    for text in [TRON.to_owned(), format!("tron:{TRON}?amount=19.9")] {
        let coin = target(Asset::TRX, &text, Test);
        assert_eq!(coin.tron_transaction(due), Some(expected.clone()));
        assert_eq!(coin.uri(due), TRON);
    }
    for (network, token, chain) in [
        (Main, TETHER_ON_TRON, "0x2b6653dc"),
        (Test, NILE_TOKEN, "0xcd8690dc"),
    ] {
        let text = format!("tron:{TRON}?token={token}&amount=19.9");
        let tether = target(Asset::USDTTRC20, &text, network);
        let transaction = tether.tron_transaction(due).unwrap();
        let data = transaction::tron_transfer(TRON, 12_500_000).unwrap();
        let expected = WalletTransaction {
            chain_id: chain.to_owned(),
            to: token.to_owned(),
            value: "0x0".to_owned(),
            data,
        };
        assert_eq!(transaction, expected);
        assert_eq!(tether.evm_transaction(due), None);
    }
}

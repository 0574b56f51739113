//! Transactions for wallets in the browser: encoded as another encoder does, and the same payment as the URI's.

use serde::Deserialize;

use super::wallet::{self, Sent};
use super::*;

const SEPOLIA_TOKEN: &str = "0xaA8E23Fb1079EA71e0a56F48a2aA51851D8433D0";

#[derive(Deserialize)]
struct Table {
    transfers: Vec<Row>,
}

/// A transfer as another encoder writes it.
#[derive(Deserialize)]
struct Row {
    address: String,
    units: String,
    #[serde(default)]
    value: String,
    data: String,
}

fn rows() -> Vec<Row> {
    let table = include_str!("../../../vectors/evm_transfer_viem.json");
    serde_json::from_str::<Table>(table).unwrap().transfers
}

#[test]
fn a_token_transfer_is_encoded_as_viem_encodes_it() {
    for row in rows() {
        let data = transaction::transfer(&row.address, row.units.parse().unwrap());
        assert_eq!(data.as_ref(), Some(&row.data));
    }
}

#[test]
fn a_quantity_is_written_as_viem_writes_it() {
    let form = Form::Eip681 {
        chain_id: "1",
        contract: None,
    };
    for row in rows() {
        // A whole number of units of an asset without decimals.
        let Ok(amount) = Amount::parse(&row.units) else {
            continue;
        };
        let units = Units::of(amount, 0).unwrap();
        let written = transaction::write_evm(&form, EVM, units).unwrap();
        assert_eq!(written.value, row.value);
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
    let number = |quantity: &str| u128::from_str_radix(&quantity[2..], 16).unwrap();
    Sent::Evm {
        chain_id: u64::try_from(number(&transaction.chain_id)).ok(),
        to: transaction.to.to_lowercase(),
        value: Some(number(&transaction.value)),
        data: transaction.data[2..].to_owned(),
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
fn the_contract_is_the_one_that_was_checked() {
    for (network, contract, chain) in [(Main, TETHER, "0x1"), (Test, SEPOLIA_TOKEN, "0xaa36a7")] {
        let target = target(Asset::USDTERC20, network, "19.9");
        let transaction = target.evm_transaction(Amount::parse("19.9").unwrap());
        let transaction = transaction.unwrap();
        assert_eq!(transaction.to, contract);
        assert_eq!(transaction.value, "0x0");
        assert_eq!(transaction.chain_id, chain);
    }
}

#[test]
fn no_transaction_is_written_where_the_uri_is_the_bare_address_or_of_another_chain() {
    let amount = Amount::parse("0.5").unwrap();
    for (asset, text, address, network) in [
        // A test network that the text does not name, and a token that it does not name.
        (Asset::ETH, EVM, EVM, Test),
        (Asset::USDTERC20, EVM, EVM, Test),
        (Asset::BTC, BTC, BTC, Main),
        (Asset::BCH, BCH, BCH, Main),
        (Asset::TRX, TRON, TRON, Main),
    ] {
        let target = PaymentTarget::check(asset, text, address, amount, network).unwrap();
        assert_eq!(target.evm_transaction(amount), None, "{text}");
    }
    let target = target(Asset::ETH, Main, "0.5");
    assert_eq!(target.evm_transaction(Amount::ZERO), None);
    let too_fine = Amount::parse("0.0000001").unwrap();
    let tether = self::target(Asset::USDTERC20, Main, "0.5");
    assert_eq!(tether.evm_transaction(too_fine), None);
}

#[test]
fn a_token_transfer_on_tron_is_encoded_as_tronweb_encodes_it() {
    let table = include_str!("../../../vectors/tron_transfer_tronweb.json");
    let table = serde_json::from_str::<Table>(table).unwrap();
    for row in table.transfers {
        let data = transaction::tron_transfer(&row.address, row.units.parse().unwrap());
        assert_eq!(data, Some(row.data), "{}", row.address);
    }
}

#[test]
fn a_transaction_of_tron_names_chain_contract_and_amount() {
    let target = |asset, text: &str, network| {
        let amount = Amount::parse("19.9").unwrap();
        PaymentTarget::check(asset, text, TRON, amount, network).unwrap()
    };
    let due = Amount::parse("12.5").unwrap();
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
        (Main, "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "0x2b6653dc"),
        (Test, "TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf", "0xcd8690dc"),
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

#[test]
fn no_transaction_of_tron_is_written_where_the_uri_is_the_bare_address_or_of_another_chain() {
    let amount = Amount::parse("0.5").unwrap();
    let ether = format!("ethereum:{EVM}@1?value=500000000000000000");
    for (asset, text, address, network) in [
        (Asset::USDTTRC20, TRON, TRON, Test),
        (Asset::USDTTRC20, TRON, TRON, Main),
        (Asset::ETH, ether.as_str(), EVM, Main),
    ] {
        let target = PaymentTarget::check(asset, text, address, amount, network).unwrap();
        assert_eq!(target.tron_transaction(amount), None, "{text}");
    }
}

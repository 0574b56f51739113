//! The tables of the standards and of each coin's own software, kept in `vectors/` with their sources.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::*;

/// One table. What a file does not have is empty.
#[derive(Deserialize)]
struct Table {
    asset: String,
    valid: Vec<Row>,
    /// Valid by the standard, and without an owner.
    #[serde(default)]
    unowned: Vec<Row>,
    /// Intact, of a network that is neither the main nor the test network.
    #[serde(default)]
    other_network: Vec<String>,
    #[serde(default)]
    private_keys: Vec<String>,
    #[serde(default)]
    invalid: Vec<String>,
    /// A right checksum over something that is no address in use.
    #[serde(default)]
    intact: Vec<String>,
    /// Bitcoin Cash in the form that equals Bitcoin's.
    #[serde(default)]
    legacy: Vec<String>,
}

#[derive(Deserialize)]
struct Row {
    address: String,
    network: String,
}

impl Row {
    fn network(&self) -> Network {
        match self.network.as_str() {
            "main" => Main,
            "test" => Test,
            other => panic!("a network {other}"),
        }
    }
}

impl Table {
    fn asset(&self) -> Asset {
        let code = self.asset.as_str();
        let mut all = Asset::ALL.into_iter();
        all.find(|asset| asset.crypto_code().as_str() == code)
            .unwrap()
    }
}

fn tables() -> Vec<Table> {
    [
        include_str!("../../../vectors/segwit_bip173_bip350.json"),
        include_str!("../../../vectors/bitcoin_key_io.json"),
        include_str!("../../../vectors/litecoin_key_io.json"),
        include_str!("../../../vectors/dogecoin_base58_keys.json"),
        include_str!("../../../vectors/bch_cashaddr.json"),
        include_str!("../../../vectors/tron_addresses.json"),
        include_str!("../../../vectors/evm_eip55.json"),
    ]
    .iter()
    .map(|text| serde_json::from_str(text).unwrap())
    .collect()
}

const NETWORKS: [Network; 2] = [Main, Test];

#[test]
fn every_address_of_the_tables_is_accepted_on_its_network() {
    let mut checked = 0;
    for table in tables() {
        for row in &table.valid {
            let result = check(table.asset(), &row.address, row.network());
            assert_eq!(result, Ok(()), "{} {}", table.asset, row.address);
            checked += 1;
        }
    }
    assert!(checked >= 120, "{checked}");
}

#[test]
fn nothing_else_of_the_tables_is_accepted() {
    let mut checked = 0;
    for table in tables() {
        let lists = [&table.other_network, &table.private_keys, &table.invalid];
        for text in lists.into_iter().flatten().chain(&table.intact) {
            for network in NETWORKS {
                let result = check(table.asset(), text, network);
                assert!(result.is_err(), "{} {network:?} {text}", table.asset);
            }
            checked += 1;
        }
        for text in &table.legacy {
            assert_eq!(check(table.asset(), text, Main), Err(Malformed), "{text}");
            assert_eq!(check(Asset::BTC, text, Main), Ok(()), "{text}");
        }
        for row in &table.unowned {
            let result = check(table.asset(), &row.address, row.network());
            assert_eq!(result, Err(Unowned), "{} {}", table.asset, row.address);
        }
    }
    assert!(checked >= 200, "{checked}");
}

// The CashAddr specification gives checksums without payloads, to test the checksum alone.
#[test]
fn a_right_checksum_of_the_tables_is_not_called_wrong() {
    for table in tables() {
        for text in &table.intact {
            let refusal = check(table.asset(), text, Main).unwrap_err();
            assert_ne!(refusal, Checksum, "{text}");
            let last = if text.ends_with('q') { "p" } else { "q" };
            let broken = format!("{}{last}", &text[..text.len() - 1]);
            assert_eq!(
                check(table.asset(), &broken, Main),
                Err(Checksum),
                "{broken}"
            );
        }
    }
}

#[test]
fn segwit_addresses_of_the_tables_are_accepted_in_capitals() {
    for table in tables() {
        for row in table.valid.iter().filter(|row| is_segwit(&row.address)) {
            let upper = row.address.to_uppercase();
            let result = check(table.asset(), &upper, row.network());
            assert_eq!(result, Ok(()), "{upper}");
        }
    }
}

/// What one asset may be paid at with another's address. Source: the version bytes and chains in [`super::super`].
fn shares(
    one: Asset,
    network: Network,
    other: Asset,
    other_network: Network,
) -> BTreeSet<&'static str> {
    let evm = |asset| matches!(asset, Asset::ETH | Asset::USDTERC20 | Asset::BNB);
    let tron = |asset| matches!(asset, Asset::TRX | Asset::USDTTRC20);
    let mut ways = BTreeSet::new();
    if one == other && network == other_network {
        ways.insert("itself");
    }
    if evm(one) && evm(other) {
        ways.insert("one form on every chain made after Ethereum");
    }
    if tron(one) && tron(other) {
        ways.insert("one form on every network of Tron");
    }
    if network == Test && other_network == Test {
        let pair = |a, b| (one, other) == (a, b) || (one, other) == (b, a);
        if pair(Asset::BTC, Asset::LTC) {
            ways.insert("m… and n…");
        }
        if pair(Asset::BTC, Asset::DOGE) {
            ways.insert("2…");
        }
    }
    ways
}

#[test]
fn no_coin_takes_an_address_of_another() {
    let mut refused = 0;
    for table in tables() {
        for row in &table.valid {
            for asset in Asset::ALL {
                for network in NETWORKS {
                    let shared = shares(table.asset(), row.network(), asset, network);
                    let result = check(asset, &row.address, network);
                    if shared.is_empty() {
                        let what =
                            format!("{} as {} on {network:?}", row.address, asset.crypto_code());
                        assert!(result.is_err(), "{what}");
                        refused += 1;
                    } else if result.is_ok() && shared.contains("2…") {
                        assert!(row.address.starts_with('2'), "{}", row.address);
                    } else if result.is_ok() && shared.contains("m… and n…") {
                        assert!(row.address.starts_with(['m', 'n']), "{}", row.address);
                    }
                }
            }
        }
    }
    assert!(refused >= 1_500, "{refused}");
}

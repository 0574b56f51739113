//! Addresses from the tables of the standards and of each coin's own software, kept in `vectors/` with their sources, and
//! texts that must not pass for an address.

use AddressError::{Checksum, Malformed, Unowned};
use Network::{Main, Regtest, Test};
use proptest::prelude::*;
use serde::Deserialize;

use super::*;

const NETWORKS: [Network; 3] = [Main, Test, Regtest];

/// A table of `vectors/`. A list that the file does not have is empty.
#[derive(Deserialize)]
struct Table {
    asset: String,
    valid: Vec<Row>,
    /// Valid by the standard, and without an owner.
    #[serde(default)]
    unowned: Vec<Row>,
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

fn asset(code: &str) -> Asset {
    let mut all = Asset::ALL.into_iter();
    all.find(|asset| asset.crypto_code().as_str() == code)
        .unwrap()
}

fn network(name: &str) -> Network {
    match name {
        "main" => Main,
        "test" => Test,
        "regtest" => Regtest,
        other => panic!("a network {other}"),
    }
}

fn tables() -> Vec<Table> {
    [
        include_str!("../../vectors/segwit_bip173_bip350.json"),
        include_str!("../../vectors/bitcoin_key_io.json"),
        include_str!("../../vectors/litecoin_key_io.json"),
        include_str!("../../vectors/dogecoin_base58_keys.json"),
        include_str!("../../vectors/bch_cashaddr.json"),
        include_str!("../../vectors/tron_addresses.json"),
        include_str!("../../vectors/evm_eip55.json"),
    ]
    .iter()
    .map(|text| serde_json::from_str(text).unwrap())
    .collect()
}

/// Every valid address of the tables, and a few of other sources.
fn valid() -> Vec<(Asset, Network, String)> {
    let others = [
        // BIP-84, "Test vectors"; the output of Bitcoin's first block; Bitcoin wiki, "List of address prefixes".
        ("BTC", Main, "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"),
        ("BTC", Main, "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"),
        ("BTC", Test, "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn"),
        ("BTC", Test, "2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc"),
    ];
    let others = others.map(|(code, network, address)| (asset(code), network, address.to_owned()));
    let tables = tables().into_iter().flat_map(|table| {
        let asset = asset(&table.asset);
        let rows = table.valid.into_iter();
        rows.map(move |row| (asset, network(&row.network), row.address))
    });
    tables.chain(others).collect()
}

/// Assets and networks that share their addresses, as the module's documentation says.
fn share(one: (Asset, Network), other: (Asset, Network), address: &str) -> bool {
    let evm = |asset| [Asset::ETH, Asset::USDTERC20, Asset::BNB].contains(&asset);
    let tron = |asset| [Asset::TRX, Asset::USDTTRC20].contains(&asset);
    let (btc, ltc, doge) = (Asset::BTC, Asset::LTC, Asset::DOGE);
    let group: &[_] = match address.as_bytes().first() {
        Some(b'm' | b'n') => &[
            (btc, Test),
            (btc, Regtest),
            (ltc, Test),
            (ltc, Regtest),
            (doge, Regtest),
        ],
        Some(b'2') => &[(btc, Test), (btc, Regtest), (doge, Test), (doge, Regtest)],
        Some(b'Q') => &[(ltc, Test), (ltc, Regtest)],
        _ => &[],
    };
    one == other
        || (evm(one.0) && evm(other.0))
        || (tron(one.0) && tron(other.0))
        || (group.contains(&one) && group.contains(&other))
}

#[test]
fn an_address_is_accepted_for_its_coin_and_network_and_for_no_other() {
    let (mut accepted, mut refused) = (0, 0);
    for (asset, network, address) in valid() {
        for other in Asset::ALL {
            for other_network in NETWORKS {
                let expected = share((asset, network), (other, other_network), &address);
                let result = check(other, &address, other_network);
                assert_eq!(
                    result.is_ok(),
                    expected,
                    "{address} for {other:?} {other_network:?}"
                );
                accepted += u32::from(expected);
                refused += u32::from(!expected);
            }
        }
    }
    assert!(
        accepted >= 125 && refused >= 1_500,
        "{accepted} and {refused}"
    );
}

#[test]
fn nothing_else_of_the_tables_is_accepted() {
    let mut checked = 0;
    for table in tables() {
        let lists = [&table.private_keys, &table.invalid];
        for text in lists.into_iter().flatten().chain(&table.intact) {
            for network in NETWORKS {
                let result = check(asset(&table.asset), text, network);
                assert!(result.is_err(), "{} {network:?} {text}", table.asset);
            }
            checked += 1;
        }
        for text in &table.legacy {
            assert_eq!(
                check(asset(&table.asset), text, Main),
                Err(Malformed),
                "{text}"
            );
            assert_eq!(check(Asset::BTC, text, Main), Ok(()), "{text}");
        }
        for row in &table.unowned {
            let result = check(asset(&table.asset), &row.address, network(&row.network));
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
            let refusal = check(asset(&table.asset), text, Main).unwrap_err();
            assert_ne!(refusal, Checksum, "{text}");
            let last = if text.ends_with('q') { "p" } else { "q" };
            let broken = format!("{}{last}", &text[..text.len() - 1]);
            assert_eq!(
                check(asset(&table.asset), &broken, Main),
                Err(Checksum),
                "{broken}"
            );
        }
    }
}

#[test]
fn segwit_addresses_are_accepted_in_capitals() {
    for (asset, network, address) in valid() {
        if is_segwit(&address) {
            let upper = address.to_uppercase();
            assert_eq!(check(asset, &upper, network), Ok(()), "{upper}");
        }
    }
}

// Computed with Python's hashlib. One address of Tron in six thousand begins so.
#[test]
fn an_address_in_base58_that_begins_like_segwit_is_one_all_the_same() {
    for (asset, address) in [
        (Asset::TRX, "TB1FBf8Z7KniGZpnqXuBCpCf5tixUbhKEF"),
        (Asset::USDTTRC20, "TB1FBf8Z7KniGZpnqXuBCpCf5tixUbhKEF"),
        (Asset::LTC, "LTC1W2HStAt4ZuWF2HJySjJnfKGci9hbNQ"),
    ] {
        assert_eq!(check(asset, address, Main), Ok(()), "{address}");
        assert!(same(asset, address, address));
        assert!(!same(asset, address, &address.to_lowercase()));
    }
}

const REFUSED: [&str; 18] = [
    "BTC main Checksum bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5",
    // Bech32 where bech32m belongs.
    "BTC main Checksum bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd",
    "BTC main Checksum 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb",
    "BTC main Malformed 1A1zP1eP5QGefi2DMPTfTL5SLmv7Div0Na",
    "BTC test Foreign 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
    "BTC main Foreign ltc1qhdhvrwe6rgqns8fz28tee0hphr5x7ulw5exv4w",
    "DOGE main Foreign bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu",
    // Bitcoin's script address, which Litecoin once shared.
    "LTC main Foreign 3CWFddi6m4ndiGyKqzYvsFYagqDLPVMTzC",
    // A private key.
    "LTC main Malformed 6vqpCruyRS9bEY6ZVrL8S9EL5h2MnQZffzzqrpNP9i8YozvXTKs",
    "TRX main Checksum TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u",
    "BCH main Foreign bchtest:pr6m7j9njldwwzlg9v7v53unlr4jkmx6eyvwc0uz5t",
    // The test network's, without the prefix that takes part in the checksum.
    "BCH main Checksum pr6m7j9njldwwzlg9v7v53unlr4jkmx6eyvwc0uz5t",
    "BCH main Malformed bitcoincash:Qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a",
    "BCH main Malformed bitcoincash:bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a",
    "ETH main Checksum 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD",
    "ETH main Malformed 0X5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    "ETH main Malformed 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAedd",
    "ETH main Malformed 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeg",
];

#[test]
fn a_refusal_names_its_cause() {
    for row in REFUSED {
        let [code, network, cause, text] = row.splitn(4, ' ').collect::<Vec<_>>()[..] else {
            panic!("{row}");
        };
        let refusal = check(asset(code), text, self::network(network)).unwrap_err();
        assert_eq!(format!("{refusal:?}"), cause, "{row}");
    }
    for text in ["", "1111111111111111111114oLvT2\n"] {
        assert_eq!(check(Asset::BTC, text, Main), Err(Malformed), "{text:?}");
    }
}

#[test]
fn an_intact_checksum_over_another_length_is_no_address() {
    for length in [19, 21] {
        let payload = vec![0x30; 1 + length];
        let address = bs58::encode(payload).with_check().into_string();
        assert_eq!(check(Asset::LTC, &address, Main), Err(Malformed));
    }
}

#[test]
fn an_overlong_text_is_refused_before_it_costs_time() {
    let text = "z".repeat(1_000_000);
    for asset in Asset::ALL {
        assert!(check(asset, &text, Main).is_err());
    }
}

const BASE58: &[u8] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const BECH32: &[u8] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";

proptest! {
    #[test]
    fn no_text_makes_a_checker_panic(
        text in "\\PC{0,100}|(bc1|tltc1|bitcoincash:|0x|bchtest:q|T|1)[0-9a-zA-Z:é]{0,70}",
        asset in prop::sample::select(Asset::ALL.to_vec()),
    ) {
        for network in NETWORKS {
            let _ = check(asset, &text, network);
        }
    }

    #[test]
    fn one_wrong_character_is_always_noticed(at: prop::sample::Index, with: prop::sample::Index) {
        for (asset, address, alphabet) in [
            (Asset::BTC, "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", BASE58),
            (Asset::LTC, "MHrYRxAiMNBTku3eoDHwhA1LQGDjUStZW2", BASE58),
            (Asset::DOGE, "DD4KSSuBJqcjuTcvUg1CgUKeurPUFeEZkE", BASE58),
            (Asset::USDTTRC20, "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", BASE58),
            (Asset::BTC, "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu", BECH32),
            (Asset::BCH, "qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a", BECH32),
        ] {
            let mut bytes = address.as_bytes().to_vec();
            bytes[at.index(address.len())] = alphabet[with.index(alphabet.len())];
            let wrong = String::from_utf8(bytes).unwrap();
            prop_assert!(wrong == address || check(asset, &wrong, Main).is_err(), "{}", wrong);
        }
    }
}

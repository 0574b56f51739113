//! Keys and addresses that another library computed, kept in `vectors/`, and texts that are refused.

use std::collections::BTreeMap;

use KeyError::{
    Branch, Checksum, Hardened, Malformed, OfMain, OfTest, Path, Prefix, Private, Script, Single,
    Unsaid,
};
use Network::{Main, Regtest, Test};
use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct Table {
    keys: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    asset: String,
    network: String,
    key: String,
    addresses: BTreeMap<u32, String>,
}

impl Row {
    fn parse(&self) -> DepositKey {
        let mut all = Asset::ALL.into_iter();
        let asset = all.find(|asset| asset.crypto_code().as_str() == self.asset);
        let network = match self.network.as_str() {
            "main" => Main,
            "test" => Test,
            _ => Regtest,
        };
        let key = DepositKey::parse(asset.unwrap(), network, &self.key);
        key.unwrap_or_else(|error| panic!("{}: {error}", self.key))
    }
}

fn rows() -> Vec<Row> {
    let table = include_str!("../../vectors/deposit_keys.json");
    let Table { keys } = serde_json::from_str(table).unwrap();
    keys
}

#[test]
fn addresses_are_those_of_another_library() {
    let mut networks = BTreeMap::<_, u32>::new();
    for row in rows() {
        let key = row.parse();
        assert!(row.addresses.len() >= 3);
        for (index, address) in &row.addresses {
            assert_eq!(&key.address(*index), address, "{} {index}", row.key);
            assert_eq!(crate::check(key.asset, address, key.network), Ok(()));
            assert!(key.derives(*index, address) && !key.derives(*index + 1, address));
        }
        *networks.entry(row.network).or_default() += 1;
    }
    assert!(networks.values().all(|rows| *rows >= 8), "{networks:?}");
}

#[test]
fn a_node_is_given_a_descriptor_that_means_the_same_key() {
    for row in rows() {
        let key = row.parse();
        let is_account = ["ETH", "BNB", "USDTERC20", "TRX", "USDTTRC20"].contains(&&*row.asset);
        let descriptor = key.descriptor();
        assert_eq!(descriptor.is_none(), is_account, "{}", row.key);
        if let Some(descriptor) = descriptor {
            assert!(descriptor.contains("/0/*"), "{descriptor}");
            let again = DepositKey::parse(key.asset, key.network, &descriptor);
            assert_eq!(again.as_ref(), Ok(&key));
        }
    }
    // The checksum as `embit` computes it, another library in Python.
    let zpub = &rows()[0];
    let descriptor = zpub.parse().descriptor().unwrap();
    assert_eq!(descriptor, format!("wpkh({X84}/0/*)#kj7aqcx6"));
}

/// The accounts of BIP-84 and BIP-86, and a branch of BIP-44's.
const X84: &str = "xpub6CatWdiZiodmUeTDp8LT5or8nmbKNcuyvz7WyksVFkKB4RHwCD3XyuvPEbvqAQY3rAPshWcMLoP2fMFMKHPJ4ZeZXYVUhLv1VMrjPC7PW6V";
const ZPUB: &str = "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs";
const MULTI: &str = "Zpub739WFCnqb8H6bozqRWNgL4NwrVvUUDaa5UodTovoPXuLnoVJTvkwKA6b5ioUif4ntuhU53ob9LUdZ66F3uNGoX8S6gzjGa1yvYFtkDRknR2";
const TPUB: &str = "tpubDCxX2sYFS5bDkSe5GKKYHjBW7tgyN1R3UchpLJvdbf54ohxeGRtd8MbDUe1cguVHe4vnK68DsuD5MXjxi9EXx16rb9EnNsaF5KT99CinaJz";
const LTUB: &str = "Ltub2ZANw57Fi4JfMGenngwfZMqDrsccTf2m3qEjvLuk8faGXB973sSqGttAdKBvGSCLG9DXh2yxaUB9qpwQUe2zCCtrZPhjxGuMAWqL6F7Xrpd";
const BRANCH: &str = "xpub6ELHKXNimKbxMCytPh7EdC2QXx46T9qLDJWGnTraz1H9kMMFdcduoU69wh9cxP12wDxqAAfbaESWGYt5rREsX1J8iR2TEunvzvddduAPYcY";
const XPRV: &str = "xprv9xpXFhFpqdQK3TmytPBqXtGSwS3DLjojFhTGht8gwAAii8py5X6pxeBnQ6ehJiyJ6nDjWGJfZ95WxByFXVkDxHXrqu53WCRGypk2ttuqncb";
const ZPRV: &str = "zprvAdG4iTXWBoARxkkzNpNh8r6Qag3irQB8PzEMkAFeTRXxHpbF9z4QgEvBRmfvqWvGp42t42nvgGpNgYSJA9iefm1yYNZKEm7z6qUWCroSQnE";
const WIF: &str = "L5kDcLx1KSd1eJyyVF4qGC9ucBDSmq3qgUTaqyckhDpMtsQQVBbK";
const POINT: &str = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";

/// The names above in braces stand for the keys.
#[rustfmt::skip]
const REFUSED: [(Asset, Network, &str, KeyError); 48] = [
    (Asset::BTC, Main, "{XPRV}", Private("an extended private key")),
    (Asset::BTC, Main, "{ZPRV}", Private("an extended private key")),
    (Asset::ETH, Main, "{XPRV}", Private("an extended private key")),
    (Asset::BTC, Main, "wpkh([73c5da0a/84'/0'/0']{XPRV}/0/*)", Private("an extended private key")),
    (Asset::BTC, Main, "wsh(multi(1,{X84}/0/*,{XPRV}/0/*))", Private("an extended private key")),
    // With a character too many, so that the checksum does not show what it is.
    (Asset::BTC, Main, "{XPRV}x", Private("an extended private key")),
    (Asset::LTC, Main, "Ltpv71G8qDifUiNet", Private("an extended private key")),
    (Asset::DOGE, Main, "dgpv51eADS3spNJh9", Private("an extended private key")),
    (Asset::BTC, Main, "{WIF}", Private("a private key")),
    (Asset::BTC, Main, "wpkh({WIF})", Private("a private key")),
    // Without the mark of a compressed key.
    (Asset::DOGE, Main, "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ", Private("a private key")),
    (Asset::ETH, Main, "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80", Private("64 hexadecimal digits, as private keys have")),
    (Asset::TRX, Main, "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80", Private("64 hexadecimal digits, as private keys have")),
    (Asset::ETH, Main, "test test test test test test test test test test test junk", Private("seed words")),
    (Asset::BTC, Main, "{TPUB}", OfTest),
    (Asset::BTC, Main, "wpkh({TPUB}/0/*)", OfTest),
    (Asset::ETH, Main, "{TPUB}", OfTest),
    (Asset::BTC, Test, "{ZPUB}", OfMain),
    (Asset::BCH, Regtest, "{X84}", OfMain),
    (Asset::BTC, Main, "{X84}", Unsaid),
    (Asset::LTC, Main, "{X84}/0/*", Unsaid),
    (Asset::LTC, Main, "{LTUB}", Unsaid),
    (Asset::BTC, Regtest, "{TPUB}", Unsaid),
    (Asset::BTC, Main, "{LTUB}", Prefix),
    (Asset::DOGE, Main, "{ZPUB}", Prefix),
    (Asset::ETH, Main, "{ZPUB}", Prefix),
    (Asset::BTC, Main, "{MULTI}", Prefix),
    (Asset::BTC, Main, "pkh({ZPUB}/0/*)", Prefix),
    (Asset::DOGE, Main, "wpkh({X84})", Script),
    (Asset::BCH, Main, "sh(wpkh({X84}))", Script),
    (Asset::TRX, Main, "tr({X84})", Script),
    (Asset::BTC, Main, "pk({X84})", Script),
    (Asset::BTC, Main, "wpkh({POINT})", Single),
    (Asset::BTC, Main, "wsh(multi(1,{X84}/0/*,{POINT}))", Single),
    (Asset::BTC, Main, "wpkh({X84}/0/*h)", Hardened),
    (Asset::BTC, Main, "wpkh({X84}/0'/*)", Hardened),
    (Asset::ETH, Main, "{X84}/0/*'", Hardened),
    (Asset::BTC, Main, "wpkh({X84}/1/*)", Path),
    (Asset::BTC, Main, "wpkh({X84}/<1;0>/*)", Path),
    (Asset::BTC, Main, "{ZPUB}/0", Path),
    (Asset::TRX, Main, "{X84}/*", Path),
    (Asset::BTC, Main, "pkh({BRANCH})", Branch),
    (Asset::BTC, Main, "wpkh([73c5da0a/84'/0'/0']{X84}/0/*)#wc3n3vam", Checksum),
    (Asset::BTC, Main, "", Malformed),
    (Asset::BTC, Main, "{ZPUB}x", Malformed),
    (Asset::BTC, Main, "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu", Malformed),
    (Asset::BTC, Main, "wpkh({X84}", Malformed),
    // A branch that asks for no signature.
    (Asset::BTC, Main, "wsh(or_i(pk({X84}),older(5)))", Malformed),
];

#[test]
fn a_refusal_names_its_cause_and_not_the_key() {
    let named = [
        ("{X84}", X84),
        ("{ZPUB}", ZPUB),
        ("{MULTI}", MULTI),
        ("{TPUB}", TPUB),
        ("{LTUB}", LTUB),
        ("{BRANCH}", BRANCH),
        ("{XPRV}", XPRV),
        ("{ZPRV}", ZPRV),
        ("{WIF}", WIF),
        ("{POINT}", POINT),
    ];
    for (asset, network, text, expected) in REFUSED {
        let fill = |text: String, (name, key): &(&str, &str)| text.replace(name, key);
        let key = named.iter().fold(text.to_owned(), fill);
        let refusal = DepositKey::parse(asset, network, &key).map(|key| key.descriptor());
        assert_eq!(refusal, Err(expected), "{text}");
        let message = format!("{expected} {expected:?}");
        let parts = key.split(|char: char| !char.is_alphanumeric());
        for part in parts.filter(|part| part.len() > 12) {
            assert!(!message.contains(part), "{message}");
        }
    }
}

#[test]
fn what_is_printed_shows_no_key() {
    for row in rows() {
        let printed = format!("{:?}", row.parse());
        assert!(!printed.contains("pub"), "{printed}");
    }
    let zpub = format!("{:?}", rows()[0].parse());
    assert_eq!(
        zpub,
        r#"DepositKey { asset: "BTC", network: Main, checksum: "kj7aqcx6", .. }"#
    );
}

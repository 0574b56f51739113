//! Addresses from the sources that define them, and what must not pass for one.

mod vectors;

use AddressError::{Checksum, Foreign, Malformed, Unowned};
use Network::{Main, Test};
use proptest::prelude::*;

use super::*;

/// Intact addresses: asset, network, address, source.
const VALID: &[(Asset, Network, &str)] = &[
    // BIP-350 and BIP-173, "Test vectors": segwit version 0, and taproot.
    (
        Asset::BTC,
        Main,
        "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4",
    ),
    (
        Asset::BTC,
        Test,
        "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7",
    ),
    (
        Asset::BTC,
        Test,
        "tb1qqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesrxh6hy",
    ),
    (
        Asset::BTC,
        Test,
        "tb1pqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesf3hn0c",
    ),
    (
        Asset::BTC,
        Main,
        "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",
    ),
    // BIP-84, "Test vectors".
    (
        Asset::BTC,
        Main,
        "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu",
    ),
    // Output of Bitcoin's first block; the CashAddr specification's table of translations.
    (Asset::BTC, Main, "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"),
    (Asset::BTC, Main, "16w1D5WRVKJuZUsSRzdLp9w3YGcgoxDXb"),
    (Asset::BTC, Main, "3CWFddi6m4ndiGyKqzYvsFYagqDLPVMTzC"),
    (Asset::BTC, Main, "31nwvkZwyPdgzjBJZXfDmSWsC4ZLKpYyUw"),
    // Bitcoin wiki, "List of address prefixes".
    (Asset::BTC, Test, "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn"),
    (Asset::BTC, Test, "2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc"),
    // Litecoin Core, `src/test/data/key_io_valid.json`.
    (Asset::LTC, Main, "LT2KVaAy1ppRuxRgrS5RNU3vBsy7RibPeA"),
    (Asset::LTC, Main, "MHrYRxAiMNBTku3eoDHwhA1LQGDjUStZW2"),
    (
        Asset::LTC,
        Main,
        "ltc1qhdhvrwe6rgqns8fz28tee0hphr5x7ulw5exv4w",
    ),
    (
        Asset::LTC,
        Main,
        "ltc1ppu2gv0tujus0f6eggrk7eqmaf0567x6zer4fcuhz4z7ztzq9u9yseqxltc",
    ),
    (Asset::LTC, Test, "mwXn5Vhicdav8Av3KMokx4YNuHoGRKxtWs"),
    (Asset::LTC, Test, "QXaUgLHkZcbJb2j5XgMYzY8cF9YM48Y81Z"),
    (
        Asset::LTC,
        Test,
        "tltc1qpftpsvdn6mjp8celrkj0qxqy4jlapl959rlwg9",
    ),
    // Dogecoin Core, `src/test/data/base58_keys_valid.json`.
    (Asset::DOGE, Main, "DD4KSSuBJqcjuTcvUg1CgUKeurPUFeEZkE"),
    (Asset::DOGE, Main, "A7HRQk3GFCW2QasvdZxXuYj8kkQK5QrYLs"),
    (Asset::DOGE, Main, "9zYnVRaekPtdKBYuPw5QiBtv3NNrzD2LLW"),
    (Asset::DOGE, Test, "nhRsrUaxZou6sewjqaS37cJrMRJRgwVXdk"),
    (Asset::DOGE, Test, "2MsvyG12kxxipe276Au4zKqvd2xdrBuHWb3"),
    // developers.tron.network, "Account address format"; the contract of USDT on Tron.
    (Asset::TRX, Main, "TNPeeaaFB7K9cmo4uQpcU32zGK8G1NYqeL"),
    (Asset::TRX, Test, "TNPeeaaFB7K9cmo4uQpcU32zGK8G1NYqeL"),
    (Asset::USDTTRC20, Main, "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"),
    // The CashAddr specification, "Examples of address translation" and "Larger Test Vectors".
    (
        Asset::BCH,
        Main,
        "bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a",
    ),
    (
        Asset::BCH,
        Main,
        "BITCOINCASH:QPM2QSZNHKS23Z7629MMS6S4CWEF74VCWVY22GDX6A",
    ),
    (
        Asset::BCH,
        Main,
        "qr95sy3j9xwd2ap32xkykttr4cvcu7as4y0qverfuy",
    ),
    (
        Asset::BCH,
        Main,
        "QR95SY3J9XWD2AP32XKYKTTR4CVCU7AS4Y0QVERFUY",
    ),
    (
        Asset::BCH,
        Main,
        "bitcoincash:ppm2qsznhks23z7629mms6s4cwef74vcwvn0h829pq",
    ),
    (
        Asset::BCH,
        Main,
        "bitcoincash:qr6m7j9njldwwzlg9v7v53unlr4jkmx6eylep8ekg2",
    ),
    (
        Asset::BCH,
        Test,
        "bchtest:pr6m7j9njldwwzlg9v7v53unlr4jkmx6eyvwc0uz5t",
    ),
    (
        Asset::BCH,
        Test,
        "pr6m7j9njldwwzlg9v7v53unlr4jkmx6eyvwc0uz5t",
    ),
    (
        Asset::BCH,
        Test,
        "bchtest:pvch8mmxy0rtfrlarg7ucrxxfzds5pamg73h7370aa87d80gyhqxq7fqng6m6",
    ),
    // EIP-55, "Test Cases": normal, all capitals, all lower.
    (
        Asset::ETH,
        Main,
        "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    ),
    (
        Asset::ETH,
        Test,
        "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
    ),
    (
        Asset::USDTERC20,
        Main,
        "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
    ),
    (
        Asset::BNB,
        Main,
        "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
    ),
    (
        Asset::ETH,
        Main,
        "0x52908400098527886E0F7030069857D2E4169EE7",
    ),
    (
        Asset::ETH,
        Main,
        "0xde709f2102306220921060314715629080e2fb77",
    ),
    // The contract of USDT on Ethereum.
    (
        Asset::USDTERC20,
        Main,
        "0xdAC17F958D2ee523a2206206994597C13D831ec7",
    ),
];

#[test]
fn every_published_address_is_accepted() {
    for (asset, network, address) in VALID {
        assert_eq!(check(*asset, address, *network), Ok(()), "{address}");
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

#[track_caller]
fn refused(asset: Asset, network: Network, error: AddressError, addresses: &[&str]) {
    for address in addresses {
        assert_eq!(check(asset, address, network), Err(error), "{address}");
    }
}

// BIP-173 and BIP-350, "Test vectors".
#[test]
fn the_broken_segwit_addresses_of_the_standard_are_refused() {
    refused(
        Asset::BTC,
        Main,
        Checksum,
        &[
            "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5",
            // Bech32 where bech32m belongs, and the other way round.
            "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd",
            "bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7k7grplx",
            "BC1S0XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ54WELL",
            "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh",
            // An empty data section: its first character is read as a version, so bech32m is expected.
            "bc1gmk9yu",
        ],
    );
    refused(
        Asset::BTC,
        Main,
        Malformed,
        &[
            "bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4",
            "BC130XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ7ZWS8R",
            "bc1pw5dgrnzv",
            "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v8n0nx0muaewav253zgeav",
            "BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P",
            "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v07qwwzcrf",
            "tc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq5zuyut",
        ],
    );
    refused(
        Asset::BTC,
        Test,
        Malformed,
        &[
            "tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq47Zagq",
            "tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vpggkg4j",
            "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3pjxtptv",
        ],
    );
}

// BIP-350, "Test vectors": valid as addresses, but there is no key to a program of these versions and lengths.
#[test]
fn a_witness_program_without_an_owner_is_refused() {
    refused(
        Asset::BTC,
        Main,
        Unowned,
        &[
            "bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y",
            "BC1SW50QGDZ25J",
            "bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs",
        ],
    );
    refused(Asset::LTC, Main, Unowned, &["ltc1zjwls6j8c4u"]);
}

#[test]
fn a_mistyped_base58_address_is_refused() {
    refused(
        Asset::BTC,
        Main,
        Checksum,
        &["1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb"],
    );
    refused(
        Asset::TRX,
        Main,
        Checksum,
        &["TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u"],
    );
    refused(
        Asset::BTC,
        Main,
        Malformed,
        &[
            "",
            "1",
            "1A1zP1eP5QGefi2DMPTfTL5SLmv7Div0Na",
            "1111111111111111111114oLvT2\n",
        ],
    );
}

// Litecoin Core, `src/test/data/key_io_valid.json`: intact, but a private key.
#[test]
fn a_private_key_is_no_address() {
    refused(
        Asset::LTC,
        Main,
        Malformed,
        &["6vqpCruyRS9bEY6ZVrL8S9EL5h2MnQZffzzqrpNP9i8YozvXTKs"],
    );
}

#[test]
fn an_intact_checksum_over_another_length_is_no_address() {
    for length in [19, 21] {
        let payload = vec![0x30; 1 + length];
        let address = bs58::encode(payload).with_check().into_string();
        refused(Asset::LTC, Main, Malformed, &[&address]);
    }
}

#[test]
fn an_overlong_text_is_refused_before_it_costs_time() {
    let text = "z".repeat(1_000_000);
    for asset in Asset::ALL {
        assert!(check(asset, &text, Main).is_err());
    }
}

// The CashAddr specification: intact checksums over payloads and types that are none.
#[test]
fn a_cashaddr_without_a_payload_in_use_is_refused() {
    refused(
        Asset::BCH,
        Main,
        Malformed,
        &[
            "bitcoincash:qpzry9x8gf2tvdw0s3jn54khce6mua7lcw20ayyn",
            "bitcoincash:q9adhakpwzztepkpwp5z0dq62m6u5v5xtyj7j3h2ws4mr9g0",
            "bitcoincash:",
            "bitcoincash:Qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a",
            "bitcoincash:bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a",
        ],
    );
    refused(
        Asset::BCH,
        Main,
        Foreign,
        &[
            "pref:pr6m7j9njldwwzlg9v7v53unlr4jkmx6ey65nvtks5",
            "prefix:0r6m7j9njldwwzlg9v7v53unlr4jkmx6ey3qnjwsrf",
            "bchtest:testnetaddress4d6njnut",
        ],
    );
    refused(
        Asset::BCH,
        Main,
        Checksum,
        &[
            "bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6q",
            // The test network's, without its prefix.
            "pr6m7j9njldwwzlg9v7v53unlr4jkmx6eyvwc0uz5t",
        ],
    );
}

#[test]
fn a_wrong_case_in_an_evm_address_is_a_wrong_checksum() {
    refused(
        Asset::ETH,
        Main,
        Checksum,
        &[
            "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD",
            "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
        ],
    );
    refused(
        Asset::ETH,
        Main,
        Malformed,
        &[
            "5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
            "0X5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
            "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe",
            "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAedd",
            "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeg",
        ],
    );
}

/// Assets and networks that share their addresses, as the module's documentation says.
fn share(one: (Asset, Network), other: (Asset, Network), address: &str) -> bool {
    let evm = |asset| [Asset::ETH, Asset::USDTERC20, Asset::BNB].contains(&asset);
    let tron = |asset| [Asset::TRX, Asset::USDTTRC20].contains(&asset);
    let begins = |letters: [char; 2]| address.starts_with(letters);
    let both = |pair: [Asset; 2]| {
        one.1 == Test && other.1 == Test && pair.contains(&one.0) && pair.contains(&other.0)
    };
    one == other
        || (evm(one.0) && evm(other.0))
        || (tron(one.0) && tron(other.0))
        || (both([Asset::BTC, Asset::LTC]) && begins(['m', 'n']))
        || (both([Asset::BTC, Asset::DOGE]) && address.starts_with('2'))
}

#[test]
fn an_address_of_one_coin_passes_for_no_other() {
    for (asset, network, address) in VALID {
        for other in Asset::ALL {
            for other_network in [Main, Test] {
                let expected = share((*asset, *network), (other, other_network), address);
                let result = check(other, address, other_network);
                assert_eq!(
                    result.is_ok(),
                    expected,
                    "{address} for {other:?} {other_network:?}"
                );
            }
        }
    }
}

#[test]
fn an_intact_address_of_another_network_is_called_foreign() {
    refused(
        Asset::BTC,
        Test,
        Foreign,
        &["1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"],
    );
    refused(
        Asset::BTC,
        Main,
        Foreign,
        &["DD4KSSuBJqcjuTcvUg1CgUKeurPUFeEZkE"],
    );
    refused(
        Asset::BTC,
        Main,
        Foreign,
        &["ltc1qhdhvrwe6rgqns8fz28tee0hphr5x7ulw5exv4w"],
    );
    refused(
        Asset::DOGE,
        Main,
        Foreign,
        &["bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"],
    );
    refused(
        Asset::BCH,
        Main,
        Foreign,
        &["bchtest:pr6m7j9njldwwzlg9v7v53unlr4jkmx6eyvwc0uz5t"],
    );
    // Bitcoin's script address, which Litecoin once shared.
    refused(
        Asset::LTC,
        Main,
        Foreign,
        &["3CWFddi6m4ndiGyKqzYvsFYagqDLPVMTzC"],
    );
}

/// One character of a text replaced by another of an alphabet.
fn corrupted(address: &str, at: usize, with: usize, alphabet: &[u8]) -> Option<String> {
    let mut bytes = address.as_bytes().to_vec();
    let at = at % bytes.len();
    let with = alphabet[with % alphabet.len()];
    (bytes[at] != with).then(|| {
        bytes[at] = with;
        String::from_utf8(bytes).unwrap()
    })
}

const BASE58: &[u8] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const BECH32: &[u8] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";

proptest! {
    #[test]
    fn no_text_makes_a_checker_panic(text in "\\PC{0,100}", asset in 0_usize..9) {
        for network in [Main, Test] {
            let _ = check(Asset::ALL[asset], &text, network);
        }
    }

    #[test]
    fn no_text_that_begins_well_makes_a_checker_panic(
        prefix in "(bc1|tltc1|bitcoincash:|0x|bchtest:q|T|1)", text in "[0-9a-zA-Z:é]{0,70}", asset in 0_usize..9
    ) {
        let _ = check(Asset::ALL[asset], &format!("{prefix}{text}"), Main);
    }

    #[test]
    fn one_wrong_character_is_always_noticed(at in 0_usize..100, with in 0_usize..58) {
        for (asset, address, alphabet) in [
            (Asset::BTC, "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", BASE58),
            (Asset::LTC, "MHrYRxAiMNBTku3eoDHwhA1LQGDjUStZW2", BASE58),
            (Asset::DOGE, "DD4KSSuBJqcjuTcvUg1CgUKeurPUFeEZkE", BASE58),
            (Asset::USDTTRC20, "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", BASE58),
            (Asset::BTC, "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu", BECH32),
            (Asset::BCH, "qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a", BECH32),
        ] {
            if let Some(wrong) = corrupted(address, at, with, alphabet) {
                prop_assert!(check(asset, &wrong, Main).is_err(), "{}", wrong);
            }
        }
    }
}

//! The examples of BIP-321, kept in `vectors/` with their source, and those of ERC-681.

use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct Table {
    accepted: Vec<Row>,
    unknown: Vec<Row>,
    elsewhere: Vec<Row>,
    invalid: Vec<Row>,
    broken_address: String,
}

/// A URI, and the payment that its reader has in mind.
#[derive(Deserialize)]
struct Row {
    uri: String,
    address: String,
    amount: String,
}

impl Row {
    fn check(&self) -> Result<(), UriError> {
        checked(Asset::BTC, &self.uri, &self.address, &self.amount)
    }
}

fn table() -> Table {
    serde_json::from_str(include_str!("../../../vectors/uri_bip321.json")).unwrap()
}

#[test]
fn the_examples_of_the_standard_are_parsed() {
    for row in table().accepted {
        assert_eq!(row.check(), Ok(()), "{}", row.uri);
    }
}

// The standard lets a wallet ignore them. But what a gateway means by them cannot be checked.
#[test]
fn the_examples_with_unknown_parameters_are_refused() {
    for row in table().unknown {
        let refusal = row.check().unwrap_err();
        let is_unknown = matches!(refusal, UriError::Parameter { .. });
        assert!(is_unknown, "{}: {refusal}", row.uri);
    }
}

// Each of these is valid. But a wallet that follows it pays by Lightning, silently or to a second address, none of which
// the gateway's invoice watches, or needs a required parameter (`req-…`) that no wallet knows.
#[test]
fn the_examples_that_lead_elsewhere_are_refused() {
    for row in table().elsewhere {
        let refusal = row.check().unwrap_err();
        let led_away = matches!(
            refusal,
            UriError::Parameter { .. } | UriError::Address { .. } | UriError::Twice { .. }
        );
        assert!(led_away, "{}: {refusal}", row.uri);
    }
}

#[test]
fn the_invalid_examples_are_refused() {
    for row in table().invalid {
        assert!(row.check().is_err(), "{}", row.uri);
    }
}

// Its checksum is wrong on purpose: the example must not be payable.
#[test]
fn the_address_of_the_examples_is_no_address() {
    let refusal = crate::check(Asset::BTC, &table().broken_address, Main);
    assert_eq!(refusal, Err(crate::AddressError::Checksum));
}

// Source: ERC-681, "Semantics". The address of its first example is in both cases and fails ERC-55's checksum.
#[test]
fn the_examples_of_erc_681_are_parsed() {
    let address = "0xfb6916095ca1df60bb79Ce92ce3ea74c37c5d359";
    let uri = format!("ethereum:{address}?value=2.014e18");
    assert_eq!(checked(Asset::ETH, &uri, address, "2.014"), Ok(()));
    let refusal = crate::check(Asset::ETH, address, Main);
    assert_eq!(refusal, Err(crate::AddressError::Checksum));

    let receiver = "0x8e23ee67d1332ad560396262c48ffbb01f93d052";
    let contract = "0x89205a3a3b2a69de6dbf7f01ed13b2108b2c43e7";
    let uri = format!("ethereum:{contract}/transfer?address={receiver}&uint256=1");
    let on = |network| checked_on(network, Asset::USDTERC20, &uri, receiver, "0.000001");
    assert_eq!(on(Main), token_error(contract));
    assert_eq!(on(Test), Ok(()));
}

#[test]
fn a_parameter_that_comes_twice_is_refused() {
    let twice = |key: &str| Err(UriError::Twice { key: key.into() });
    for (uri, key) in [
        ("?label=a&label=b", "label"),
        ("?amount=0.5&amount=0.5", "amount"),
        ("?amount=0.5&AMOUNT=0.5", "amount"),
        ("?amount=0.5&%61mount=0.5", "amount"),
    ] {
        let uri = format!("bitcoin:{BTC}{uri}");
        assert_eq!(checked(Asset::BTC, &uri, BTC, "0.5"), twice(key), "{uri}");
    }
    let uri = format!("ethereum:{EVM}?value=5e17&value=5e17");
    assert_eq!(checked(Asset::ETH, &uri, EVM, "0.5"), twice("value"));
    let uri = format!("tron:{TRON}?amount=0.5&amount=0.5");
    assert_eq!(checked(Asset::TRX, &uri, TRON, "0.5"), twice("amount"));
}

// RFC 3986, section 2.3: what need not be encoded means the same when it is.
#[test]
fn a_parameter_does_not_hide_behind_percent_signs() {
    for (query, refusal) in [
        ("%61mount=5", amount_error("5")),
        ("amount%3d5", parameter_error("amount=5")),
        ("%6c%69ghtning=lnbc1", parameter_error("lightning")),
        ("re%71-pop=a", parameter_error("req-pop")),
        ("%52EQ-pop=a", parameter_error("req-pop")),
        ("label=%26amount%3D5", Ok(())),
        ("amount=0%2E5", Ok(())),
        ("amount=0%2E6", amount_error("0.6")),
        ("amount=5#", amount_error("5#")),
    ] {
        let uri = format!("bitcoin:{BTC}?{query}");
        assert_eq!(checked(Asset::BTC, &uri, BTC, "0.5"), refusal, "{uri}");
    }
    for broken in ["%6=5", "%zz=5", "%", "amount=%", "%ff=5", "amount=%C3"] {
        let uri = format!("bitcoin:{BTC}?{broken}");
        let refusal = checked(Asset::BTC, &uri, BTC, "0.5").unwrap_err();
        assert!(
            matches!(refusal, UriError::Encoding { .. }),
            "{uri}: {refusal}"
        );
    }
}

//! A wallet: what it sends when its owner scans a text and confirms.
//!
//! Written from BIP-21, EIP-681 and EIP-20, and for Tron, which has no standard, from what wallets read. It shares no
//! code with the module that it tests, and knows no asset: only the text says what is paid, where and on which chain.

use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sent {
    /// `Bitcoin`, `Bitcoin test`, `Tron`, `chain 1`; [`OPEN_CHAIN`] for the EVM chain that the wallet has open. Empty where
    /// the text is an address and no more: the owner chooses the coin.
    pub(super) chain: String,
    /// The token's contract; absent for the chain's own coin.
    pub(super) token: Option<String>,
    pub(super) to: String,
    /// In the smallest unit; absent when the owner is asked for it.
    pub(super) amount: Option<u128>,
    /// Ether that is sent to the token's contract as well.
    pub(super) extra_wei: u128,
}

pub(super) const OPEN_CHAIN: &str = "the open chain";

impl Sent {
    pub(super) fn address_only(text: &str) -> Self {
        Self {
            to: text.to_owned(),
            ..Self::default()
        }
    }
}

/// # Errors
/// What a wallet refuses to read.
pub(super) fn sends(text: &str) -> Result<Sent, String> {
    if !text.bytes().all(|b| (b'!'..=b'~').contains(&b)) {
        return Err("no printable text".into());
    }
    let Some((scheme, rest)) = text.split_once(':') else {
        return Ok(Sent::address_only(text));
    };
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    match scheme.to_ascii_lowercase().as_str() {
        scheme @ ("bitcoin" | "litecoin" | "dogecoin" | "bitcoincash" | "bchtest") => {
            let parameters = parameters(query)?;
            // A CashAddr with its prefix is an address.
            if parameters.is_empty() && (scheme == "bitcoincash" || scheme == "bchtest") {
                return Ok(Sent::address_only(&format!("{scheme}:{path}")));
            }
            bip21(scheme, path, &parameters)
        }
        "ethereum" => eip681(path, &parameters(query)?),
        "tron" => tron(path, &parameters(query)?),
        other => Err(format!("the wallet does not open {other}")),
    }
}

fn parameters(query: &str) -> Result<BTreeMap<&str, &str>, String> {
    let mut parameters = BTreeMap::new();
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        let (key, value) = parameter.split_once('=').ok_or("a key without a value")?;
        if parameter.contains('%') || parameters.insert(key, value).is_some() {
            return Err(format!("{parameter} is encoded or comes twice"));
        }
    }
    Ok(parameters)
}

/// BIP-21: `amount` in whole coins; a key that begins with `req-` must be understood, others may be ignored.
fn bip21(scheme: &str, address: &str, parameters: &BTreeMap<&str, &str>) -> Result<Sent, String> {
    let (name, main, test): (_, &[&str], &[&str]) = match scheme {
        "bitcoin" => (
            "Bitcoin",
            &["bc1", "BC1", "1", "3"],
            &["tb1", "TB1", "m", "n", "2"],
        ),
        "litecoin" => (
            "Litecoin",
            &["ltc1", "LTC1", "L", "M"],
            &["tltc1", "TLTC1", "m", "n", "Q"],
        ),
        "dogecoin" => ("Dogecoin", &["D", "A", "9"], &["n", "2"]),
        "bitcoincash" => ("Bitcoin Cash", &[""], &[]),
        _ => ("Bitcoin Cash", &[], &[""]),
    };
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| address.starts_with(prefix));
    let chain = if begins(test) {
        format!("{name} test")
    } else if begins(main) {
        name.to_owned()
    } else {
        return Err(format!("{address} is no address of {scheme}"));
    };
    if parameters.keys().any(|key| key.starts_with("req-")) {
        return Err("a required parameter is not understood".into());
    }
    let is_cash = scheme == "bitcoincash" || scheme == "bchtest";
    Ok(Sent {
        chain,
        to: if is_cash {
            format!("{scheme}:{address}")
        } else {
            address.to_owned()
        },
        amount: coins(parameters.get("amount"), 8)?,
        ..Sent::default()
    })
}

/// EIP-681: `[pay-]target[@chain][/function][?parameters]`. With `transfer(address,uint256)` the target is a contract.
fn eip681(path: &str, parameters: &BTreeMap<&str, &str>) -> Result<Sent, String> {
    let path = path.strip_prefix("pay-").unwrap_or(path);
    let (target, function) = match path.split_once('/') {
        Some((target, function)) => (target, Some(function)),
        None => (path, None),
    };
    let (target, chain) = match target.split_once('@') {
        Some((target, id)) => {
            let id: u64 = id.parse().map_err(|_| "no chain id")?;
            (target, format!("chain {id}"))
        }
        None => (target, OPEN_CHAIN.to_owned()),
    };
    let target = account(target)?;
    let value = parameters.get("value").map(|value| number(value));
    let value = value.transpose()?;
    match function {
        None => Ok(Sent {
            chain,
            to: target,
            amount: value,
            ..Sent::default()
        }),
        Some("transfer") => Ok(Sent {
            chain,
            token: Some(target),
            to: account(parameters.get("address").ok_or("no receiver")?)?,
            amount: Some(number(parameters.get("uint256").ok_or("no amount")?)?),
            extra_wei: value.unwrap_or(0),
        }),
        Some(other) => Err(format!("the function {other}")),
    }
}

/// An address in lower case.
fn account(address: &str) -> Result<String, String> {
    let digits = address.strip_prefix("0x").unwrap_or_default();
    if digits.len() == 40 && digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        Ok(address.to_ascii_lowercase())
    } else {
        Err(format!("{address} is no address"))
    }
}

/// EIP-681, "Syntax": `number = [ "-" / "+" ] *DIGIT [ "." 1*DIGIT ] [ ( "e" / "E" ) [ 1*DIGIT ] ]`, here a whole one.
fn number(text: &str) -> Result<u128, String> {
    let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: usize = exponent.parse().map_err(|_| "no exponent")?;
    if exponent > 30 {
        return Err("too large".into());
    }
    scaled(digits, exponent)
}

/// Tangem's and `BTCPay` Server's reading: a token by its contract, else TRX. Both have six decimals. A whole number above
/// 100,000 is already in the smallest unit.
fn tron(address: &str, parameters: &BTreeMap<&str, &str>) -> Result<Sent, String> {
    if !address.starts_with('T') || !address.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return Err(format!("{address} is no address of Tron"));
    }
    let whole = parameters.get("amount").and_then(|text| text.parse().ok());
    let amount = match whole {
        Some(millionths) if millionths > 100_000 => Some(millionths),
        _ => coins(parameters.get("amount"), 6)?,
    };
    Ok(Sent {
        chain: "Tron".to_owned(),
        token: parameters.get("token").map(|token| (*token).to_owned()),
        to: address.to_owned(),
        amount,
        ..Sent::default()
    })
}

fn coins(amount: Option<&&str>, decimals: usize) -> Result<Option<u128>, String> {
    amount.map(|text| scaled(text, decimals)).transpose()
}

/// A decimal number times ten to the power of `places`, which must be whole.
fn scaled(text: &str, places: usize) -> Result<u128, String> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let plain = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !plain(whole) || !plain(fraction) {
        return Err(format!("{text} is no number"));
    }
    let mut digits = whole.to_owned();
    let mut rest = fraction.chars();
    for _ in 0..places {
        digits.push(rest.next().unwrap_or('0'));
    }
    if rest.any(|digit| digit != '0') {
        return Err(format!("{text} is finer than the smallest unit"));
    }
    digits.parse().map_err(|_| "too large".into())
}

// BIP-21, "Examples"; EIP-681, "Semantics".
#[test]
fn the_wallet_reads_the_examples_of_the_standards() {
    let bitcoin = Sent {
        chain: "Bitcoin".into(),
        to: "175tWpb8K1S7NmH4Zx6rewF9WQrcZv245W".into(),
        amount: Some(2_030_000_000),
        ..Sent::default()
    };
    let text = "bitcoin:175tWpb8K1S7NmH4Zx6rewF9WQrcZv245W?amount=20.3&label=Luke-Jr";
    assert_eq!(sends(text), Ok(bitcoin));
    let required = "bitcoin:175tWpb8K1S7NmH4Zx6rewF9WQrcZv245W?req-somethingyoudontunderstand=50";
    assert!(sends(required).is_err());
    let ether = Sent {
        chain: OPEN_CHAIN.into(),
        to: "0xfb6916095ca1df60bb79ce92ce3ea74c37c5d359".into(),
        amount: Some(2_014_000_000_000_000_000),
        ..Sent::default()
    };
    let text = "ethereum:0xfb6916095ca1df60bb79Ce92ce3ea74c37c5d359?value=2.014e18";
    assert_eq!(sends(text), Ok(ether));
    let token = Sent {
        chain: OPEN_CHAIN.into(),
        token: Some("0x89205a3a3b2a69de6dbf7f01ed13b2108b2c43e7".into()),
        to: "0x8e23ee67d1332ad560396262c48ffbb01f93d052".into(),
        amount: Some(1),
        extra_wei: 0,
    };
    let text = "ethereum:0x89205a3a3b2a69de6dbf7f01ed13b2108b2c43e7/transfer?\
                address=0x8e23ee67d1332ad560396262c48ffbb01f93d052&uint256=1";
    assert_eq!(sends(text), Ok(token));
}

//! A wallet: what it sends when its owner scans a text and confirms.
//!
//! Written from BIP-21, EIP-681 and EIP-20, and for Tron, which has no standard, from what wallets read. It shares no
//! code with the module that it tests, and knows no asset: only the text says what is paid, where and on which chain.

use std::collections::BTreeMap;

/// What leaves the wallet. Amounts are in the smallest unit; `None` when the owner is asked for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    /// Nothing yet: the text is an address and no more. The owner chooses the coin and types the amount.
    AddressOnly(String),
    /// An output on a chain made after Bitcoin.
    Output {
        chain: &'static str,
        to: String,
        amount: Option<u128>,
    },
    /// A transaction of an EVM chain; without a chain id it goes to the chain that the wallet has open.
    Evm {
        chain_id: Option<u64>,
        to: String,
        /// Wei.
        value: Option<u128>,
        /// Hexadecimal; empty for a plain payment.
        data: String,
    },
    /// A transfer on the Tron network that the wallet has open: TRX without a token.
    Tron {
        token: Option<String>,
        to: String,
        amount: Option<u128>,
    },
}

/// # Errors
/// What a wallet refuses to read.
pub(super) fn sends(text: &str) -> Result<Sent, String> {
    if !text.bytes().all(|b| (b'!'..=b'~').contains(&b)) {
        return Err("no printable text".into());
    }
    let Some((scheme, rest)) = text.split_once(':') else {
        return Ok(Sent::AddressOnly(text.to_owned()));
    };
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    match scheme.to_ascii_lowercase().as_str() {
        scheme @ ("bitcoin" | "litecoin" | "dogecoin" | "bitcoincash" | "bchtest") => {
            let parameters = parameters(query)?;
            // A CashAddr with its prefix is an address.
            if parameters.is_empty() && (scheme == "bitcoincash" || scheme == "bchtest") {
                return Ok(Sent::AddressOnly(format!("{scheme}:{path}")));
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
    let chain = match scheme {
        "bitcoin" => by_prefix(
            address,
            &["bc1", "BC1", "1", "3"],
            &["tb1", "TB1", "m", "n", "2"],
            ["Bitcoin", "Bitcoin test"],
        ),
        "litecoin" => by_prefix(
            address,
            &["ltc1", "LTC1", "L", "M"],
            &["tltc1", "TLTC1", "m", "n", "Q"],
            ["Litecoin", "Litecoin test"],
        ),
        "dogecoin" => by_prefix(
            address,
            &["D", "A", "9"],
            &["n", "2"],
            ["Dogecoin", "Dogecoin test"],
        ),
        "bitcoincash" => Some("Bitcoin Cash"),
        _ => Some("Bitcoin Cash test"),
    };
    if parameters.keys().any(|key| key.starts_with("req-")) {
        return Err("a required parameter is not understood".into());
    }
    let is_cash = scheme == "bitcoincash" || scheme == "bchtest";
    Ok(Sent::Output {
        chain: chain.ok_or_else(|| format!("{address} is no address of {scheme}"))?,
        to: if is_cash {
            format!("{scheme}:{address}")
        } else {
            address.to_owned()
        },
        amount: coins(parameters.get("amount"), 8)?,
    })
}

fn by_prefix(
    address: &str,
    main: &[&str],
    test: &[&str],
    names: [&'static str; 2],
) -> Option<&'static str> {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| address.starts_with(prefix));
    if starts(test) {
        Some(names[1])
    } else {
        starts(main).then_some(names[0])
    }
}

/// EIP-681: `[pay-]target[@chain][/function][?parameters]`. With `transfer(address,uint256)` the target is a contract, and
/// what is sent is a call of it by EIP-20.
fn eip681(path: &str, parameters: &BTreeMap<&str, &str>) -> Result<Sent, String> {
    let path = path.strip_prefix("pay-").unwrap_or(path);
    let (target, function) = match path.split_once('/') {
        Some((target, function)) => (target, Some(function)),
        None => (path, None),
    };
    let (target, chain_id) = match target.split_once('@') {
        Some((target, id)) => (target, Some(id.parse().map_err(|_| "no chain id")?)),
        None => (target, None),
    };
    hexadecimal(target)?;
    let value = parameters.get("value").map(|value| number(value));
    let value = value.transpose()?;
    let data = match function {
        None => String::new(),
        Some("transfer") => {
            let to = hexadecimal(parameters.get("address").ok_or("no receiver")?)?;
            let units = number(parameters.get("uint256").ok_or("no amount")?)?;
            format!("a9059cbb{to:0>64}{units:064x}")
        }
        Some(other) => return Err(format!("the function {other}")),
    };
    let value = if data.is_empty() {
        value
    } else {
        Some(value.unwrap_or(0))
    };
    Ok(Sent::Evm {
        chain_id,
        to: format!("0x{}", hexadecimal(target)?),
        value,
        data,
    })
}

/// The digits of an address in lower case.
fn hexadecimal(address: &str) -> Result<String, String> {
    let digits = address.strip_prefix("0x").unwrap_or_default();
    if digits.len() == 40 && digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        Ok(digits.to_ascii_lowercase())
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
    Ok(Sent::Tron {
        token: parameters.get("token").map(|token| (*token).to_owned()),
        to: address.to_owned(),
        amount,
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

#[test]
fn the_wallet_reads_the_examples_of_the_standards() {
    // BIP-21, "Examples".
    assert_eq!(
        sends("bitcoin:175tWpb8K1S7NmH4Zx6rewF9WQrcZv245W?amount=20.3&label=Luke-Jr"),
        Ok(Sent::Output {
            chain: "Bitcoin",
            to: "175tWpb8K1S7NmH4Zx6rewF9WQrcZv245W".into(),
            amount: Some(2_030_000_000),
        })
    );
    let required = "bitcoin:175tWpb8K1S7NmH4Zx6rewF9WQrcZv245W?req-somethingyoudontunderstand=50";
    assert!(sends(required).is_err());
    // EIP-681, "Semantics".
    assert_eq!(
        sends("ethereum:0xfb6916095ca1df60bb79Ce92ce3ea74c37c5d359?value=2.014e18"),
        Ok(Sent::Evm {
            chain_id: None,
            to: "0xfb6916095ca1df60bb79ce92ce3ea74c37c5d359".into(),
            value: Some(2_014_000_000_000_000_000),
            data: String::new(),
        })
    );
    let transfer = "ethereum:0x89205a3a3b2a69de6dbf7f01ed13b2108b2c43e7/transfer?\
                    address=0x8e23ee67d1332ad560396262c48ffbb01f93d052&uint256=1";
    assert_eq!(
        sends(transfer),
        Ok(Sent::Evm {
            chain_id: None,
            to: "0x89205a3a3b2a69de6dbf7f01ed13b2108b2c43e7".into(),
            value: Some(0),
            data: "a9059cbb\
                   0000000000000000000000008e23ee67d1332ad560396262c48ffbb01f93d052\
                   0000000000000000000000000000000000000000000000000000000000000001"
                .into(),
        })
    );
}

//! `ethereum:ADDRESS@CHAIN?value=WEI` for a chain's coin, `ethereum:CONTRACT/transfer?address=…&uint256=UNITS` for a
//! token.
//!
//! Source: EIP-681. Chain numbers: chainid.network.

use money::Asset;

use super::{Parts, Payment, UriError, short};
use crate::Network;

const ETHEREUM: &str = "1";
const BNB_CHAIN: &str = "56";
const BNB_TEST_CHAIN: &str = "97";

/// Tether's contract on Ethereum. Source: tether.to, "Supported protocols".
const TETHER: &str = "0xdAC17F958D2ee523a2206206994597C13D831ec7";

pub(super) fn check(payment: &Payment<'_>, parts: &Parts<'_>) -> Result<(), UriError> {
    // `Assumed:` wallets of BNB Chain also write these two, with the chain in the scheme.
    let own_scheme = ["bnb", "smartchain"].contains(&parts.scheme.as_str());
    if !(parts.scheme == "ethereum" || own_scheme && payment.asset == Asset::BNB) {
        return Err(parts.scheme_error());
    }
    let path = parts.path.strip_prefix("pay-").unwrap_or(parts.path);
    let (target, function) = match path.split_once('/') {
        Some((target, function)) => (target, Some(function)),
        None => (path, None),
    };
    let (target, chain) = match target.split_once('@') {
        Some((target, chain)) => (target, Some(chain)),
        None => (target, None),
    };
    let chain_known = own_scheme && chain.is_none();
    if !chain_known && !is_chain(payment, chain) {
        let found = short(chain.unwrap_or_default());
        return Err(UriError::Chain { found });
    }
    if payment.asset == Asset::USDTERC20 {
        token(payment, parts, target, function)
    } else {
        coin(payment, parts, target, function)
    }
}

/// Whether the number names the asset's chain. Left out it means the chain that the wallet has open, which is taken to
/// be Ethereum and nothing else.
fn is_chain(payment: &Payment<'_>, chain: Option<&str>) -> bool {
    match (payment.asset, payment.network) {
        (Asset::BNB, Network::Main) => chain == Some(BNB_CHAIN),
        (Asset::BNB, Network::Test) => chain == Some(BNB_TEST_CHAIN),
        (_, Network::Main) => chain.is_none_or(|chain| chain == ETHEREUM),
        // Ethereum's test networks come and go: any number that is none of the others.
        (_, Network::Test) => {
            chain.is_none_or(|chain| ![ETHEREUM, BNB_CHAIN, BNB_TEST_CHAIN].contains(&chain))
        }
    }
}

fn coin(
    payment: &Payment<'_>,
    parts: &Parts<'_>,
    target: &str,
    function: Option<&str>,
) -> Result<(), UriError> {
    if function.is_some() {
        return Err(UriError::Token {
            found: short(target),
        });
    }
    payment.check_address(target)?;
    for (key, value) in parts.parameters() {
        match key {
            "value" => payment.check_units(value)?,
            "amount" => payment.check_amount(value)?,
            _ => {}
        }
    }
    Ok(())
}

fn token(
    payment: &Payment<'_>,
    parts: &Parts<'_>,
    target: &str,
    function: Option<&str>,
) -> Result<(), UriError> {
    if function != Some("transfer") {
        return Err(UriError::Token {
            found: String::new(),
        });
    }
    // On test networks the token is whatever somebody has made there.
    if payment.network == Network::Main && !target.eq_ignore_ascii_case(TETHER) {
        return Err(UriError::Token {
            found: short(target),
        });
    }
    let mut addressed = false;
    for (key, value) in parts.parameters() {
        match key {
            "address" => {
                payment.check_address(value)?;
                addressed = true;
            }
            "uint256" => payment.check_units(value)?,
            "amount" => payment.check_amount(value)?,
            // Ether on top of the token.
            "value" => {
                return Err(UriError::Detour {
                    key: key.to_owned(),
                });
            }
            _ => {}
        }
    }
    if addressed {
        Ok(())
    } else {
        payment.check_address("")
    }
}

//! `ethereum:ADDRESS@CHAIN?value=WEI` for a chain's coin, `ethereum:CONTRACT@CHAIN/transfer?address=…&uint256=UNITS`
//! for a token.
//!
//! Source: EIP-681; EIP-20 for `transfer`.
//!
//! A text that names no chain means the chain that the wallet has open. On the main network of Ethereum such a text is
//! accepted, and the chain is written; another chain is refused.

use money::Asset;

use super::{Form, Parts, Payment, Units, UriError, networks, short, unexpected};

/// Limits of what the transaction may cost, which wallets compute themselves. Source: EIP-681, "Syntax".
const GAS: [&str; 2] = ["gas", "gaslimit"];

/// What the gateway's text names besides address and amount.
#[derive(Default)]
struct Named {
    chain_id: Option<&'static str>,
    contract: Option<String>,
}

pub(super) fn form(payment: &Payment<'_>, parts: Option<&Parts<'_>>) -> Result<Form, UriError> {
    let (asset, network) = (payment.asset, payment.network);
    let named = match parts {
        Some(parts) => check(payment, parts)?,
        None => Named::default(),
    };
    let chain_id = named
        .chain_id
        .or_else(|| networks::unnamed_chain_id(asset, network));
    let contract = networks::erc20_contract(network).map(str::to_owned);
    let contract = contract.or(named.contract);
    let is_token = asset == Asset::USDTERC20;
    Ok(match chain_id {
        // A transfer of an unknown token would be a payment of ether.
        Some(chain_id) if contract.is_some() || !is_token => Form::Eip681 {
            chain_id,
            contract: contract.filter(|_| is_token),
        },
        _ => Form::Address,
    })
}

fn check(payment: &Payment<'_>, parts: &Parts<'_>) -> Result<Named, UriError> {
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
    let chain_id = check_chain(payment, chain, own_scheme)?;
    let contract = if payment.asset == Asset::USDTERC20 {
        check_token(payment, parts, target, function)?;
        Some(target.to_owned())
    } else {
        check_coin(payment, parts, target, function)?;
        None
    };
    Ok(Named { chain_id, contract })
}

/// The chain that the text names. For BNB `ethereum:` must name it: the scheme alone means Ethereum to many wallets, so a
/// gateway that writes it may have taken BNB for ether.
fn check_chain(
    payment: &Payment<'_>,
    named: Option<&str>,
    own_scheme: bool,
) -> Result<Option<&'static str>, UriError> {
    let known = networks::chain_ids(payment.asset, payment.network);
    match named {
        None if payment.asset != Asset::BNB || own_scheme => Ok(None),
        _ => known
            .iter()
            .find(|known| named == Some(known))
            .map(|known| Some(*known))
            .ok_or_else(|| UriError::Chain {
                found: short(named.unwrap_or_default()),
            }),
    }
}

fn check_coin(
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
            _ if GAS.contains(&key) => {}
            _ => return Err(unexpected(key)),
        }
    }
    Ok(())
}

fn check_token(
    payment: &Payment<'_>,
    parts: &Parts<'_>,
    target: &str,
    function: Option<&str>,
) -> Result<(), UriError> {
    let is_contract = match networks::erc20_contract(payment.network) {
        Some(contract) => target.eq_ignore_ascii_case(contract),
        None => crate::address::check(Asset::ETH, target, payment.network).is_ok(),
    };
    if function != Some("transfer") {
        return Err(UriError::Token {
            found: String::new(),
        });
    }
    if !is_contract {
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
            _ if GAS.contains(&key) => {}
            // `value` is ether on top of the token.
            _ => return Err(unexpected(key)),
        }
    }
    if addressed {
        Ok(())
    } else {
        payment.check_address("")
    }
}

/// Amounts are in the smallest unit.
pub(super) fn write(chain_id: &str, contract: Option<&str>, address: &str, units: Units) -> String {
    let units = units.in_smallest();
    match contract {
        Some(contract) => {
            format!("ethereum:{contract}@{chain_id}/transfer?address={address}&uint256={units}")
        }
        None => format!("ethereum:{address}@{chain_id}?value={units}"),
    }
}

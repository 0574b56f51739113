//! The forms of payment URIs: BIP-21 for Bitcoin and the coins made after it, EIP-681 for Ethereum and BNB Chain, and
//! the form that Tron's wallets read. Each form is checked and written here, and the transactions that wallets in the browser
//! sign: plain transfers on Ethereum's chains and on Tron, never an approval.
//!
//! Source: the execution API of Ethereum, `eth_sendTransaction`. A wallet of Tron builds its transaction from the same parts.

use florin_checkout_api::WalletTransaction;
use florin_money::{Amount, Asset};

use super::networks;
use super::text::{Parts, Units, equals_amount};
use crate::address::{cashaddr_prefix, same};
use crate::error::Part;
use crate::{Network, UriError};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Bip21 {
        scheme: &'static str,
    },
    CashAddr {
        prefix: &'static str,
    },
    Eip681 {
        chain_id: &'static str,
        /// `None` for the chain's own coin.
        contract: Option<String>,
    },
    Tron {
        /// `None` for TRX.
        token: Option<&'static str>,
    },
    /// TRX on a test network, which no URI names: a wallet that is asked on its chain can still pay it.
    TestTrx,
    /// No URI names it exactly.
    Address,
}

pub(super) struct Payment<'a> {
    pub(super) asset: Asset,
    pub(super) address: &'a str,
    pub(super) amount: Amount,
    pub(super) network: Network,
}

impl Payment<'_> {
    fn check_address(&self, found: &str) -> Result<(), UriError> {
        if same(self.asset, self.address, found) {
            Ok(())
        } else {
            Err(UriError::new(Part::Address, found))
        }
    }

    /// An amount in the asset itself: `0.5`.
    fn check_amount(&self, found: &str) -> Result<(), UriError> {
        if Amount::parse(found).is_ok_and(|found| found == self.amount) {
            Ok(())
        } else {
            Err(UriError::new(Part::Amount, found))
        }
    }

    /// An amount in the asset's smallest unit: `500000`, `5e5`.
    fn check_units(&self, found: &str) -> Result<(), UriError> {
        if equals_amount(found, self.amount, self.asset.decimals()) {
            Ok(())
        } else {
            Err(UriError::new(Part::Amount, found))
        }
    }
}

/// Parameters that describe a payment. Source: BIP-21, "Query Keys"; Electrum's documentation for `time` and `exp`, when
/// a request was made and how long it lives.
///
/// Others are payment instructions (`r`, `lightning`, `lno`, `pay`, `pj`, `sp`, `bc`, `tb`), must be understood (`req-…`),
/// or are unknown.
const DESCRIPTIONS: [&str; 4] = ["label", "message", "time", "exp"];

/// `bitcoin:ADDRESS?amount=0.5`, and the schemes made after it.
///
/// Source: BIP-21, and BIP-321 which replaces it.
pub(super) fn bip21(
    payment: &Payment<'_>,
    parts: Option<&Parts<'_>>,
    scheme: &'static str,
) -> Result<Form, UriError> {
    if let Some(parts) = parts {
        check_bip21(payment, parts, scheme)?;
    }
    Ok(Form::Bip21 { scheme })
}

/// A CashAddr with its prefix is a URI already.
pub(super) fn cashaddr(payment: &Payment<'_>, parts: Option<&Parts<'_>>) -> Result<Form, UriError> {
    let prefix = cashaddr_prefix(payment.network);
    if let Some(parts) = parts {
        // The prefix stands there once.
        if parts.path.contains(':') {
            return Err(parts.address_error());
        }
        check_bip21(payment, parts, prefix)?;
    }
    Ok(Form::CashAddr { prefix })
}

fn check_bip21(payment: &Payment<'_>, parts: &Parts<'_>, scheme: &str) -> Result<(), UriError> {
    if parts.scheme != scheme {
        return Err(parts.scheme_error());
    }
    payment.check_address(parts.path)?;
    for (key, value) in parts.parameters() {
        match key {
            "amount" => payment.check_amount(value)?,
            _ if DESCRIPTIONS.contains(&key) => {}
            _ => return Err(UriError::new(Part::Parameter, key)),
        }
    }
    Ok(())
}

/// The amount is in whole coins.
pub(super) fn write_bip21(scheme: &str, address: &str, units: Units) -> String {
    format!("{scheme}:{address}?amount={}", units.in_coins())
}

/// Prefix and payload are of one case. Source: the CashAddr specification, "Uppercase/lowercase".
pub(super) fn write_cashaddr(prefix: &str, address: &str, units: Units) -> String {
    let payload = address.rsplit(':').next().unwrap_or(address);
    write_bip21(prefix, &payload.to_ascii_lowercase(), units)
}

/// Limits of what the transaction may cost, which wallets compute themselves. Source: EIP-681, "Syntax".
const GAS: [&str; 2] = ["gas", "gaslimit"];

#[derive(Default)]
struct ChainAndToken {
    chain_id: Option<&'static str>,
    contract: Option<String>,
}

/// `ethereum:ADDRESS@CHAIN?value=WEI` for a chain's coin, `ethereum:CONTRACT@CHAIN/transfer?address=…&uint256=UNITS`
/// for a token.
///
/// Source: EIP-681; EIP-20 for `transfer`.
///
/// A text that names no chain means the chain that the wallet has open. On the main network of Ethereum such a text is
/// accepted, and the chain is written; another chain is refused.
pub(super) fn eip681(payment: &Payment<'_>, parts: Option<&Parts<'_>>) -> Result<Form, UriError> {
    let (asset, network) = (payment.asset, payment.network);
    let named = match parts {
        Some(parts) => check_eip681(payment, parts)?,
        None => ChainAndToken::default(),
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

fn check_eip681(payment: &Payment<'_>, parts: &Parts<'_>) -> Result<ChainAndToken, UriError> {
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
    Ok(ChainAndToken { chain_id, contract })
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
            .ok_or_else(|| UriError::new(Part::Chain, named.unwrap_or_default())),
    }
}

fn check_coin(
    payment: &Payment<'_>,
    parts: &Parts<'_>,
    target: &str,
    function: Option<&str>,
) -> Result<(), UriError> {
    if function.is_some() {
        return Err(UriError::new(Part::Token, target));
    }
    payment.check_address(target)?;
    for (key, value) in parts.parameters() {
        match key {
            "value" => payment.check_units(value)?,
            "amount" => payment.check_amount(value)?,
            _ if GAS.contains(&key) => {}
            _ => return Err(UriError::new(Part::Parameter, key)),
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
        None => crate::check(Asset::ETH, target, payment.network).is_ok(),
    };
    if function != Some("transfer") {
        return Err(UriError::new(Part::Token, ""));
    }
    if !is_contract {
        return Err(UriError::new(Part::Token, target));
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
            _ => return Err(UriError::new(Part::Parameter, key)),
        }
    }
    if addressed {
        Ok(())
    } else {
        payment.check_address("")
    }
}

/// Amounts are in the smallest unit.
pub(super) fn write_eip681(
    chain_id: &str,
    contract: Option<&str>,
    address: &str,
    units: Units,
) -> String {
    let units = units.in_smallest();
    match contract {
        Some(contract) => {
            format!("ethereum:{contract}@{chain_id}/transfer?address={address}&uint256={units}")
        }
        None => format!("ethereum:{address}@{chain_id}?value={units}"),
    }
}

/// `tron:ADDRESS?amount=10.0`, with `token` for a token's contract.
///
/// Tron has no standard. Source: what is read, as by the `TronPaymentUriParser` of Tangem's wallet (2026), and written, as
/// by the USDT plugin of `BTCPay` Server (2026): a text without `token` asks for TRX, a whole number above 100,000 is read
/// in millionths, and an amount with a point as it stands.
///
/// `Assumed:` the gateway's amount is in TRX or in the token, with decimals. A genuine text with an amount a million
/// times as large would disprove it.
pub(super) fn tron(payment: &Payment<'_>, parts: Option<&Parts<'_>>) -> Result<Form, UriError> {
    let named = match parts {
        Some(parts) => check_tron(payment, parts)?,
        None => None,
    };
    let network = payment.network;
    Ok(match named {
        None if payment.asset == Asset::TRX && networks::may_ask_for_trx(network) => {
            Form::Tron { token: None }
        }
        None if payment.asset == Asset::TRX && network == Network::Test => Form::TestTrx,
        // A wallet that reads no token would send TRX: only the gateway knows that its customers' wallets do.
        token @ Some(_) => Form::Tron { token },
        None => Form::Address,
    })
}

fn check_tron(payment: &Payment<'_>, parts: &Parts<'_>) -> Result<Option<&'static str>, UriError> {
    if parts.scheme != "tron" {
        return Err(parts.scheme_error());
    }
    payment.check_address(parts.path)?;
    let token = networks::trc20_token(payment.network);
    let mut named = None;
    for (key, value) in parts.parameters() {
        match key {
            "amount" => payment.check_amount(value)?,
            "token" if payment.asset == Asset::USDTTRC20 && value == token => named = Some(token),
            // A gateway may have deployed its own token contract on a test network.
            "token" if payment.asset == Asset::USDTTRC20 && payment.network != Network::Main => {}
            "token" => {
                return Err(UriError::new(Part::Token, value));
            }
            _ => return Err(UriError::new(Part::Parameter, key)),
        }
    }
    Ok(named)
}

/// The amount is in TRX or in the token, always with a point.
pub(super) fn write_tron(token: Option<&str>, address: &str, units: Units) -> String {
    let amount = units.in_coins_with_point();
    match token {
        Some(token) => format!("tron:{address}?token={token}&amount={amount}"),
        None => format!("tron:{address}?amount={amount}"),
    }
}

/// The first four bytes of the Keccak-256 digest of `transfer(address,uint256)`. Source: EIP-20, "transfer"; Solidity's
/// "Contract ABI Specification", "Function Selector".
const TRANSFER: &str = "a9059cbb";

/// The transaction that pays `units` to `address`; `None` for a form of a chain of another kind.
pub(super) fn evm_transaction(
    form: &Form,
    address: &str,
    units: Units,
) -> Option<WalletTransaction> {
    let Form::Eip681 { chain_id, contract } = form else {
        return None;
    };
    let chain_id: u64 = chain_id.parse().ok()?;
    let chain_id = format!("{chain_id:#x}");
    transaction(chain_id, contract.as_deref(), address, units, transfer)
}

/// The transaction of Tron that pays `units` to `address`; `None` for a form of another chain.
pub(super) fn tron_transaction(
    form: &Form,
    address: &str,
    units: Units,
) -> Option<WalletTransaction> {
    let (token, chain_id) = match form {
        Form::Tron { token } => (*token, networks::tron_chain(*token)),
        Form::TestTrx => (None, networks::NILE),
        _ => return None,
    };
    transaction(chain_id.to_owned(), token, address, units, tron_transfer)
}

/// The chain's own coin is sent to `address`; a token is called to transfer to it.
fn transaction(
    chain_id: String,
    token: Option<&str>,
    address: &str,
    units: Units,
    call: fn(&str, u128) -> Option<String>,
) -> Option<WalletTransaction> {
    let units = units.count();
    let (to, value, data) = match token {
        None => (address, units, "0x".to_owned()),
        Some(token) => (token, 0, call(address, units)?),
    };
    Some(WalletTransaction {
        chain_id,
        to: to.to_owned(),
        value: format!("{value:#x}"),
        data,
    })
}

/// The call data of a token of Tron. An account is the address without the byte before it (0x41) and the checksum behind.
///
/// Source: developers.tron.network, "Parameter Encoding and Decoding".
pub(super) fn tron_transfer(address: &str, units: u128) -> Option<String> {
    let decoded = bs58::decode(address).with_check(None).into_vec().ok()?;
    let account: [u8; 20] = decoded.strip_prefix(&[0x41])?.try_into().ok()?;
    Some(encode_transfer(account, units))
}

pub(super) fn transfer(address: &str, units: u128) -> Option<String> {
    let mut account = [0; 20];
    hex::decode_to_slice(address.strip_prefix("0x")?, &mut account).ok()?;
    Some(encode_transfer(account, units))
}

/// Both arguments are words of 32 bytes, filled with zeros on the left. Source: "Contract ABI Specification", "Formal
/// Specification of the Encoding".
fn encode_transfer(account: [u8; 20], units: u128) -> String {
    let account = hex::encode(account);
    format!("0x{TRANSFER}{account:0>64}{units:064x}")
}

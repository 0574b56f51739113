//! Transactions for wallets in the browser: plain transfers on Ethereum's chains and on Tron, never an approval.
//!
//! Source: the execution API of Ethereum, `eth_sendTransaction`. A wallet of Tron builds its transaction from the same parts.

use florin_checkout_api::WalletTransaction;

use super::forms::Form;
use super::networks;
use super::text::Units;

/// The first four bytes of the Keccak-256 digest of `transfer(address,uint256)`. Source: EIP-20, "transfer"; Solidity's
/// "Contract ABI Specification", "Function Selector".
const TRANSFER: &str = "a9059cbb";

/// The transaction that pays `units` to `address`; `None` for a form of a chain of another kind.
pub(super) fn write_evm(form: &Form, address: &str, units: Units) -> Option<WalletTransaction> {
    let Form::Eip681 { chain_id, contract } = form else {
        return None;
    };
    let chain_id: u64 = chain_id.parse().ok()?;
    let chain_id = format!("{chain_id:#x}");
    write(chain_id, contract.as_deref(), address, units, transfer)
}

/// The transaction of Tron that pays `units` to `address`; `None` for a form of another chain.
pub(super) fn write_tron(form: &Form, address: &str, units: Units) -> Option<WalletTransaction> {
    let (token, chain_id) = match form {
        Form::Tron { token } => (*token, networks::tron_chain(*token)),
        Form::TestTrx => (None, networks::NILE),
        _ => return None,
    };
    write(chain_id.to_owned(), token, address, units, tron_transfer)
}

/// The chain's own coin is sent to `address`; a token is called to transfer to it.
fn write(
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

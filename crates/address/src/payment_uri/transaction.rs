//! Transactions of chains with Ethereum's virtual machine: what a wallet in the browser is asked to sign.

use super::forms::Form;
use super::text::Units;

/// A plain transfer: of the chain's own coin, or of a token by its contract. Never an approval.
///
/// Source: the execution API of Ethereum, `eth_sendTransaction`; quantities and data are hexadecimal, with `0x`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvmTransaction {
    /// EIP-155 number of the chain, a quantity: `0x1`.
    pub chain_id: String,
    /// The receiver of the coin, or the token's contract.
    pub to: String,
    /// The coin that is sent, in its smallest unit, a quantity: `0x0` for a token.
    pub value: String,
    /// Empty (`0x`) for the coin, `transfer(address,uint256)` for a token.
    pub data: String,
}

/// The first four bytes of the Keccak-256 digest of `transfer(address,uint256)`. Source: EIP-20, "transfer"; Solidity's
/// "Contract ABI Specification", "Function Selector".
const TRANSFER: &str = "a9059cbb";

/// The transaction that pays `units` to `address`; `None` for a form of another chain.
pub(super) fn write(form: &Form, address: &str, units: Units) -> Option<EvmTransaction> {
    let Form::Eip681 { chain_id, contract } = form else {
        return None;
    };
    let chain_id: u64 = chain_id.parse().ok()?;
    let chain_id = format!("{chain_id:#x}");
    let units = units.count();
    Some(match contract {
        None => EvmTransaction {
            chain_id,
            to: address.to_owned(),
            value: format!("{units:#x}"),
            data: "0x".to_owned(),
        },
        Some(contract) => EvmTransaction {
            chain_id,
            to: contract.clone(),
            value: "0x0".to_owned(),
            data: transfer(address, units)?,
        },
    })
}

/// Both arguments are words of 32 bytes, filled with zeros on the left. Source: "Contract ABI Specification", "Formal
/// Specification of the Encoding".
pub(super) fn transfer(address: &str, units: u128) -> Option<String> {
    let mut account = [0; 20];
    hex::decode_to_slice(address.strip_prefix("0x")?, &mut account).ok()?;
    let account = hex::encode(account);
    Some(format!("0x{TRANSFER}{account:0>64}{units:064x}"))
}

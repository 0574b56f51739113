//! A token for a node of a test: at the address that the invoices name.

/// Where the invoices expect USDT. Source: `asset.rs`.
pub const ADDRESS: &str = crate::asset::USDT_ON_SEPOLIA;

/// A token with `balanceOf`, `transfer` and the log `Transfer` of EIP-20, and nothing else, in the machine's own code: the
/// balance of an account is stored under its address, and a transfer beyond the balance is reverted.
pub const CODE: &str = concat!(
    "0x",
    // The selector decides: balanceOf, transfer, or nothing.
    "60003560e01c806370a0823114601e5763a9059cbb14602b5760006000fd",
    "5b6004355460005260206000f3",
    "5b6024353354808211607d57819003335560043554810160043555600052600435337f",
    "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef",
    "60206000a3600160005260206000f35b60006000fd",
);

/// The slot in which the token stores the balance of an account.
pub fn balance_slot(account: &str) -> String {
    format!("0x{:0>64}", account.trim_start_matches("0x"))
}

//! A token for a node of a test.

/// Where invoices of the test network expect USDT. Source: aave-address-book, `AaveV3Sepolia.sol`, `USDT_UNDERLYING`.
pub const ADDRESS: &str = "0xaA8E23Fb1079EA71e0a56F48a2aA51851D8433D0";

/// A token with `balanceOf`, `transfer` and the log `Transfer` of EIP-20, and nothing else, in the machine's own code:
/// the balance of an account is stored under its address, and a transfer beyond the balance is reverted.
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

/// The input of a call of `transfer`.
pub fn transfer(to: &str, units: u128) -> String {
    format!("0xa9059cbb{:0>64}{units:064x}", to.trim_start_matches("0x"))
}

/// The input of a call of `balanceOf`.
pub fn balance_of(account: &str) -> String {
    format!("0x70a08231{:0>64}", account.trim_start_matches("0x"))
}

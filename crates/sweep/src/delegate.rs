//! The contract that addresses delegate to: `delegate.txt` has each byte with its reason.

use crate::address::Address;

/// The code that creates the contract, which must become the account `contract`.
pub(crate) fn creation(contract: Address, sponsor: Address, destination: Address) -> Vec<u8> {
    let lines = include_str!("delegate.txt").lines();
    let lines = lines.filter(|line| !line.starts_with('#'));
    let code: String = lines.filter_map(|line| line.split("  ").nth(1)).collect();
    let code = code
        .replace(' ', "")
        .replace("CONTRACT", &hex::encode(contract.0))
        .replace("SPONSOR", &hex::encode(sponsor.0))
        .replace("DESTINATION", &hex::encode(destination.0));
    hex::decode(code).expect("the second column has bytes and three names")
}

/// One pair of the list that the contract is called with; `None` stands for coins.
pub(crate) fn pair(address: Address, token: Option<Address>) -> [u8; 64] {
    let mut pair = [0; 64];
    pair[12..32].copy_from_slice(&address.0);
    if let Some(token) = token {
        pair[44..].copy_from_slice(&token.0);
    }
    pair
}

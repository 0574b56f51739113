//! Payment URIs.

use florin_money::AmountText;

use crate::chain::{Chain, Network};
use crate::coin::Coin;

/// The id of a chain of Ethereum's kind. Source: the EIP-155 registry; Tron's documentation for main and Nile; anvil's own
/// for a private network.
pub(crate) fn chain_id(chain: Chain, network: Network) -> u64 {
    match (chain, network) {
        (Chain::Tron, Network::Main) => 728_126_428,
        (Chain::Tron, Network::Test) => 3_448_148_188,
        (_, Network::Regtest) => 31_337,
        (Chain::Bnb, Network::Main) => 56,
        (Chain::Bnb, Network::Test) => 97,
        (_, Network::Main) => 1,
        (_, Network::Test) => 11_155_111,
    }
}

/// The URI that asks for `amount` at `address`.
///
/// Each names its network or its token, where the form can. Source: BIP-21 for Bitcoin and its relatives, EIP-681
/// for Ethereum's; `tron:` and `solana:` have the form that wallets accept, amount in whole coins. `Assumed:` the gateway
/// writes these forms; the specification says only "payment URI form carrying the address and amount".
pub(crate) fn payment_uri(
    coin: &Coin,
    network: Network,
    address: &str,
    amount: &AmountText,
) -> String {
    match coin.chain {
        Chain::Bitcoin => format!("bitcoin:{address}?amount={amount}"),
        Chain::Litecoin => format!("litecoin:{address}?amount={amount}"),
        Chain::Dogecoin => format!("dogecoin:{address}?amount={amount}"),
        // A CashAddr with its prefix is a URI already.
        Chain::BitcoinCash => format!("{address}?amount={amount}"),
        Chain::Tron => match &coin.contract {
            Some(token) => format!("tron:{address}?token={token}&amount={amount}"),
            None => format!("tron:{address}?amount={amount}"),
        },
        Chain::Solana => format!("solana:{address}?amount={amount}"),
        Chain::Ethereum | Chain::Bnb => {
            let id = chain_id(coin.chain, network);
            let units = smallest_units(amount, coin.decimals);
            match &coin.contract {
                Some(contract) => {
                    format!("ethereum:{contract}@{id}/transfer?address={address}&uint256={units}")
                }
                None => format!("ethereum:{address}@{id}?value={units}"),
            }
        }
    }
}

/// The amount in units of 10^-`decimals`, as a whole number. The amount has no more decimals than that.
fn smallest_units(amount: &AmountText, decimals: u32) -> String {
    let (whole, fraction) = amount
        .as_str()
        .split_once('.')
        .unwrap_or((amount.as_str(), ""));
    let width = usize::try_from(decimals).expect("an asset has a few decimals");
    let digits = format!("{whole}{fraction:0<width$}");
    match digits.trim_start_matches('0') {
        "" => "0".to_owned(),
        units => units.to_owned(),
    }
}

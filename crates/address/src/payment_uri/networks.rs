//! Names of networks in payment URIs: schemes, chain ids and token contracts.
//!
//! A main network is known: its chain id and Tether's contract are constants. Of a test network only what the gateway's
//! text names is used, and only where it cannot be taken for a main network. So a wrong guess on this page costs a link or
//! blocks an attempt of the test environment; it never makes a link that spends real coins.

use florin_money::Asset;

use crate::Network::{self, Main, Regtest, Test};

/// Tether's contract on Ethereum. Source: tether.to, "Supported protocols".
const TETHER_ON_ETHEREUM: &str = "0xdAC17F958D2ee523a2206206994597C13D831ec7";

/// Tether's contract on Tron. Source: tether.to, "Supported protocols".
const TETHER_ON_TRON: &str = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";

/// Test Tether on Nile, Tron's test network. Source: docs.turnkey.com, "Policy examples, Tron"; nileex.io.
///
/// `Assumed:` the test environment of the gateway pays in this token. Its text with another token would disprove it; then
/// customers of the test environment see the bare address and no link.
const TETHER_ON_NILE: &str = "TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf";

/// The chain ids that a URI of `asset` may name. Source: chainid.network; of a development node: Anvil, `--chain-id`.
///
/// `Assumed:` the gateway's test environment uses BNB Chain's only public test network, and for Ethereum Sepolia, Hoodi or
/// Holesky. Its text with another number would disprove it; then the attempt is blocked. No list of numbers that are
/// refused would do: Ethereum's addresses are valid on hundreds of main networks.
pub(super) fn chain_ids(asset: Asset, network: Network) -> &'static [&'static str] {
    match (asset, network) {
        (Asset::BNB, Main) => &["56"],
        (Asset::BNB, Test) => &["97"],
        (_, Main) => &["1"],
        (_, Test) => &["11155111", "560048", "17000"],
        (_, Regtest) => &["31337"],
    }
}

/// The chain id of a text that names none; `None` where it cannot be known.
///
/// `Assumed:` nothing of a test network: there are several, and a link to the wrong one pays to an address that the gateway
/// does not watch.
pub(super) fn unnamed_chain_id(asset: Asset, network: Network) -> Option<&'static str> {
    match network {
        Main | Regtest => chain_ids(asset, network).first().copied(),
        Test => None,
    }
}

/// The contract of USDT on Ethereum; `None` on test networks, where it is whatever the gateway has deployed. The chain id
/// keeps a link to that contract away from the main network.
pub(super) fn erc20_contract(network: Network) -> Option<&'static str> {
    match network {
        Main => Some(TETHER_ON_ETHEREUM),
        Test | Regtest => None,
    }
}

/// The token of USDT on Tron that a link may name.
///
/// A `tron:` URI names no network, and addresses are the same on all of them. A test token keeps a link away from the main
/// network, where it does not exist.
pub(super) fn trc20_token(network: Network) -> &'static str {
    match network {
        Main => TETHER_ON_TRON,
        Test | Regtest => TETHER_ON_NILE,
    }
}

/// Returns `true` if a `tron:` URI without a token is safe. On a test network it is not: a wallet
/// on the main network would pay TRX there.
pub(super) fn may_ask_for_trx(network: Network) -> bool {
    network == Main
}

/// Tron's test network Nile.
///
/// `Assumed:` the gateway's test environment has TRX on the network of its test USDT. A payment of TRX on Nile that it never sees
/// would disprove it; only coins without a price are lost then, since a wallet is asked on no other network.
pub(super) const NILE: &str = "0xcd8690dc";

/// The chain of a `tron:` URI, a quantity: only the main network has TRX without a token's contract.
///
/// Source: TIP-474, `eth_chainId`: the last four bytes of the first block's id; docs.tronlink.org, "Switch chain" (2026).
pub(super) fn tron_chain(token: Option<&str>) -> &'static str {
    match token {
        Some(TETHER_ON_NILE) => NILE,
        _ => "0x2b6653dc",
    }
}

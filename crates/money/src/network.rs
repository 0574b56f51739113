//! Facts about the networks: coins, names elsewhere, pace, addresses, explorers and the schemes of payment links.
//!
//! The checkout's page contains the table. What only a server needs is a function: the linker leaves it out of the page.

/// A known network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// Its name: `BNB Chain`.
    pub name: &'static str,
    /// The symbol of the coin that it was made for: `BNB`.
    pub coin: &'static str,
    /// Milliseconds from one block to the next.
    ///
    /// Sources: the networks' own documents. Bitcoin, and Bitcoin Cash, which kept its rule: "two weeks for 2016 blocks"
    /// (developer.bitcoin.org, Block Chain, Proof Of Work). Litecoin: 2.5 minutes (litecoin.org). Dogecoin: 1 minute
    /// (dogecoin.com, Dogepedia). Ethereum: 12-second slots (ethereum.org, Blocks). Tron: 3 seconds
    /// (developers.tron.network, Consensus). BNB Chain: 0.75 seconds (BEP-524, June 2025).
    /// `Assumed:` BNB Chain is not slower since; a smaller number there changes no text, as all its waits are "any moment".
    pub block_ms: u32,
    /// Its names in the lists of wallets and exchanges, which often name the token standard and not the network: the most
    /// frequent first, with ` / ` between them.
    ///
    /// Source: guides to withdrawals of Tether, which quote the choice of several exchanges as "TRC20 / TRON",
    /// "ERC20 / Ethereum" and "BEP20 / BNB Smart Chain", read in November 2026. `Assumed:` for the chains with one coin,
    /// that the list names the chain or its coin; an exchange whose withdrawal page names it otherwise disproves that.
    pub names: &'static str,
    /// The shape of its addresses in full length, a dot for what differs: never an address that can be paid to.
    /// Empty where addresses come in several shapes.
    ///
    /// Source: Tron's documentation, 34 characters of `Base58Check` from `T`, on its test networks as well; EIP-55.
    pub example: &'static str,
}

const TRON_ADDRESS: &str = "T•••••••••••••••••••••••••••••••••";
const ETHEREUM_ADDRESS: &str = "0x••••••••••••••••••••••••••••••••••••••••";

impl Network {
    /// Tron.
    pub const TRON: Self = Self::new("Tron", "TRX", 3_000, "TRC20 / TRON", TRON_ADDRESS);
    /// Ethereum.
    pub const ETHEREUM: Self = Self::new(
        "Ethereum",
        "ETH",
        12_000,
        "ERC20 / Ethereum",
        ETHEREUM_ADDRESS,
    );
    /// BNB Chain, whose name differs from that of its coin.
    pub const BNB_CHAIN: Self = Self::new(
        "BNB Chain",
        "BNB",
        750,
        "BEP20 / BNB Smart Chain (BSC)",
        ETHEREUM_ADDRESS,
    );
    /// Bitcoin.
    pub const BITCOIN: Self = Self::new("Bitcoin", "BTC", 600_000, "Bitcoin / BTC", "");
    /// Litecoin.
    pub const LITECOIN: Self = Self::new("Litecoin", "LTC", 150_000, "Litecoin / LTC", "");
    /// Dogecoin.
    pub const DOGECOIN: Self = Self::new("Dogecoin", "DOGE", 60_000, "Dogecoin / DOGE", "");
    /// Bitcoin Cash.
    pub const BITCOIN_CASH: Self =
        Self::new("Bitcoin Cash", "BCH", 600_000, "Bitcoin Cash / BCH", "");

    /// Every known network.
    pub const ALL: [Self; 7] = [
        Self::TRON,
        Self::ETHEREUM,
        Self::BNB_CHAIN,
        Self::BITCOIN,
        Self::LITECOIN,
        Self::DOGECOIN,
        Self::BITCOIN_CASH,
    ];

    const fn new(
        name: &'static str,
        coin: &'static str,
        block_ms: u32,
        names: &'static str,
        example: &'static str,
    ) -> Self {
        Self {
            name,
            coin,
            block_ms,
            names,
            example,
        }
    }

    /// The network of that name; `None` for a network that a newer service may offer.
    pub fn of(name: &str) -> Option<&'static Self> {
        static ALL: [Network; 7] = Network::ALL;
        ALL.iter().find(|known| known.name == name)
    }

    /// The symbol of a network's coin; the network's own name where it is not known.
    pub fn coin_of(name: &str) -> &str {
        Self::of(name).map_or(name, |network| network.coin)
    }

    /// A block explorer of the main network; a transaction's hash is appended.
    pub fn explorer(&self) -> &'static str {
        match self.name {
            "Tron" => "https://tronscan.org/#/transaction/",
            "Ethereum" => "https://etherscan.io/tx/",
            "BNB Chain" => "https://bscscan.com/tx/",
            "Bitcoin" => "https://mempool.space/tx/",
            "Litecoin" => "https://litecoinspace.org/tx/",
            "Dogecoin" => "https://dogechain.info/tx/",
            "Bitcoin Cash" => "https://blockchair.com/bitcoin-cash/transaction/",
            other => unreachable!("{other} is no network of the table"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_networks_of_one_asset_have_no_name_in_common() {
        for name in Network::TRON.names.split(" / ") {
            assert!(!Network::ETHEREUM.names.contains(name), "{name}");
        }
    }

    #[test]
    fn examples_have_the_length_of_addresses_and_are_none() {
        for (network, start, length) in [(Network::TRON, "T", 34), (Network::ETHEREUM, "0x", 42)] {
            assert_eq!(network.example.chars().count(), length);
            let rest = network.example.strip_prefix(start).unwrap();
            assert!(rest.chars().all(|c| c == '•'), "{}", network.example);
        }
    }
}

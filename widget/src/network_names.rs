//! What a network is called elsewhere: wallets and exchanges often name the token standard, not the network.

/// A network as others write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// The network as this checkout writes it, `AttemptView::network`.
    name: &'static str,
    /// Its names in the lists of exchanges, the most frequent first, with ` / ` between them.
    ///
    /// Source: guides to withdrawals of Tether, which quote the choice of several exchanges as "TRC20 / TRON",
    /// "ERC20 / Ethereum" and "BEP20 / BNB Smart Chain", read in November 2026. `Assumed:` for the chains with one coin,
    /// that the list names the chain or its coin; an exchange whose withdrawal page names it otherwise disproves that.
    pub names: &'static str,
    /// The shape of its addresses in full length, `x` for what differs: never an address that somebody could pay to.
    /// Empty where addresses come in several shapes.
    ///
    /// Source: Tron's documentation, 34 characters of `Base58Check` from `T`, on its test networks as well; EIP-55.
    pub example: &'static str,
}

const TRON: &str = "Txxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
const ETHEREUM: &str = "0xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";

const KNOWN: [Network; 7] = [
    called("Tron", "TRC20 / TRON", TRON),
    called("Ethereum", "ERC20 / Ethereum", ETHEREUM),
    called("BNB Chain", "BEP20 / BNB Smart Chain (BSC)", ETHEREUM),
    called("Bitcoin", "Bitcoin / BTC", ""),
    called("Litecoin", "Litecoin / LTC", ""),
    called("Dogecoin", "Dogecoin / DOGE", ""),
    called("Bitcoin Cash", "Bitcoin Cash / BCH", ""),
];

const fn called(name: &'static str, names: &'static str, example: &'static str) -> Network {
    Network {
        name,
        names,
        example,
    }
}

/// What is known of a network; `None` of one that a newer service may offer.
pub fn known(network: &str) -> Option<&'static Network> {
    KNOWN.iter().find(|known| known.name == network)
}

#[cfg(test)]
mod tests {
    use money::Asset;

    use super::*;

    #[test]
    fn every_network_of_the_service_has_its_names() {
        for asset in Asset::ALL {
            let network = known(asset.network()).unwrap();
            assert!(!network.names.is_empty(), "{}", asset.network());
        }
        assert_eq!(known("Solana"), None);
    }

    #[test]
    fn the_networks_of_one_asset_have_no_name_in_common() {
        let (tron, ethereum) = (known("Tron").unwrap(), known("Ethereum").unwrap());
        for name in tron.names.split(" / ") {
            assert!(!ethereum.names.contains(name), "{name}");
        }
    }

    #[test]
    fn examples_have_the_length_of_addresses_and_are_none() {
        for (network, start, length) in [("Tron", "T", 34), ("Ethereum", "0x", 42)] {
            let example = known(network).unwrap().example;
            assert_eq!(example.len(), length);
            let rest = example.strip_prefix(start).unwrap();
            assert!(rest.bytes().all(|b| b == b'x'), "{example}");
        }
    }
}

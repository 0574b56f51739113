//! Facts about the networks: their coins, their pace, what they are called elsewhere, and finding an asset by such a
//! name.

/// One network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// Its name as the proxy writes it, `Quote::network` and `AttemptView::network`.
    name: &'static str,
    /// The symbol of the coin that it was made for, as `Quote::asset` writes it.
    ///
    /// Source: the networks' own names of their coins, as in `florin_money::Asset`.
    coin: &'static str,
    /// Milliseconds from one block to the next.
    ///
    /// Sources: the networks' own documents. Bitcoin, and Bitcoin Cash, which kept its rule: "two weeks for 2016 blocks"
    /// (developer.bitcoin.org, Block Chain, Proof Of Work). Litecoin: 2.5 minutes (litecoin.org). Dogecoin: 1 minute
    /// (dogecoin.com, Dogepedia). Ethereum: 12-second slots (ethereum.org, Blocks). Tron: 3 seconds
    /// (developers.tron.network, Consensus). BNB Chain: 0.75 seconds (BEP-524, June 2025).
    /// Assumed: BNB Chain is not slower since; a smaller number there changes no text, as all its waits are "any moment".
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
const BNB_NAMES: &str = "BEP20 / BNB Smart Chain (BSC)";

const KNOWN: [Network; 7] = [
    of("Tron", "TRX", 3_000, "TRC20 / TRON", TRON_ADDRESS),
    of(
        "Ethereum",
        "ETH",
        12_000,
        "ERC20 / Ethereum",
        ETHEREUM_ADDRESS,
    ),
    of("BNB Chain", "BNB", 750, BNB_NAMES, ETHEREUM_ADDRESS),
    of("Bitcoin", "BTC", 600_000, "Bitcoin / BTC", ""),
    of("Litecoin", "LTC", 150_000, "Litecoin / LTC", ""),
    of("Dogecoin", "DOGE", 60_000, "Dogecoin / DOGE", ""),
    of("Bitcoin Cash", "BCH", 600_000, "Bitcoin Cash / BCH", ""),
];

const fn of(
    name: &'static str,
    coin: &'static str,
    block_ms: u32,
    names: &'static str,
    example: &'static str,
) -> Network {
    Network {
        name,
        coin,
        block_ms,
        names,
        example,
    }
}

/// What is known of a network; `None` of one that a newer service may offer.
pub fn known(network: &str) -> Option<&'static Network> {
    KNOWN.iter().find(|known| known.name == network)
}

/// The symbol of a network's coin; the network's own name where it is not known.
pub fn coin_of(network: &str) -> &str {
    known(network).map_or(network, |network| network.coin)
}

/// The name of a coin on its own network: `Bitcoin`. The network of BNB has another name than its coin.
pub fn coin_name<'a>(asset: &'a str, network: &'a str) -> &'a str {
    if asset == "BNB" { asset } else { network }
}

/// Returns `true` if the asset is a token on this network or a coin of another one: it exists on several networks, and a
/// payment on the wrong one is lost.
pub fn needs_network_warning(asset: &str, network: &str) -> bool {
    coin_of(network) != asset
}

/// Whether every word of what was typed is in one of the names, capital or not; nothing typed finds everything.
///
/// Words, so that `usdt tron` finds what neither name says alone.
pub fn finds(typed: &str, names: &[&str]) -> bool {
    let names = names.join("\n").to_ascii_lowercase();
    let typed = typed.to_ascii_lowercase();
    typed.split_whitespace().all(|word| names.contains(word))
}

#[cfg(test)]
mod tests {
    use florin_money::Asset;

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
    fn the_early_list_has_the_same_networks() {
        let script = include_str!("../../js/host/early_choice.js");
        for network in KNOWN {
            let Network {
                name, coin, names, ..
            } = network;
            let entry = format!("['{name}', ['{coin}', '{names}']],");
            assert!(script.contains(&entry), "{entry}");
        }
        assert_eq!(script.matches("', ['").count(), KNOWN.len());
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
            assert_eq!(example.chars().count(), length);
            let rest = example.strip_prefix(start).unwrap();
            assert!(rest.chars().all(|c| c == '•'), "{example}");
        }
    }

    #[test]
    fn only_the_tethers_need_a_network_warning() {
        for asset in Asset::ALL {
            let needs_warning = needs_network_warning(asset.symbol(), asset.network());
            assert_eq!(needs_warning, asset.symbol() == "USDT", "{}", asset.name());
        }
    }

    #[test]
    fn a_coin_is_named_after_its_network_but_for_one() {
        assert_eq!(coin_name("BTC", "Bitcoin"), "Bitcoin");
        assert_eq!(coin_name("BNB", "BNB Chain"), "BNB");
    }

    #[test]
    fn ether_on_another_network_is_a_guest() {
        assert!(needs_network_warning("ETH", "Arbitrum"));
        assert_eq!(coin_of("Arbitrum"), "Arbitrum");
    }

    const TETHER: [&str; 5] = ["Tether", "USDT", "Tron", "USDTTRC20", "TRC20 / TRON"];

    #[test]
    fn an_asset_is_found_by_name_symbol_network_and_standard() {
        for typed in ["teth", "usdt", "TRON", "trc20", " Usdt  tron ", ""] {
            assert!(finds(typed, &TETHER), "{typed}");
        }
    }

    #[test]
    fn every_word_has_to_be_there() {
        for typed in ["bitcoin", "usdt ethereum", "tethertron", "ttethe"] {
            assert!(!finds(typed, &TETHER), "{typed}");
        }
    }
}

//! The coin that a network was made for, and the assets that are guests on it.

/// Networks with their coins, as `Quote::network` and `Quote::asset` write them.
///
/// Source: the networks' own names of their coins, as in `money::Asset`.
const HOMES: [(&str, &str); 7] = [
    ("Bitcoin", "BTC"),
    ("Ethereum", "ETH"),
    ("Tron", "TRX"),
    ("Litecoin", "LTC"),
    ("BNB Chain", "BNB"),
    ("Bitcoin Cash", "BCH"),
    ("Dogecoin", "DOGE"),
];

/// The symbol of a network's coin; the network's own name where it is not known.
pub fn coin_of(network: &str) -> &str {
    let home = HOMES.iter().find(|(known, _)| *known == network);
    home.map_or(network, |(_, coin)| coin)
}

/// Whether an asset is a token on this network, or a coin of another one: then it lives on others as well, and who sends
/// it on the wrong one loses it.
pub fn is_guest(asset: &str, network: &str) -> bool {
    coin_of(network) != asset
}

#[cfg(test)]
mod tests {
    use money::Asset;

    use super::*;

    #[test]
    fn of_the_services_assets_only_the_tethers_are_guests() {
        for asset in Asset::ALL {
            let guest = is_guest(asset.symbol(), asset.network());
            assert_eq!(guest, asset.symbol() == "USDT", "{}", asset.name());
        }
    }

    #[test]
    fn ether_on_another_network_is_a_guest() {
        assert!(is_guest("ETH", "Arbitrum"));
        assert_eq!(coin_of("Arbitrum"), "Arbitrum");
    }
}

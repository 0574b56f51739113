//! Coins of networks.

/// The name of a coin on its own network, as the list of assets has it: `Bitcoin`. The network of BNB has another name than its coin.
pub fn coin_name<'a>(asset: &'a str, network: &'a str) -> &'a str {
    if asset == "BNB" { asset } else { network }
}

#[cfg(test)]
mod tests {
    use florin_money::{Asset, Network};

    use super::*;

    #[test]
    fn a_coin_has_the_name_that_it_has_in_the_list() {
        for asset in Asset::ALL {
            let (symbol, network) = (asset.symbol(), asset.network());
            if Network::coin_of(network) == symbol {
                assert_eq!(coin_name(symbol, network), asset.name());
            }
        }
    }
}

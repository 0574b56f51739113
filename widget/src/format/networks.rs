//! Coins of networks.

/// The name of a coin on its own network: `Bitcoin`. The network of BNB has another name than its coin.
pub fn coin_name<'a>(asset: &'a str, network: &'a str) -> &'a str {
    if asset == "BNB" { asset } else { network }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coin_is_named_after_its_network_but_for_one() {
        assert_eq!(coin_name("BTC", "Bitcoin"), "Bitcoin");
        assert_eq!(coin_name("BNB", "BNB Chain"), "BNB");
    }
}

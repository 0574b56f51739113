//! Coins of networks, and finding an asset by its names.

/// The name of a coin on its own network: `Bitcoin`. The network of BNB has another name than its coin.
pub fn coin_name<'a>(asset: &'a str, network: &'a str) -> &'a str {
    if asset == "BNB" { asset } else { network }
}

/// Returns `true` if each typed word is in one of the names, so that `usdt tron` finds Tether on Tron. No word finds
/// everything. Ignores case.
pub fn finds(typed: &str, names: &[&str]) -> bool {
    let names = names.join("\n").to_ascii_lowercase();
    let typed = typed.to_ascii_lowercase();
    typed.split_whitespace().all(|word| names.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coin_is_named_after_its_network_but_for_one() {
        assert_eq!(coin_name("BTC", "Bitcoin"), "Bitcoin");
        assert_eq!(coin_name("BNB", "BNB Chain"), "BNB");
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

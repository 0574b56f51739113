//! Finding an asset by what its customer calls it.

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
    use super::*;

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

//! Finding an asset by what its customer calls it.

/// Whether every word of what was typed is in one of the names, capital or not; nothing typed finds everything.
///
/// Words, so that `usdt tron` finds what neither name says alone.
pub fn finds(typed: &str, names: &[&str]) -> bool {
    let names = names.join("\n").to_ascii_lowercase();
    let typed = typed.to_ascii_lowercase();
    // The table of blanks would be downloaded for this alone.
    typed.split(' ').all(|word| contains(&names, word))
}

/// Whether `part` is somewhere in `text`. Compared at each place: what `str::contains` does to be fast is a kilobyte, and
/// these texts are short.
pub fn contains(text: &str, part: &str) -> bool {
    let mut places = text.as_bytes().windows(part.len().max(1));
    part.is_empty() || places.any(|place| place == part.as_bytes())
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

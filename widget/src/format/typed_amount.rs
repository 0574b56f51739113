//! An amount as people type it, made the decimal text that the proxy reads.

/// The zeros of the scripts whose keyboards write their own digits, each followed by its nine others: Arabic, Persian,
/// Devanagari, Bengali, Gurmukhi, Gujarati, Odia, Tamil, Telugu, Kannada, Malayalam, Thai, Lao, Tibetan, Burmese, Khmer,
/// and the wide digits of East Asian keyboards. Source: Unicode 16.0, `UnicodeData.txt`, category Nd.
const ZEROS: [char; 17] = [
    '\u{660}', '\u{6f0}', '\u{966}', '\u{9e6}', '\u{a66}', '\u{ae6}', '\u{b66}', '\u{be6}',
    '\u{c66}', '\u{ce6}', '\u{d66}', '\u{e50}', '\u{ed0}', '\u{f20}', '\u{1040}', '\u{17e0}',
    '\u{ff10}',
];

/// The same amount with a point and Western digits: `۵٫۵۰`, `５．５０` and `5,50` become `5.50`.
///
/// Nothing is rounded, completed or guessed beyond that; whether the result is an amount, the proxy says. A comma before
/// exactly three digits could group thousands as well as begin decimals, so it stays, and the proxy refuses it.
pub fn canonical(typed: &str) -> String {
    let plain: String = typed
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| match c {
            '\u{66b}' | '\u{ff0e}' => '.',
            '\u{ff0c}' => ',',
            c => western(c),
        })
        .collect();
    match plain.split_once(',') {
        Some((whole, rest)) if rest.len() != 3 && plain.bytes().all(|b| b != b'.') => {
            [whole, rest].join(".")
        }
        _ => plain,
    }
}

fn western(c: char) -> char {
    let digit = |&zero: &char| char::from_digit(u32::from(c).wrapping_sub(u32::from(zero)), 10);
    ZEROS.iter().find_map(digit).unwrap_or(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_keyboard_has_its_way_to_write_five_and_a_half() {
        for typed in [
            "5.50",
            "5,50",
            " 5.50 ",
            "٥٫٥٠",
            "۵٫۵۰",
            "٥,٥٠",
            "५.५०",
            "৫.৫০",
            "੫.੫੦",
            "૫.૫૦",
            "௫.௫௦",
            "౫.౫౦",
            "೫.೫೦",
            "൫.൫൦",
            "୫.୫୦",
            "๕.๕๐",
            "໕.໕໐",
            "༥.༥༠",
            "၅.၅၀",
            "៥.៥០",
            "５．５０",
            "５，５０",
        ] {
            assert_eq!(canonical(typed), "5.50", "{typed}");
        }
    }

    #[test]
    fn what_could_mean_two_things_is_left_for_the_proxy_to_refuse() {
        for typed in ["1,000", "1,000.50", "1.000,50", "five", "-5", ""] {
            assert_eq!(canonical(typed), typed, "{typed}");
        }
    }
}

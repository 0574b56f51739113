//! The comparison of an address with what the customer's wallet shows.
//!
//! A program that exchanges addresses in the clipboard picks one that begins and ends alike; eyes miss it. Pasting back
//! what the wallet shows compares every character.

/// The result of the comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing was pasted.
    Nothing,
    /// A piece of the address, or its two ends: says nothing about the rest.
    Part,
    /// The address.
    Same,
    /// Another text: what was pasted, in three pieces, of which the second holds all that is not as in the address.
    Other([String; 3]),
}

/// Compares `pasted`, an address or a payment URI, with `address`. White space counts for nothing.
pub fn compare(address: &str, pasted: &str) -> Verdict {
    let pasted: String = pasted.chars().filter(|c| is_visible(*c)).collect();
    let seen = named(&pasted);
    let (mut wanted, mut found) = (named(address).to_owned(), seen.to_owned());
    if means_the_same_in_any_case(&wanted) {
        wanted.make_ascii_lowercase();
        found.make_ascii_lowercase();
    }
    if found.is_empty() {
        return Verdict::Nothing;
    }
    if wanted == found {
        return Verdict::Same;
    }
    // Wallets that are short of room show both ends with dots between.
    if found.split(['.', '…']).all(|piece| wanted.contains(piece)) {
        return Verdict::Part;
    }
    let (start, end) = difference(wanted.as_bytes(), found.as_bytes());
    let (start, end) = (
        seen.floor_char_boundary(start),
        seen.ceil_char_boundary(end),
    );
    Verdict::Other([&seen[..start], &seen[start..end], &seen[end..]].map(String::from))
}

/// Neither white space nor one of the characters that have no width.
fn is_visible(c: char) -> bool {
    !matches!(
        c,
        '\0'..=' ' | '\u{7f}'..='\u{a0}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}' | '\u{3000}' | '\u{feff}'
    )
}

/// The address that a text names: itself, or that within a payment URI (BIP-21, EIP-681, `CashAddr`), where no other
/// word is as long.
fn named(text: &str) -> &str {
    if !text.contains(':') {
        return text;
    }
    let (target, query) = text.split_once('?').unwrap_or((text, ""));
    // EIP-681: a token's contract stands in the address's place.
    let place = if target.ends_with("/transfer") {
        query
    } else {
        target
    };
    let words = place.split(|c: char| !c.is_ascii_alphanumeric());
    words.max_by_key(|word| word.len()).unwrap_or_default()
}

/// Whether its letters mean the same in upper and lower case: in hexadecimal, whose mixed case (EIP-55) is a mere
/// checksum, and where one case alone is used, as in bech32 (BIP-173) and `CashAddr`. Base58 has letters of both.
fn means_the_same_in_any_case(address: &str) -> bool {
    let has = |is: fn(&u8) -> bool| address.as_bytes().iter().any(is);
    address.starts_with("0x") || !has(u8::is_ascii_uppercase) || !has(u8::is_ascii_lowercase)
}

/// Where `found` is not as `wanted`: all between what both begin with and what both end with.
fn difference(wanted: &[u8], found: &[u8]) -> (usize, usize) {
    let alike = wanted.iter().zip(found).take_while(|(a, b)| a == b);
    let start = alike.count();
    let alike = wanted.iter().rev().zip(found.iter().rev());
    let end = found.len() - alike.take_while(|(a, b)| a == b).count();
    // Where something is missing, nothing lies between: then the characters beside the gap.
    if start < end {
        (start, end)
    } else {
        (end.saturating_sub(1), found.len().min(start + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made up; of the shapes that the networks use.
    const SEGWIT: &str = "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx";
    const HEX: &str = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
    const TRON: &str = "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8";
    const CASH: &str = "bchtest:qpm2qsznhks23z7629mms6s4cwef74vcwvqcw003ap";

    fn marked(address: &str, pasted: &str) -> String {
        let Verdict::Other([before, other, after]) = compare(address, pasted) else {
            panic!("{pasted} passes for {address}");
        };
        format!("{before}[{other}]{after}")
    }

    #[test]
    fn the_address_is_the_same_whatever_white_space_is_in_it() {
        for pasted in [
            TRON.to_owned(),
            format!("  {TRON}\n"),
            "TJRa bPrw bZy4 5sba vfcj inPJ C18k jpRT v8".to_owned(),
            format!("\u{feff}\u{200b}{TRON}\u{2069}"),
        ] {
            assert_eq!(compare(TRON, &pasted), Verdict::Same, "{pasted:?}");
        }
        assert_eq!(compare(TRON, " \n\u{200b}"), Verdict::Nothing);
    }

    #[test]
    fn case_counts_where_the_format_says_so() {
        let bare_cash = "qpm2qsznhks23z7629mms6s4cwef74vcwvqcw003ap";
        for address in [SEGWIT, HEX, CASH, bare_cash] {
            for pasted in [address.to_ascii_uppercase(), address.to_ascii_lowercase()] {
                assert_eq!(compare(address, &pasted), Verdict::Same, "{pasted}");
            }
        }
        assert_eq!(compare(&SEGWIT.to_uppercase(), SEGWIT), Verdict::Same);
        assert_eq!(
            marked(TRON, "TjRabPrwbZy45sbavfcjinPJC18kjpRTv8"),
            "T[j]RabPrwbZy45sbavfcjinPJC18kjpRTv8"
        );
        // Base58 of one's imagination that begins as bech32 does.
        assert_eq!(marked("bc1AbC", "bc1abc"), "bc1[abc]");
    }

    #[test]
    fn the_address_is_found_in_payment_uris() {
        for (address, uri) in [
            (
                SEGWIT,
                format!("bitcoin:{SEGWIT}?amount=0.00030973&label=x"),
            ),
            (
                SEGWIT,
                format!("BITCOIN:{}?AMOUNT=1", SEGWIT.to_uppercase()),
            ),
            (HEX, format!("ethereum:{HEX}@97?value=1")),
            (HEX, format!("ethereum:pay-{HEX}")),
            (
                HEX,
                format!("ethereum:0x12@1/transfer?uint256=5&address={HEX}"),
            ),
            (TRON, format!("tron://{TRON}?amount=5")),
            (CASH, format!("{CASH}?amount=1")),
            (CASH, CASH.split_once(':').unwrap().1.to_owned()),
        ] {
            assert_eq!(compare(address, &uri), Verdict::Same, "{uri}");
        }
    }

    #[test]
    fn a_tokens_contract_is_not_taken_for_the_receiver() {
        let other = "0x00000000000000000000000000000000000000ed";
        for uri in [
            format!("ethereum:{HEX}/transfer?address={other}&uint256=5"),
            format!("ethereum:{HEX}/transfer?uint256=5"),
            format!("ethereum:{other}?label={HEX}"),
        ] {
            assert!(matches!(compare(HEX, &uri), Verdict::Other(_)), "{uri}");
        }
    }

    #[test]
    fn the_characters_that_differ_are_marked() {
        assert_eq!(
            marked(TRON, "TJRabPrwbZy45sbXXXcjinPJC18kjpRTv8"),
            "TJRabPrwbZy45sb[XXX]cjinPJC18kjpRTv8"
        );
        // What was pasted is shown as it was pasted.
        assert_eq!(
            marked(SEGWIT, "TB1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KXPJZSY"),
            "TB1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KXPJZS[Y]"
        );
        // A letter of another alphabet that looks alike.
        assert_eq!(marked("TAbc", "T\u{410}bc"), "T[\u{410}]bc");
    }

    #[test]
    fn what_is_too_much_or_missing_marks_its_place_alone() {
        assert_eq!(marked("TJRabPrw", "TJRabXXPrw"), "TJRab[XX]Prw");
        assert_eq!(marked("TJRabPrw", "TJRaPrw"), "TJR[aP]rw");
        assert_eq!(marked("TJRabPrw", "TJRabPrwQ"), "TJRabPrw[Q]");
        assert_eq!(marked("aaaa", "aaaaaa"), "a[aaaa]a");
    }

    #[test]
    fn a_part_of_the_address_is_neither_right_nor_wrong() {
        for pasted in "T TJRabPrw kjpRTv8 TJRab…RTv8 TJRab...RTv8 …".split(' ') {
            assert_eq!(compare(TRON, pasted), Verdict::Part, "{pasted}");
        }
        assert!(matches!(compare(TRON, "TJRab…RTv9"), Verdict::Other(_)));
        assert!(matches!(compare(TRON, "TJRxb…RTv8"), Verdict::Other(_)));
    }

    #[test]
    fn no_text_makes_it_fail() {
        let long = "é".repeat(9999);
        for pasted in ": a: :? x:/transfer? é …x…"
            .split(' ')
            .chain([long.as_str()])
        {
            let _ = compare("é1", pasted);
            let _ = compare(TRON, pasted);
            let _ = compare("", pasted);
        }
    }
}

//! Whether what a wallet shows is the address to pay to.
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
mod tests;

//! Whether what a wallet shows is the address to pay to.
//!
//! A program that exchanges addresses in the clipboard picks one that begins and ends alike; eyes miss it. Pasting back
//! what the wallet shows compares every character.

/// Texts by which an address is known to mean the same in upper and lower case: hexadecimal, whose mixed case (EIP-55)
/// is a mere checksum; bech32 (BIP-173) of Bitcoin and Litecoin; `CashAddr`, whose prefix may be left out.
const CASE_MEANS_NOTHING: [&str; 8] = ["0x", "bc1", "tb1", "bcrt1", "ltc1", "tltc1", "q", "p"];

/// What comparing told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing was pasted.
    Nothing,
    /// A piece of the address, or its two ends: says nothing about the rest.
    Part,
    /// The address.
    Same,
    /// Another text.
    Other(Vec<Run>),
}

/// A piece of what was pasted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Its characters.
    pub text: String,
    /// They are not those of the address.
    pub differs: bool,
}

/// Compares `pasted`, an address or a payment URI, with `address`. White space counts for nothing.
pub fn compare(address: &str, pasted: &str) -> Verdict {
    let seen: String = pasted.chars().filter(|c| is_visible(*c)).collect();
    let (address, seen) = (named(address), named(&seen));
    if seen.is_empty() {
        return Verdict::Nothing;
    }
    let fold = means_the_same_in_any_case(&address);
    let (wanted, found) = (folded(&address, fold), folded(&seen, fold));
    if wanted == found {
        return Verdict::Same;
    }
    let shown = found.replace("...", "…");
    let is_part = match shown.split_once('…') {
        Some((start, end)) => wanted.starts_with(start) && wanted.ends_with(end),
        None => wanted.contains(&found),
    };
    if is_part {
        return Verdict::Part;
    }
    let (wanted, found): (Vec<char>, Vec<char>) =
        (wanted.chars().collect(), found.chars().collect());
    Verdict::Other(runs(&seen, &differences(&wanted, &found)))
}

/// Neither white space nor one of the characters that have no width.
fn is_visible(c: char) -> bool {
    let is_format = matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
    !(c.is_whitespace() || c.is_control() || is_format)
}

/// The address that a text names: itself, or that within a payment URI (BIP-21, EIP-681, `CashAddr`).
fn named(text: &str) -> String {
    let Some((_, rest)) = text.split_once(':') else {
        return text.to_owned();
    };
    let (target, query) = rest.split_once('?').unwrap_or((rest, ""));
    if target.ends_with("/transfer") {
        // EIP-681: a token's contract stands in the address's place.
        let receiver = query
            .split('&')
            .find_map(|pair| pair.strip_prefix("address="));
        return receiver.unwrap_or_default().to_owned();
    }
    let target = target.trim_start_matches('/');
    let target = target.strip_prefix("pay-").unwrap_or(target);
    target.split('@').next().unwrap_or_default().to_owned()
}

fn means_the_same_in_any_case(address: &str) -> bool {
    let lower = address.to_ascii_lowercase();
    let is_of_one_case = lower == address || address.to_ascii_uppercase() == address;
    let mut starts = CASE_MEANS_NOTHING.into_iter();
    let start = starts.find(|start| lower.starts_with(start));
    start.is_some_and(|start| is_of_one_case || start == "0x")
}

fn folded(text: &str, fold: bool) -> String {
    if fold {
        text.to_ascii_lowercase()
    } else {
        text.to_owned()
    }
}

/// Which characters of `found` are not those of `wanted`: by place where both are of one length, else all between
/// what both begin with and what both end with.
fn differences(wanted: &[char], found: &[char]) -> Vec<bool> {
    if wanted.len() == found.len() {
        let pairs = wanted.iter().zip(found);
        return pairs.map(|(wanted, found)| wanted != found).collect();
    }
    let alike = wanted.iter().zip(found).take_while(|(a, b)| a == b);
    let start = alike.count();
    let alike = wanted.iter().rev().zip(found.iter().rev());
    let end = found.len() - alike.take_while(|(a, b)| a == b).count();
    // Where something is missing, nothing lies between: then the characters beside the gap.
    let (start, end) = if start < end {
        (start, end)
    } else {
        (end.saturating_sub(1), start.saturating_add(1))
    };
    (0..found.len())
        .map(|place| start <= place && place < end)
        .collect()
}

fn runs(text: &str, differences: &[bool]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (c, differs) in text.chars().zip(differences.iter().copied()) {
        match runs.last_mut() {
            Some(run) if run.differs == differs => run.text.push(c),
            _ => runs.push(Run {
                text: c.into(),
                differs,
            }),
        }
    }
    runs
}

#[cfg(test)]
mod tests;

//! The subjects of the gateway's warnings, so that a page can show them in its customer's language. Pure.
//!
//! A warning is a free text. Its kind is named only when every sentence of it is known from the first word to the last and
//! speaks of this asset and this network: a page that shows its own sentence for a kind leaves nothing out.
//!
//! Source: payment-service.md, "Invoice": `warning_messages` are about "send only the right asset, confirmation
//! requirement, sufficient network fee, price may expire if payment arrives late". `Assumed:` the sentences below; one that
//! is not among them is shown as it is.

use WarningKind::{Confirmations, Expiry, LatePrice, NetworkFee, OnlyThisAsset, WrongNetwork};
use florin_checkout_api::{Warning, WarningKind};
use florin_money::Asset;

/// The known sentences: in lower case, without punctuation. `{asset}` is the attempt's asset by symbol, name or both,
/// `{network}` its network, `{n}` a whole number.
const SENTENCES: [(WarningKind, &str); 41] = [
    (OnlyThisAsset, "send only the right asset"),
    (OnlyThisAsset, "send only {asset}"),
    (OnlyThisAsset, "send only {asset} to this address"),
    (OnlyThisAsset, "send only {asset} on {network}"),
    (OnlyThisAsset, "send only {asset} on the {network} network"),
    (
        OnlyThisAsset,
        "send only {asset} on the {network} network to this address",
    ),
    (OnlyThisAsset, "only send {asset} to this address"),
    (
        OnlyThisAsset,
        "only send {asset} on the {network} network to this address",
    ),
    (
        OnlyThisAsset,
        "other assets or {asset} on another network will be lost",
    ),
    (OnlyThisAsset, "other assets will be lost"),
    (WrongNetwork, "use only the {network} network"),
    (WrongNetwork, "send only on the {network} network"),
    (WrongNetwork, "do not send {asset} on another network"),
    (
        WrongNetwork,
        "{asset} that is sent on another network is lost",
    ),
    (WrongNetwork, "{asset} sent on another network will be lost"),
    (WrongNetwork, "coins sent on another network will be lost"),
    (
        Confirmations,
        "your payment is complete after {n} confirmations on the {network} network",
    ),
    (
        Confirmations,
        "your payment is complete after {n} confirmations",
    ),
    (
        Confirmations,
        "the payment is complete after {n} confirmations",
    ),
    (Confirmations, "your payment requires {n} confirmations"),
    (Confirmations, "the payment requires {n} confirmations"),
    (Confirmations, "{n} confirmations are required"),
    (Confirmations, "{n} network confirmations are required"),
    (
        NetworkFee,
        "make sure that the network fee is sufficient a {network} transaction with a low fee may not be confirmed",
    ),
    (NetworkFee, "make sure that the network fee is sufficient"),
    (NetworkFee, "make sure the network fee is sufficient"),
    (NetworkFee, "pay a sufficient network fee"),
    (
        NetworkFee,
        "a transaction with a low fee may not be confirmed",
    ),
    (
        NetworkFee,
        "a {network} transaction with a low fee may not be confirmed",
    ),
    (LatePrice, "the price in {asset} is held for {n} minutes"),
    (LatePrice, "the price is held for {n} minutes"),
    (LatePrice, "it may expire if your payment arrives later"),
    (
        LatePrice,
        "the price may expire if your payment arrives late",
    ),
    (
        LatePrice,
        "the price may expire if the payment arrives late",
    ),
    (LatePrice, "price may expire if payment arrives late"),
    (Expiry, "this address expires in {n} minutes"),
    (Expiry, "this invoice expires in {n} minutes"),
    (Expiry, "the invoice expires in {n} minutes"),
    (Expiry, "the invoice expires after {n} minutes"),
    (Expiry, "pay within {n} minutes"),
    (Expiry, "send your payment within {n} minutes"),
];

/// The warnings of an attempt, each with its subject; all of them `other` for an asset that is not known.
pub(crate) fn warnings(texts: &[String], asset: Option<Asset>) -> Vec<Warning> {
    let of = |text: &String| {
        let known = asset.and_then(|asset| recognize(text, asset));
        let (kind, number) = known.unwrap_or((WarningKind::Other, None));
        Warning {
            kind,
            text: text.clone(),
            number,
        }
    };
    texts.iter().map(of).collect()
}

/// The subject of a text and the number that it names, when all of its sentences are known, have one subject, and name one
/// number at most.
fn recognize(text: &str, asset: Asset) -> Option<(WarningKind, Option<u32>)> {
    let (mut kinds, mut numbers) = (Vec::new(), Vec::new());
    for sentence in text.split_inclusive(['.', '!']) {
        let words = words(sentence);
        if words.is_empty() {
            continue;
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (kind, named) = SENTENCES.into_iter().find_map(|(kind, pattern)| {
            let pattern: Vec<&str> = pattern.split(' ').collect();
            Some((kind, numbers_in(&pattern, &words, asset)?))
        })?;
        kinds.push(kind);
        numbers.extend(named);
    }
    kinds.dedup();
    numbers.dedup();
    match (&kinds[..], &numbers[..]) {
        ([kind], []) => Some((*kind, None)),
        ([kind], [number]) => Some((*kind, Some(*number))),
        _ => None,
    }
}

/// The words of a sentence in lower case, without the punctuation around them.
fn words(sentence: &str) -> Vec<String> {
    let bare = |word: &str| {
        let bare = word.trim_matches(|sign: char| ".,:;!()\"'".contains(sign));
        bare.to_lowercase()
    };
    let words = sentence.split_whitespace().map(bare);
    words.filter(|word| !word.is_empty()).collect()
}

/// The numbers in words that fit a pattern, both whole; `None` for words that do not.
fn numbers_in(pattern: &[&str], words: &[&str], asset: Asset) -> Option<Vec<u32>> {
    let Some((first, rest)) = pattern.split_first() else {
        return words.is_empty().then(Vec::new);
    };
    let names = match *first {
        "{n}" => {
            let (number, words) = words.split_first()?;
            let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
            let number = number.parse().ok().filter(|_| is_number)?;
            let mut numbers = numbers_in(rest, words, asset)?;
            numbers.push(number);
            return Some(numbers);
        }
        "{asset}" => {
            let (symbol, name) = (asset.symbol(), asset.name());
            let code = asset.crypto_code().to_string();
            vec![
                format!("{name} {symbol}"),
                format!("{symbol} {name}"),
                symbol.to_owned(),
                name.to_owned(),
                code,
            ]
        }
        "{network}" => vec![asset.network().to_owned()],
        word => vec![word.to_owned()],
    };
    names.into_iter().find_map(|name| {
        let mut left = words.iter();
        let name = name.to_lowercase();
        let fits = name.split(' ').all(|word| left.next() == Some(&word));
        fits.then(|| numbers_in(rest, left.as_slice(), asset))?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn is(text: &str, asset: Asset, kind: WarningKind, number: Option<u32>) {
        let expected = Warning {
            kind,
            text: text.to_owned(),
            number,
        };
        assert_eq!(warnings(&[text.to_owned()], Some(asset)), [expected]);
    }

    #[test]
    fn every_known_sentence_is_of_its_kind_for_every_asset() {
        for asset in Asset::ALL {
            for (kind, pattern) in SENTENCES {
                let text = pattern
                    .replace("{asset}", &format!("{} ({})", asset.name(), asset.symbol()))
                    .replace("{network}", asset.network())
                    .replace("{n}", "15");
                let number = pattern.contains("{n}").then_some(15);
                is(&format!("{text}."), asset, kind, number);
            }
        }
    }

    #[test]
    fn a_text_of_several_known_sentences_has_their_one_subject() {
        let only = "Send only Bitcoin (BTC) on the Bitcoin network to this address. Other assets, or BTC on another \
                    network, will be lost.";
        is(only, Asset::BTC, OnlyThisAsset, None);
        let late =
            "The price in BTC is held for 15 minutes. It may expire if your payment arrives later.";
        is(late, Asset::BTC, LatePrice, Some(15));
    }

    #[test]
    fn a_text_that_says_more_than_is_known_is_shown_as_it_is() {
        for text in [
            "",
            "Send only Bitcoin (BTC) on the Bitcoin network to this address. Add the memo 1234.",
            "Send only BTC to this address, never less than 0.001.",
            "Do not send only BTC to this address.",
            "Your payment is complete after 3 or more confirmations.",
            "Your payment is complete after -3 confirmations.",
            "Your payment is complete after 99999999999 confirmations.",
            // Two subjects, and two numbers: one sentence of the page would leave one out.
            "Send only BTC to this address. Pay within 15 minutes.",
            "The price is held for 15 minutes. The price is held for 20 minutes.",
        ] {
            is(text, Asset::BTC, WarningKind::Other, None);
        }
    }

    #[test]
    fn a_sentence_about_another_asset_or_network_is_not_taken_for_this_ones() {
        let text = "Send only USDT on the Tron network.";
        is(text, Asset::USDTTRC20, OnlyThisAsset, None);
        is(text, Asset::USDTERC20, WarningKind::Other, None);
        is("Send only ETH.", Asset::BTC, WarningKind::Other, None);
        let unknown = warnings(&["Send only BTC.".to_owned()], None);
        assert_eq!(unknown[0].kind, WarningKind::Other);
    }
}

//! The subjects of the gateway's warnings, by a few of their words. Pure.
//!
//! A page shows every warning as it came. The subject only decides whether the warning is open or folded, so a text of
//! which nothing is known is `other`, which is open.
//!
//! Source: payment-service.md, "Invoice": `warning_messages` are about "send only the right asset, confirmation
//! requirement, sufficient network fee, price may expire if payment arrives late". No sentence is shown there.

use WarningKind::{
    Confirmations, Expiry, LatePrice, NetworkFee, OnlyThisAsset, Other, WrongNetwork,
};
use florin_checkout_api::{Warning, WarningKind};

/// The first row with a word of the text decides. The rows above `Confirmations` are about lost money.
const WORDS: [(WarningKind, &[&str]); 7] = [
    (OnlyThisAsset, &["only"]),
    (WrongNetwork, &["another network", "wrong network"]),
    (Other, &["lost", "lose", "do not", "never", "memo", "tag"]),
    (Confirmations, &["confirmations"]),
    (NetworkFee, &["fee"]),
    (LatePrice, &["price"]),
    (Expiry, &["expire", "minutes"]),
];

pub(crate) fn warnings(texts: &[String]) -> Vec<Warning> {
    let warning = |text: &String| {
        let kind = kind(text);
        Warning {
            kind,
            text: text.clone(),
            number: number(kind, text),
        }
    };
    texts.iter().map(warning).collect()
}

fn kind(text: &str) -> WarningKind {
    let text = text.to_lowercase();
    let has_word =
        |(_, words): &&(WarningKind, &[&str])| words.iter().any(|word| text.contains(word));
    WORDS.iter().find(has_word).map_or(Other, |(kind, _)| *kind)
}

fn number(kind: WarningKind, text: &str) -> Option<u32> {
    if !matches!(kind, Confirmations | Expiry | LatePrice) {
        return None;
    }
    let is_digit = |letter: char| letter.is_ascii_digit();
    let mut numbers = text
        .split(|letter| !is_digit(letter))
        .filter(|digits| !digits.is_empty());
    let number = numbers.next()?.parse().ok()?;
    numbers.next().is_none().then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_keeps_its_text_and_only_what_loses_no_money_is_folded() {
        for (text, kind, number) in [
            (
                "Send only BTC to this address. Pay within 15 minutes.",
                OnlyThisAsset,
                None,
            ),
            (
                "Coins on another network do not arrive.",
                WrongNetwork,
                None,
            ),
            (
                "Do not forget the memo 1234: the price is lost.",
                Other,
                None,
            ),
            ("Mind the gap.", Other, None),
            ("", Other, None),
            ("Complete after 3 confirmations.", Confirmations, Some(3)),
            ("A low fee may delay it by 10 minutes.", NetworkFee, None),
            ("The price is held for 15 minutes.", LatePrice, Some(15)),
            ("The price is 19.90 for 15 minutes.", LatePrice, None),
            ("It expires in 99999999999 minutes.", Expiry, None),
        ] {
            let text = text.to_owned();
            let expected = Warning {
                kind,
                text: text.clone(),
                number,
            };
            assert_eq!(warnings(&[text]), [expected]);
        }
    }
}

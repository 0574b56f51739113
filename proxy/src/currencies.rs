//! What the service says it supports, held against the assets that are known here.
//!
//! The shape of GET /currencies is not shown (payment-service.md, "Endpoints listed by name only"). `Assumed:` it holds
//! the codes as texts, as members of objects, or as names of members, perhaps inside an envelope. An answer in which no
//! code is found would disprove it; then nothing is concluded.

use std::collections::BTreeSet;

use jiff::Timestamp;
use money::{Asset, CryptoCode};
use serde_json::Value;

/// Where an object says its code, the likeliest first.
const CODES: [&str; 6] = [
    "crypto_code",
    "code",
    "currency_code",
    "currency",
    "symbol",
    "asset",
];
/// What an envelope may be called.
const ENVELOPES: [&str; 6] = [
    "data",
    "currencies",
    "result",
    "items",
    "assets",
    "cryptocurrencies",
];
/// An envelope is in another one at most so often.
const MAX_DEPTH: u32 = 3;

/// What the last look at GET /currencies came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Currencies {
    /// Nobody has looked yet.
    #[default]
    NotAsked,
    /// There was no answer that could be read.
    NotKnown,
    /// There was one.
    Compared {
        /// When.
        at: Timestamp,
        /// What is offered and not known here: it cannot be paid with.
        unknown: Vec<String>,
        /// What is known here and not offered: customers are not shown it, since it has no price.
        not_offered: Vec<String>,
    },
}

impl Currencies {
    /// Holds an answer against the known assets; `None` when none of their codes is found in it: then it is more likely
    /// to be of another shape than to offer nothing.
    pub(crate) fn compare(answer: &str, at: Timestamp) -> Option<Self> {
        let answer: Value = serde_json::from_str(answer).ok()?;
        let known: BTreeSet<_> = Asset::ALL
            .iter()
            .map(|asset| asset.crypto_code().to_string())
            .collect();
        let offered = codes(&answer, 0).filter(|codes| !codes.is_disjoint(&known))?;
        Some(Self::Compared {
            at,
            unknown: offered.difference(&known).cloned().collect(),
            not_offered: known.difference(&offered).cloned().collect(),
        })
    }
}

fn codes(value: &Value, depth: u32) -> Option<BTreeSet<String>> {
    match value {
        Value::Array(items) => items.iter().map(code).collect(),
        Value::Object(members) => {
            let envelope = ENVELOPES.iter().find_map(|name| members.get(*name));
            match envelope {
                Some(inner) if depth < MAX_DEPTH => codes(inner, depth + 1),
                _ => members.keys().map(|name| checked(name)).collect(),
            }
        }
        _ => None,
    }
}

fn code(item: &Value) -> Option<String> {
    match item {
        Value::String(text) => checked(text),
        Value::Object(members) => {
            let found = CODES.iter().find_map(|name| members.get(*name)?.as_str());
            checked(found?)
        }
        _ => None,
    }
}

fn checked(text: &str) -> Option<String> {
    CryptoCode::parse(text).ok().map(|code| code.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [&str; 9] = [
        "BTC",
        "ETH",
        "USDTTRC20",
        "USDTERC20",
        "LTC",
        "TRX",
        "BNB",
        "BCH",
        "DOGE",
    ];

    fn compared(answer: &Value) -> Option<(Vec<String>, Vec<String>)> {
        match Currencies::compare(&answer.to_string(), Timestamp::UNIX_EPOCH)? {
            Currencies::Compared {
                unknown,
                not_offered,
                ..
            } => Some((unknown, not_offered)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn codes_are_found_in_every_likely_shape() {
        let objects: Vec<_> = ALL
            .iter()
            .map(|code| serde_json::json!({"name": "x", "code": code}))
            .collect();
        let by_code: serde_json::Map<_, _> = ALL
            .iter()
            .map(|code| ((*code).to_owned(), Value::Null))
            .collect();
        for shape in [
            serde_json::json!(ALL),
            serde_json::json!(objects),
            serde_json::json!(by_code),
            serde_json::json!({ "data": ALL }),
            serde_json::json!({ "data": { "currencies": objects } }),
        ] {
            assert_eq!(compared(&shape), Some((vec![], vec![])), "{shape}");
        }
    }

    #[test]
    fn differences_are_found_both_ways() {
        let offered = [
            "BTC",
            "ETH",
            "USDTTRC20",
            "USDTERC20",
            "LTC",
            "TRX",
            "BNB",
            "XMR",
        ];
        let different = compared(&serde_json::json!(offered)).unwrap();
        assert_eq!(
            different,
            (vec!["XMR".into()], vec!["BCH".into(), "DOGE".into()])
        );
    }

    #[test]
    fn nothing_is_concluded_from_what_holds_no_codes() {
        for shape in [
            serde_json::json!([]),
            serde_json::json!({}),
            serde_json::json!(7),
            serde_json::json!([7]),
            serde_json::json!([{ "name": "Bitcoin" }]),
            serde_json::json!({ "message": "OK" }),
        ] {
            assert_eq!(compared(&shape), None, "{shape}");
        }
        assert_eq!(Currencies::compare("<html>", Timestamp::UNIX_EPOCH), None);
    }
}

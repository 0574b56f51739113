//! The gateway's list of currencies, compared with the assets that are known here.
//!
//! The shape of GET /currencies is not shown (payment-service.md, "Endpoints listed by name only"). `Assumed:` it holds
//! the codes as texts, as members of objects, or as names of members, perhaps inside an envelope. A response in which no
//! code is found would disprove it; then nothing is concluded.

use std::collections::{BTreeMap, BTreeSet};

use florin_money::{Asset, CryptoCode};
use jiff::Timestamp;
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
/// Where an object says the asset's symbol, its name, and its network.
const SYMBOLS: [&str; 3] = ["asset", "symbol", "ticker"];
const NAMES: [&str; 3] = ["name", "asset_name", "currency_name"];
const NETWORKS: [&str; 4] = ["network", "network_name", "chain", "blockchain"];
/// Texts that are shown to a customer; longer ones are no names.
const MAX_SYMBOL_CHARS: usize = 24;
const MAX_NAME_CHARS: usize = 60;
/// An envelope is in another one at most so often.
const MAX_DEPTH: u32 = 3;

/// The result of the last GET /currencies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Currencies {
    /// Not requested yet.
    #[default]
    NotAsked,
    /// The response could not be read.
    NotKnown,
    /// The response was read.
    Compared {
        /// When.
        at: Timestamp,
        /// What is offered and not known here: it cannot be paid with.
        unknown: Vec<String>,
        /// What is known here and not offered: customers are not shown it, since it has no price.
        not_offered: Vec<String>,
        /// What the gateway calls the unknown ones, by code, where it says so.
        names: BTreeMap<String, Names>,
    },
}

/// What the gateway calls an asset; each absent where it does not say, or says what is no name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Names {
    /// `USDT`: at most 24 letters and digits, `_` and `-`.
    pub symbol: Option<String>,
    /// `Tether`: at most 60 characters.
    pub name: Option<String>,
    /// `Solana`: at most 60 characters.
    pub network: Option<String>,
}

impl Currencies {
    /// Holds a response against the known assets; `None` when none of their codes is found in it: then it is more likely
    /// to be of another shape than to offer nothing.
    pub(crate) fn compare(response: &str, at: Timestamp) -> Option<Self> {
        let response: Value = serde_json::from_str(response).ok()?;
        let known: BTreeSet<_> = Asset::ALL
            .iter()
            .map(|asset| asset.crypto_code().to_string())
            .collect();
        let offered = codes(&response, 0).filter(|codes| !codes.is_disjoint(&known))?;
        Some(Self::Compared {
            at,
            unknown: offered.difference(&known).cloned().collect(),
            not_offered: known.difference(&offered).cloned().collect(),
            names: names(&response, 0)
                .into_iter()
                .filter(|(code, _)| !known.contains(code))
                .collect(),
        })
    }

    /// Returns `true` if the gateway does not offer this known asset.
    pub(crate) fn lacks(&self, code: &CryptoCode) -> bool {
        match self {
            Self::Compared { not_offered, .. } => {
                not_offered.iter().any(|missing| missing == code.as_str())
            }
            Self::NotAsked | Self::NotKnown => false,
        }
    }

    /// What the gateway calls an asset that is not known here; nothing where it was not asked or does not say.
    pub(crate) fn names(&self, code: &CryptoCode) -> Names {
        match self {
            Self::Compared { names, .. } => names.get(code.as_str()).cloned().unwrap_or_default(),
            Self::NotAsked | Self::NotKnown => Names::default(),
        }
    }
}

/// What is named, by code: members of objects in a list, or of objects that are members by their code.
fn names(value: &Value, depth: u32) -> BTreeMap<String, Names> {
    match value {
        Value::Array(items) => items
            .iter()
            .filter_map(|item| Some((code(item)?, names_in(item))))
            .collect(),
        Value::Object(members) => {
            let envelope = ENVELOPES.iter().find_map(|name| members.get(*name));
            match envelope {
                Some(inner) if depth < MAX_DEPTH => names(inner, depth + 1),
                _ => members
                    .iter()
                    .map(|(code, item)| (code.clone(), names_in(item)))
                    .collect(),
            }
        }
        _ => BTreeMap::new(),
    }
}

fn names_in(item: &Value) -> Names {
    let member = |names: &[&str], is_name: fn(&str) -> bool| {
        let texts = names.iter().filter_map(|name| item.get(name)?.as_str());
        texts
            .map(str::trim)
            .find(|text| is_name(text))
            .map(str::to_owned)
    };
    let is_symbol = |text: &str| {
        let fits = (1..=MAX_SYMBOL_CHARS).contains(&text.len());
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        fits && text.bytes().all(is_plain)
    };
    let is_name = |text: &str| {
        let fits = (1..=MAX_NAME_CHARS).contains(&text.chars().count());
        fits && !text.chars().any(char::is_control)
    };
    Names {
        symbol: member(&SYMBOLS, is_symbol),
        name: member(&NAMES, is_name),
        network: member(&NETWORKS, is_name),
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

    fn compared(response: &Value) -> Option<(Vec<String>, Vec<String>)> {
        match Currencies::compare(&response.to_string(), Timestamp::UNIX_EPOCH)? {
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

    fn names_of(response: &Value, code: &str) -> Names {
        let found = Currencies::compare(&response.to_string(), Timestamp::UNIX_EPOCH).unwrap();
        found.names(&CryptoCode::parse(code).unwrap())
    }

    #[test]
    fn an_unknown_asset_is_called_what_the_gateway_calls_it() {
        let text = |text: &str| Some(text.to_owned());
        let named = Names {
            symbol: text("USDT"),
            name: text("Tether"),
            network: text("Solana"),
        };
        let sol = serde_json::json!({
            "crypto_code": "USDTSOL", "asset": "USDT", "name": "Tether", "network": "Solana",
        });
        let btc = serde_json::json!({ "crypto_code": "BTC", "network": "Bytecoin" });
        let list = serde_json::json!([btc, sol]);
        let enveloped = serde_json::json!({ "data": { "BTC": btc, "USDTSOL": sol } });
        for response in [list, enveloped] {
            assert_eq!(names_of(&response, "USDTSOL"), named);
            // Of a known asset nothing is believed.
            assert_eq!(names_of(&response, "BTC"), Names::default());
        }
        assert_eq!(
            names_of(&serde_json::json!(["BTC", "USDTSOL"]), "USDTSOL"),
            Names::default()
        );
        let code = CryptoCode::parse("USDTSOL").unwrap();
        assert_eq!(Currencies::NotKnown.names(&code), Names::default());
    }

    #[test]
    fn what_is_no_name_is_not_shown() {
        let long = "x".repeat(61);
        for (symbol, name, network) in [
            ("US DT", "Tether\u{7}", ""),
            (&long, &long, &long),
            ("<b>", " ", "Sol\nana"),
        ] {
            let odd = serde_json::json!([
                { "code": "BTC" },
                { "code": "USDTSOL", "symbol": symbol, "name": name, "network": network },
            ]);
            assert_eq!(names_of(&odd, "USDTSOL"), Names::default(), "{odd}");
        }
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

//! The gateway's list of currencies, compared with the assets that are known here.
//!
//! The shape of GET /currencies is not shown (payment-service.md, "Endpoints listed by name only"). `Assumed:` all codes
//! stand in members of one name, in one list, or as the names of members. A response without a known code would disprove
//! it; then nothing is concluded.

use std::collections::{BTreeMap, BTreeSet};

use florin_money::{Asset, CryptoCode};
use jiff::Timestamp;
use serde_json::Value;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Currencies {
    pub(crate) at: Timestamp,
    /// What is offered and not known here: it cannot be paid with.
    pub(crate) unknown: Vec<String>,
    /// What is known here and not offered: customers are not shown it, since it has no price.
    pub(crate) not_offered: Vec<String>,
}

impl Currencies {
    /// Holds a response against the known assets; `None` when none of their codes is found in it: then it is more likely
    /// to be of another shape than to offer nothing.
    pub(crate) fn compare(response: &str, at: Timestamp) -> Option<Self> {
        let response: Value = serde_json::from_str(response).ok()?;
        let known: BTreeSet<String> = Asset::ALL
            .iter()
            .map(|asset| asset.crypto_code().to_string())
            .collect();
        let mut places = BTreeMap::new();
        collect_codes(&response, "", &mut places);
        let known_among = |codes: &BTreeSet<String>| codes.intersection(&known).count();
        let offered = places.into_values().max_by_key(known_among)?;
        (known_among(&offered) > 0).then(|| Self {
            at,
            unknown: offered.difference(&known).cloned().collect(),
            not_offered: known.difference(&offered).cloned().collect(),
        })
    }

    pub(crate) fn lacks(&self, code: &CryptoCode) -> bool {
        let mut not_offered = self.not_offered.iter();
        not_offered.any(|missing| missing == code.as_str())
    }
}

/// Collects every text that has the form of a code, by the name of the member that holds it. The names of an object's
/// members are collected as well.
fn collect_codes(value: &Value, member: &str, places: &mut BTreeMap<String, BTreeSet<String>>) {
    let mut add = |place: String, text: &str| {
        if let Ok(code) = CryptoCode::parse(text) {
            places.entry(place).or_default().insert(code.to_string());
        }
    };
    match value {
        Value::String(text) => add(member.to_owned(), text),
        Value::Array(items) => {
            for item in items {
                collect_codes(item, member, places);
            }
        }
        Value::Object(members) => {
            for name in members.keys() {
                add(format!("names in {member}"), name);
            }
            for (name, value) in members {
                collect_codes(value, name, places);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const OFFERED: &str = "BTC ETH USDTTRC20 USDTERC20 LTC TRX BNB XMR";

    #[test]
    fn differences_are_found_both_ways_in_every_likely_shape() {
        let codes: Vec<&str> = OFFERED.split(' ').collect();
        let object = |code| json!({"symbol": "USDT", "name": "BTC", "code": code});
        let objects: Vec<_> = codes.iter().map(object).collect();
        let by_code = codes.iter().map(|code| (*code, json!({"name": "x"})));
        let by_code: BTreeMap<_, _> = by_code.collect();
        for shape in [
            json!(codes),
            json!(objects),
            json!(by_code),
            json!({ "message": "OK", "data": codes }),
            json!({ "data": { "currencies": objects } }),
        ] {
            let at = Timestamp::UNIX_EPOCH;
            let expected = Currencies {
                at,
                unknown: vec!["XMR".into()],
                not_offered: vec!["BCH".into(), "DOGE".into()],
            };
            let found = Currencies::compare(&shape.to_string(), at);
            assert_eq!(found, Some(expected), "{shape}");
        }
    }

    #[test]
    fn nothing_is_concluded_from_what_holds_no_known_code() {
        let shapes = ["[]", "{}", "7", r#"["XMR"]"#, r#"{"message": "OK"}"#];
        for shape in shapes.into_iter().chain(["<html>"]) {
            let found = Currencies::compare(shape, Timestamp::UNIX_EPOCH);
            assert_eq!(found, None, "{shape}");
        }
    }
}

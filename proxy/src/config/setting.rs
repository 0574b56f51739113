//! An effective setting, and which settings differ between two configurations.

use std::collections::BTreeMap;
use std::fmt;

/// A key and what it is set to.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The key as problems name it: `store.demo.product.ebook.price`.
    pub key: String,
    /// What may be shown of its value.
    pub value: Shown,
    /// Differs for different values; of a secret in a file, for different contents.
    pub(crate) fingerprint: [u8; 32],
}

/// What may be shown of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The value.
    Value(String),
    /// What holds where nothing is set.
    Default(String),
    /// Whether the secret is set.
    Secret(bool),
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(text) => f.write_str(text),
            Self::Default(text) if text == "none" => f.write_str(text),
            Self::Default(text) => write!(f, "{text} (default)"),
            Self::Secret(true) => f.write_str("set"),
            Self::Secret(false) => f.write_str("not set"),
        }
    }
}

/// The keys whose values differ, those that one of the two lists alone has included.
pub(crate) fn changed_keys(before: &[Setting], after: &[Setting]) -> Vec<String> {
    let by_key = |settings: &[Setting]| -> BTreeMap<String, [u8; 32]> {
        let pairs = settings.iter();
        pairs
            .map(|setting| (setting.key.clone(), setting.fingerprint))
            .collect()
    };
    let (before, after) = (by_key(before), by_key(after));
    let gone = before.keys().filter(|key| !after.contains_key(*key));
    let changed = after
        .iter()
        .filter(|(key, value)| before.get(*key) != Some(*value));
    let mut keys: Vec<String> = changed.map(|(key, _)| key).chain(gone).cloned().collect();
    keys.sort();
    keys
}

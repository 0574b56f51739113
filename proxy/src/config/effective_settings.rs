//! The effective settings: every key of the reference with its value or default, and of secrets only whether they are set.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value as Schema;
use sha2::{Digest as _, Sha256};
use toml::{Table, Value};
use url::Url;

use crate::config::schema::{Key, Layout, Path, layout};
use crate::config::web_address::Origin;

#[derive(Clone, Debug)]
pub(crate) struct Setting {
    /// As problems name it: `store.demo.product.ebook.price`.
    pub(crate) key: String,
    pub(crate) value: Shown,
    /// Differs for different values; of a secret in a file, for different contents.
    pub(crate) fingerprint: [u8; 32],
    pub(crate) files: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    Value(String),
    /// What holds where nothing is set.
    Default(String),
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
    let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let changed = keys.into_iter();
    changed
        .filter(|key| before.get(*key) != after.get(*key))
        .cloned()
        .collect()
}

pub(crate) fn settings(schema: &Schema, table: &Table) -> Vec<Setting> {
    let mut settings = Vec::new();
    list_table(&mut settings, schema, table, &Path::default());
    settings
}

fn list_table(settings: &mut Vec<Setting>, schema: &Schema, table: &Table, path: &Path) {
    let Layout { keys, tables } = layout(schema);
    for key in keys {
        let (path, value) = (path.key(key.name), table.get(key.name));
        settings.push(if key.takes_file {
            secret(&path, value, table.get(&format!("{}_file", key.name)))
        } else {
            plain(&path, &key, value)
        });
    }
    for below in tables {
        let (path, value) = (path.key(below.name), table.get(below.name));
        let tables: Vec<_> = match value {
            Some(Value::Table(table)) => vec![(path.clone(), table.clone())],
            Some(Value::Array(list)) => list
                .iter()
                .enumerate()
                .filter_map(|(n, value)| Some((path.element(n, value), value.as_table()?.clone())))
                .collect(),
            None if !below.is_list && !has_required_key(below.schema) => {
                vec![(path.clone(), Table::new())]
            }
            _ => Vec::new(),
        };
        if tables.is_empty() {
            settings.push(absent(&path, "none"));
        }
        for (path, table) in tables {
            list_table(settings, below.schema, &table, &path);
        }
    }
}

fn has_required_key(schema: &Schema) -> bool {
    layout(schema)
        .keys
        .iter()
        .any(|key| key.default() == "required")
}

fn plain(path: &Path, key: &Key<'_>, value: Option<&Value>) -> Setting {
    let Some(value) = value else {
        return absent(path, &key.default());
    };
    let written = text(value);
    let shown = match key.schema["x-shown"].as_str() {
        // The path may be a secret.
        Some("origin") => Url::parse(&written).map_or_else(
            |_| "set".to_owned(),
            |url| Origin::of(&url).as_str().to_owned(),
        ),
        _ => written.clone(),
    };
    Setting {
        value: Shown::Value(shown),
        fingerprint: Sha256::digest(written.as_bytes()).into(),
        ..absent(path, "")
    }
}

fn absent(path: &Path, default: &str) -> Setting {
    Setting {
        key: path.to_string(),
        value: Shown::Default(default.to_owned()),
        fingerprint: [0; 32],
        files: Vec::new(),
    }
}

/// A secret, or two. A file that cannot be read is a problem that the check reports.
fn secret(path: &Path, value: Option<&Value>, file: Option<&Value>) -> Setting {
    let (values, files) = (
        value.map(texts).unwrap_or_default(),
        file.map(texts).unwrap_or_default(),
    );
    let mut digest = Sha256::new();
    for text in &values {
        digest.update(Sha256::digest(text));
    }
    for file in &files {
        let content = std::fs::read(file).unwrap_or_default();
        digest.update(Sha256::digest(content.trim_ascii_end()));
    }
    Setting {
        value: Shown::Secret(!values.is_empty() || !files.is_empty()),
        fingerprint: digest.finalize().into(),
        files: files.into_iter().map(str::to_owned).collect(),
        ..absent(path, "")
    }
}

fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) if list.is_empty() => "none".to_owned(),
        Value::Array(list) => list.iter().map(text).collect::<Vec<_>>().join(", "),
        Value::Integer(number) => number.to_string(),
        Value::Boolean(truth) => truth.to_string(),
        // No key takes another kind.
        Value::Float(_) | Value::Datetime(_) | Value::Table(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::server::schema;

    fn listed(text: &str) -> Vec<Setting> {
        settings(&schema(), &text.parse().unwrap())
    }

    const STORE: &str = r#"
[gateway]
api_secret = "canary-1"
[[store]]
id = "demo"
secret_key = ["canary-2", "canary-3"]
[[store.webhook]]
url = "https://shop.example/canary-4"
secret = "canary-5"
[[store.product]]
sku = "ebook"
price = "19.90"
"#;

    #[test]
    fn values_and_defaults_are_shown_and_secrets_are_not() {
        let settings = listed(STORE);
        for (key, shown) in [
            ("store.demo.product.ebook.price", "19.90"),
            ("gateway.quote_ttl_seconds", "60 (default)"),
            ("gateway.api_secret", "set"),
            ("store.demo.secret_key", "set"),
            ("store.demo.webhook.0.url", "https://shop.example"),
            ("operator", "none"),
        ] {
            let found = settings.iter().find(|setting| setting.key == key);
            assert_eq!(found.unwrap().value.to_string(), shown, "{key}");
        }
        assert!(!format!("{settings:?}").contains("canary"));
    }

    #[test]
    fn a_change_is_named_by_its_key_and_a_secret_by_its_content() {
        let before = listed(STORE);
        assert_eq!(changed_keys(&before, &listed(STORE)), [""; 0]);
        let after = listed(&STORE.replace("19.90", "20.00").replace("canary-3", "other"));
        let changed = ["store.demo.product.ebook.price", "store.demo.secret_key"];
        assert_eq!(changed_keys(&before, &after), changed);
        let file = tempfile::NamedTempFile::new().unwrap();
        let text = format!("[gateway]\napi_secret_file = {:?}\n", file.path());
        std::fs::write(file.path(), "one\n").unwrap();
        let one = listed(&text);
        std::fs::write(file.path(), "two\n").unwrap();
        assert_eq!(changed_keys(&one, &listed(&text)), ["gateway.api_secret"]);
        // A key that is gone is named too.
        let keys = changed_keys(&before, &listed("[gateway]\napi_secret = \"canary-1\"\n"));
        let is_named = |key: &str| keys.iter().any(|it| it == key);
        assert!(is_named("store.demo.id") && is_named("store"), "{keys:?}");
    }
}

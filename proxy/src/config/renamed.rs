//! Keys and variables by the names that they had in early versions. Each is refused with its new name.

use toml::{Table, Value};

use crate::config::problems::Findings;
use crate::config::shape::{Path, Text};

/// The old name of each key, then the new one. `*` is each table of a list. Keys of a table come before the table.
const KEYS: [(&str, &str); 14] = [
    ("service.quote_seconds", "gateway.quote_ttl_seconds"),
    ("service.watch_seconds", "gateway.poll_interval_seconds"),
    ("service", "gateway"),
    ("gateway.quote_seconds", "gateway.quote_ttl_seconds"),
    ("gateway.watch_seconds", "gateway.poll_interval_seconds"),
    ("opens_per_minute", "rate_limit.orders_per_minute_per_ip"),
    ("store.*.service_access", "gateway_access"),
    ("store.*.theme.ground", "theme.background"),
    ("store.*.theme.side", "theme.surface"),
    ("store.*.theme.ink", "theme.text"),
    ("store.*.theme.soft", "theme.text_muted"),
    ("store.*.theme.line", "theme.border"),
    ("store.*.theme.warn", "theme.warning"),
    ("store.*.theme.bad", "theme.danger"),
];

/// The old name of each variable, then the new one.
const VARIABLES: [(&str, &str); 8] = [
    ("FLORIN_SERVICE_URL", "FLORIN_GATEWAY__URL"),
    (
        "FLORIN_SERVICE_CHECKOUT_URL",
        "FLORIN_GATEWAY__CHECKOUT_URL",
    ),
    ("FLORIN_SERVICE_API_KEY", "FLORIN_GATEWAY__API_KEY"),
    (
        "FLORIN_SERVICE_API_KEY_FILE",
        "FLORIN_GATEWAY__API_KEY_FILE",
    ),
    ("FLORIN_SERVICE_API_SECRET", "FLORIN_GATEWAY__API_SECRET"),
    (
        "FLORIN_SERVICE_API_SECRET_FILE",
        "FLORIN_GATEWAY__API_SECRET_FILE",
    ),
    ("FLORIN_CALLBACK_TOKEN", "FLORIN_GATEWAY__CALLBACK_TOKEN"),
    (
        "FLORIN_CALLBACK_TOKEN_FILE",
        "FLORIN_GATEWAY__CALLBACK_TOKEN_FILE",
    ),
];

/// The new name of a variable that has an old one.
pub(crate) fn variable(name: &str) -> Option<&'static str> {
    let renamed = VARIABLES.iter().find(|(old, _)| *old == name);
    renamed.map(|(_, new)| *new)
}

/// Reports every old key and moves its value to the new key, so that the other checks find nothing missing.
pub(crate) fn keys(findings: &mut Findings, text: &Text<'_>, settings: &mut Table) {
    for (old, new) in KEYS {
        let Some((list, old)) = old.split_once(".*.") else {
            rename(findings, text, settings, &Path::default(), old, new);
            continue;
        };
        let path = Path::default().key(list);
        let list = settings.get_mut(list).and_then(Value::as_array_mut);
        for (n, value) in list.into_iter().flatten().enumerate() {
            let path = path.element(n, value);
            if let Value::Table(table) = value {
                rename(findings, text, table, &path, old, new);
            }
        }
    }
}

fn rename(
    findings: &mut Findings,
    text: &Text<'_>,
    table: &mut Table,
    path: &Path,
    old: &str,
    new: &str,
) {
    let Some(value) = remove(table, old) else {
        return;
    };
    let path_of = |key: &str| key.split('.').fold(path.clone(), |path, key| path.key(key));
    let (old, line) = (path_of(old), text.line(&path_of(old)));
    let message = format!("is named {} now{line}", path_of(new));
    findings.add(&old.to_string(), message);
    insert(table, new, value);
}

fn remove(table: &mut Table, key: &str) -> Option<Value> {
    match key.split_once('.') {
        None => table.remove(key),
        Some((key, rest)) => remove(table.get_mut(key)?.as_table_mut()?, rest),
    }
}

/// Sets a key that is not set yet; the keys of a table each.
fn insert(table: &mut Table, key: &str, value: Value) {
    if let Some((key, rest)) = key.split_once('.') {
        let table = table
            .entry(key)
            .or_insert_with(|| Value::Table(Table::new()));
        if let Value::Table(table) = table {
            insert(table, rest, value);
        }
        return;
    }
    match (table.get_mut(key), value) {
        (None, value) => {
            table.insert(key.to_owned(), value);
        }
        (Some(Value::Table(known)), Value::Table(more)) => {
            for (key, value) in more {
                insert(known, &key, value);
            }
        }
        (Some(_), _) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::environment;
    use crate::config::schema::{element, property, schema};

    #[test]
    fn every_new_name_exists_and_no_old_one_does() {
        let schema = schema();
        let find = |list: Option<&str>, key: &str| {
            let start = match list {
                Some(list) => element(property(&schema, list)?),
                None => Some(&schema),
            };
            key.split('.').try_fold(start?, property)
        };
        for (old, new) in KEYS {
            let (list, old) = match old.split_once(".*.") {
                Some((list, old)) => (Some(list), old),
                None => (None, old),
            };
            assert!(find(list, old).is_none(), "{old}");
            assert!(find(list, new).is_some(), "{new}");
        }
        for (old, new) in VARIABLES {
            let find = |name| environment::key_of(&schema, name);
            assert!(find(old).is_none(), "{old}");
            assert!(find(new).is_some(), "{new}");
        }
    }
}

//! `florin-proxy config-reference`: every key with its variable, default and reason, from the configuration's types.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::config::environment::variable;
use crate::config::schema::{Kind, element, schema, taking};

/// Characters of a line.
const WIDTH: usize = 120;

/// The reference as JSON: an array of `key`, `variable`, `default`, `description`, and whether it also takes a file.
pub fn reference_json() -> Value {
    let mut keys = Vec::new();
    list_keys(&mut keys, &schema(), &[]);
    Value::Array(keys)
}

fn list_keys(keys: &mut Vec<Value>, schema: &Value, path: &[&str]) {
    let Some(properties) = schema["properties"].as_object() else {
        return;
    };
    for (key, schema) in properties {
        let stem = key.strip_suffix("_file");
        if stem.is_some_and(|stem| properties.contains_key(stem)) {
            continue;
        }
        let path = [path, &[key]].concat();
        if let Some((is_list, below)) = table(schema) {
            let path = if is_list {
                [&path[..], &["0"]].concat()
            } else {
                path
            };
            list_keys(keys, below, &path);
            continue;
        }
        let names = path.iter().filter(|part| **part != "0");
        keys.push(json!({
            "key": names.copied().collect::<Vec<_>>().join("."),
            "variable": variable(&path),
            "default": schema["x-default"],
            "description": sentences(schema),
            "takes_file": properties.contains_key(&format!("{key}_file")),
        }));
    }
}

/// The reference as Markdown.
pub fn reference() -> String {
    let mut page = String::new();
    write_keys(&mut page, &schema(), &[]).expect("a text takes every text");
    page.trim_start().to_owned()
}

/// Writes the keys of a table, then the tables below it.
fn write_keys(page: &mut String, schema: &Value, path: &[&str]) -> std::fmt::Result {
    let Some(properties) = schema["properties"].as_object() else {
        return Ok(());
    };
    // By name: whether a map of serde_json keeps another order depends on who else is compiled along.
    let properties: BTreeMap<&str, &Value> = properties
        .iter()
        .map(|(key, schema)| (key.as_str(), schema))
        .collect();
    let names = path.iter().filter(|part| **part != "0");
    let names: Vec<&str> = names.copied().collect();
    for (key, schema) in &properties {
        let stem = key.strip_suffix("_file");
        let is_file = stem.is_some_and(|stem| properties.contains_key(stem));
        if is_file || table(schema).is_some() {
            continue;
        }
        let name = [&names[..], &[key]].concat().join(".");
        let variable = variable(&[path, &[key]].concat());
        let default = match &schema["x-default"] {
            Value::String(text) if text == "required" => text.clone(),
            Value::String(text) => format!("default: {text}"),
            other => format!("default: {other}"),
        };
        let sentences = sentences(schema);
        let mut item = format!("- `{name}`, `{variable}` ({default}): {sentences}");
        if properties.contains_key(format!("{key}_file").as_str()) {
            write!(
                item,
                " Or `{name}_file`, `{variable}_FILE`: a file with it."
            )?;
        }
        page.push_str(&wrapped(&item));
    }
    for (key, schema) in &properties {
        let Some((is_list, below)) = table(schema) else {
            continue;
        };
        let names = [&names[..], &[key]].concat().join(".");
        let heading = if is_list {
            format!("[[{names}]]")
        } else {
            format!("[{names}]")
        };
        writeln!(page, "\n### `{heading}`\n\n{}\n", sentences(below))?;
        let number: &[&str] = if is_list { &["0"] } else { &[] };
        write_keys(page, below, &[path, &[key], number].concat())?;
    }
    Ok(())
}

/// The table below a key, and whether there is a list of them.
pub(crate) fn table(schema: &Value) -> Option<(bool, &Value)> {
    let in_list = || Some((true, taking(element(schema)?, Kind::Table)?));
    let alone = taking(schema, Kind::Table).map(|table| (false, table));
    alone.or_else(in_list)
}

/// An item of a list in lines of at most [`WIDTH`] characters, where no word is longer.
fn wrapped(item: &str) -> String {
    let mut lines = String::new();
    let mut width = 0;
    for word in item.split(' ') {
        let chars = word.chars().count();
        if width > 0 && width + 1 + chars > WIDTH {
            lines.push_str("\n ");
            width = 1;
        }
        if width > 0 {
            lines.push(' ');
            width += 1;
        }
        lines.push_str(word);
        width += chars;
    }
    lines.push('\n');
    lines
}

/// The documentation of a key or a table, on one line.
pub(crate) fn sentences(schema: &Value) -> String {
    let text = schema["description"].as_str().unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

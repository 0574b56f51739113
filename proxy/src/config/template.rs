//! A complete configuration file, as `florin-proxy init` writes it: the given values, and every other key as a comment with
//! its default, from the configuration's types.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use crate::config::reference::{sentences, table};
use crate::config::schema::{Kind, schema, taking};

/// Characters of a line.
const WIDTH: usize = 110;

/// A value of the file: the key as in the reference (`store.webhook.url`), and what it is set to.
pub type Given = (&'static str, String);

/// Writes the file. `values` are texts; their order is that of their keys in each table, and of the tables.
pub fn template(title: &str, values: &[Given]) -> String {
    let mut page = wrapped(title);
    write_table(&mut page, &schema(), "", values).expect("a text takes every text");
    page
}

/// Writes the keys of a table, then the tables below it.
fn write_table(
    page: &mut String,
    schema: &Value,
    path: &str,
    values: &[Given],
) -> std::fmt::Result {
    let Some(properties) = schema["properties"].as_object() else {
        return Ok(());
    };
    // By name: the order of a map of serde_json depends on the features of all packages.
    let properties: BTreeMap<&str, &Value> = properties
        .iter()
        .map(|(key, schema)| (key.as_str(), schema))
        .collect();
    let name_of = |key: &str| match path {
        "" => key.to_owned(),
        path => format!("{path}.{key}"),
    };
    // How early a value of this key, or below it, is given.
    let place = |key: &str| {
        let name = name_of(key);
        values
            .iter()
            .position(|(given, _)| {
                let rest = given.strip_prefix(name.as_str());
                rest.is_some_and(|rest| ["", "_file"].contains(&rest) || rest.starts_with('.'))
            })
            .unwrap_or(usize::MAX)
    };
    let mut keys: Vec<&str> = properties.keys().copied().collect();
    keys.sort_by_key(|key| place(key));
    for key in &keys {
        let schema = properties[key];
        let stem = key.strip_suffix("_file");
        let is_file = stem.is_some_and(|stem| properties.contains_key(stem));
        if is_file || table(schema).is_some() {
            continue;
        }
        let file_key = format!("{key}_file");
        let file = given(values, &name_of(&file_key));
        if let Some(file) = file {
            write_key(page, &file_key, schema, Some(file), false)?;
            continue;
        }
        let has_file = properties.contains_key(file_key.as_str());
        write_key(page, key, schema, given(values, &name_of(key)), has_file)?;
    }
    for key in &keys {
        let Some((is_list, below)) = table(properties[key]) else {
            continue;
        };
        let name = name_of(key);
        let heading = if is_list {
            format!("[[{name}]]")
        } else {
            format!("[{name}]")
        };
        let mark = if place(key) == usize::MAX { "#" } else { "" };
        writeln!(page, "\n{}{mark}{heading}", wrapped(&sentences(below)))?;
        write_table(page, below, &name, values)?;
    }
    Ok(())
}

fn write_key(
    page: &mut String,
    key: &str,
    schema: &Value,
    given: Option<&str>,
    has_file: bool,
) -> std::fmt::Result {
    let default = match &schema["x-default"] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut comment = sentences(schema);
    if has_file {
        write!(comment, " Or `{key}_file`: a file with it.")?;
    }
    if given.is_none() && default != "required" {
        write!(comment, " Default: {default}.")?;
    }
    page.push('\n');
    page.push_str(&wrapped(&comment));
    match given {
        Some(value) => writeln!(page, "{key} = {}", literal(schema, value)),
        None => writeln!(page, "#{key} = {}", sample(schema, &default)),
    }
}

fn given<'a>(values: &'a [Given], name: &str) -> Option<&'a str> {
    let found = values.iter().find(|(given, _)| *given == name);
    found.map(|(_, value)| value.as_str())
}

/// A value as TOML. Numbers and truth values are written as they are; a list of texts has one element.
fn literal(schema: &Value, value: &str) -> String {
    let takes = |kind| taking(schema, kind).is_some();
    // A string of JSON is one of TOML.
    let text = || Value::from(value).to_string();
    if takes(Kind::Text) {
        text()
    } else if takes(Kind::List) {
        format!("[{}]", text())
    } else {
        value.to_owned()
    }
}

/// What stands in the comment of a key: its default where it is a value, else a placeholder.
fn sample(schema: &Value, default: &str) -> String {
    let takes = |kind| taking(schema, kind).is_some();
    if takes(Kind::Text) {
        let is_value = !default.contains(' ') && !["none", "required"].contains(&default);
        Value::from(if is_value { default } else { "…" }).to_string()
    } else if takes(Kind::Whole) {
        default.parse::<u64>().unwrap_or_default().to_string()
    } else if takes(Kind::List) {
        "[]".to_owned()
    } else {
        default.starts_with("true").to_string()
    }
}

/// A comment in lines of at most [`WIDTH`] characters, where no word is longer.
fn wrapped(text: &str) -> String {
    let mut lines = String::new();
    let mut width = 0;
    for word in text.split_whitespace() {
        let chars = word.chars().count();
        if width == 0 || width + 1 + chars > WIDTH {
            lines.push_str(if width == 0 { "# " } else { "\n# " });
            width = 2;
        } else {
            lines.push(' ');
            width += 1;
        }
        lines.push_str(word);
        width += chars;
    }
    lines.push('\n');
    lines
}

#[cfg(test)]
mod tests {
    use toml::Table;

    use super::*;
    use crate::config::reference::reference;

    #[test]
    fn every_key_is_in_the_file_and_is_valid_without_its_mark() {
        let values = [
            ("store.id", "demo".to_owned()),
            ("store.webhook.url", "https://shop.example/\"x\"".to_owned()),
        ];
        let page = template("A file.", &values);
        let parsed: Table = page.parse().unwrap();
        let url = &parsed["store"][0]["webhook"]["url"];
        assert_eq!(url.as_str(), Some("https://shop.example/\"x\""));
        assert!(!parsed.contains_key("listen"));
        let is_setting = |line: &&str| line.starts_with('#') && !line.starts_with("# ");
        let lines = page
            .lines()
            .map(|line| match Some(line).filter(is_setting) {
                Some(line) => &line[1..],
                None => line,
            });
        let all: Table = lines.collect::<Vec<_>>().join("\n").parse().unwrap();
        let mut count = 0;
        for line in reference().lines().filter(|line| line.starts_with("- `")) {
            let name = line[3..].split('`').next().unwrap();
            let mut value = toml::Value::Table(all.clone());
            for part in name.split('.') {
                if let toml::Value::Array(list) = &value {
                    value = list[0].clone();
                }
                let next = value.get(part);
                value = next.unwrap_or_else(|| panic!("{name} is missing")).clone();
            }
            count += 1;
        }
        assert!(count > 50, "the keys were not found");
    }
}

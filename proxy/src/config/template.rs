//! A complete configuration file, as `florin-proxy init` writes it: the given values, and every other key as a comment with
//! its default, from the configuration's types.

use std::fmt::Write as _;

use serde_json::Value;

use crate::config::schema::{Key, Kind, Layout, layout, schema_for, sentences, wrapped};
use crate::config::server::schema;

/// Characters of a line.
const WIDTH: usize = 110;

/// A value of the file: the key as in the reference (`store.webhook.url`), and what it is set to.
pub type Given = (&'static str, String);

/// Writes the file. `values` are texts; their order is that of their keys in each table, and of the tables.
pub fn template(title: &str, values: &[Given]) -> String {
    let mut page = comment(title);
    write_table(&mut page, &schema(), "", values).expect("a text takes every text");
    page
}

fn write_table(
    page: &mut String,
    schema: &Value,
    path: &str,
    values: &[Given],
) -> std::fmt::Result {
    let name_of = |key: &str| match path {
        "" => key.to_owned(),
        path => format!("{path}.{key}"),
    };
    // How early a value of this key, or below it, is given.
    let place = |key: &str| {
        let name = name_of(key);
        let is_below = |(given, _): &Given| {
            let rest = given.strip_prefix(name.as_str());
            rest.is_some_and(|rest| ["", "_file"].contains(&rest) || rest.starts_with('.'))
        };
        values.iter().position(is_below).unwrap_or(usize::MAX)
    };
    let Layout {
        mut keys,
        mut tables,
    } = layout(schema);
    keys.sort_by_key(|key| place(key.name));
    for key in keys {
        let file_key = format!("{}_file", key.name);
        match given(values, &name_of(&file_key)) {
            Some(file) => write_key(page, &key, &file_key, Some(file))?,
            None => write_key(page, &key, key.name, given(values, &name_of(key.name)))?,
        }
    }
    tables.sort_by_key(|table| place(table.name));
    for table in tables {
        let name = name_of(table.name);
        let heading = if table.is_list {
            format!("[[{name}]]")
        } else {
            format!("[{name}]")
        };
        let mark = if place(table.name) == usize::MAX {
            "#"
        } else {
            ""
        };
        let about = comment(&sentences(table.schema));
        writeln!(page, "\n{about}{mark}{heading}")?;
        write_table(page, table.schema, &name, values)?;
    }
    Ok(())
}

/// Writes a key, or the `_file` form of it, by its `name`.
fn write_key(
    page: &mut String,
    key: &Key<'_>,
    name: &str,
    given: Option<&str>,
) -> std::fmt::Result {
    let default = key.default();
    let mut about = sentences(key.schema);
    if key.takes_file && name == key.name {
        write!(about, " Or `{name}_file`: a file with it.")?;
    }
    if given.is_none() && default != "required" {
        write!(about, " Default: {default}.")?;
    }
    page.push('\n');
    page.push_str(&comment(&about));
    match given {
        Some(value) => writeln!(page, "{name} = {}", literal(key.schema, value)),
        None => writeln!(page, "#{name} = {}", sample(key.schema, &default)),
    }
}

fn comment(text: &str) -> String {
    wrapped(text, ["# ", "# "], WIDTH)
}

fn given<'a>(values: &'a [Given], name: &str) -> Option<&'a str> {
    let found = values.iter().find(|(given, _)| *given == name);
    found.map(|(_, value)| value.as_str())
}

/// A value as TOML. Numbers and truth values are written as they are; a list of texts has one element.
fn literal(schema: &Value, value: &str) -> String {
    let takes = |kind| schema_for(schema, kind).is_some();
    // A string of JSON is one of TOML.
    let text = || Value::from(value).to_string();
    if takes(Kind::String) {
        text()
    } else if takes(Kind::List) {
        format!("[{}]", text())
    } else {
        value.to_owned()
    }
}

/// What stands in the comment of a key: its default where it is a value, else a placeholder.
fn sample(schema: &Value, default: &str) -> String {
    let takes = |kind| schema_for(schema, kind).is_some();
    if takes(Kind::String) {
        let is_value = !default.contains(' ') && !["none", "required"].contains(&default);
        Value::from(if is_value { default } else { "…" }).to_string()
    } else if takes(Kind::Integer) {
        default.parse::<u64>().unwrap_or_default().to_string()
    } else if takes(Kind::List) {
        "[]".to_owned()
    } else {
        default.starts_with("true").to_string()
    }
}

#[cfg(test)]
mod tests {
    use toml::Table;

    use super::*;
    use crate::config::reference::reference_json;

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
        let keys = reference_json();
        let keys = keys.as_array().unwrap();
        assert!(keys.len() > 50, "the keys were not found");
        for key in keys {
            assert!(!key["default"].is_null(), "{key} has no default");
            let mut value = toml::Value::Table(all.clone());
            for part in key["key"].as_str().unwrap().split('.') {
                if let toml::Value::Array(list) = &value {
                    value = list[0].clone();
                }
                let next = value.get(part);
                value = next.unwrap_or_else(|| panic!("{key} is missing")).clone();
            }
        }
    }
}

//! The configuration's types as texts: `florin-proxy config-reference`, every key with its variable, default and reason; and a
//! complete file, as `florin-proxy init` writes it, with the given values and every other key as a comment.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::config::schema::{Key, Kind, Layout, layout, schema_for, sentences, wrapped};
use crate::config::server::schema;
use crate::config::source::variable;

const WIDTH: usize = 120;

/// Receives a table, the names of the tables that lead to it, `0` after that of a list, and its keys.
type Visit<'a, 'v> = dyn FnMut(&'a Value, &[&'a str], Vec<Key<'a>>) + 'v;

/// Calls `visit` with each table, the tables below it after it; keys and tables in the order of their `place`.
fn each_table<'a>(
    schema: &'a Value,
    path: &[&'a str],
    place: &dyn Fn(&str) -> usize,
    visit: &mut Visit<'a, '_>,
) {
    let Layout {
        mut keys,
        mut tables,
    } = layout(schema);
    let place_of = |name: &str| place(&name_of(&[path, &[name]].concat()));
    keys.sort_by_key(|key| place_of(key.name));
    tables.sort_by_key(|table| place_of(table.name));
    visit(schema, path, keys);
    for table in tables {
        let mut path = [path, &[table.name]].concat();
        if table.is_list {
            path.push("0");
        }
        each_table(table.schema, &path, place, visit);
    }
}

/// `[gateway]`, `[[store]]`; `None` of the root.
fn heading(path: &[&str]) -> Option<String> {
    let name = name_of(path);
    Some(match *path.last()? {
        "0" => format!("[[{name}]]"),
        _ => format!("[{name}]"),
    })
}

fn name_of(path: &[&str]) -> String {
    let names = path.iter().filter(|part| **part != "0");
    names.copied().collect::<Vec<_>>().join(".")
}

/// The reference as JSON: an array of `key`, `variable`, `default`, `description`, and whether it also takes a file.
pub fn reference_json() -> Value {
    let mut listed = Vec::new();
    each_table(&schema(), &[], &|_| 0, &mut |_, path, keys| {
        listed.extend(keys.iter().map(|key| {
            let path = [path, &[key.name]].concat();
            json!({
                "key": name_of(&path),
                "variable": variable(&path),
                "default": key.default(),
                "description": sentences(key.schema),
                "takes_file": key.takes_file,
            })
        }));
    });
    Value::Array(listed)
}

pub fn reference() -> String {
    let mut page = String::new();
    each_table(&schema(), &[], &|_| 0, &mut |table, path, keys| {
        if let Some(heading) = heading(path) {
            let heading = format!("\n### `{heading}`\n\n{}\n\n", sentences(table));
            page.push_str(&heading);
        }
        for key in keys {
            page.push_str(&wrapped(&item(path, &key), ["", "  "], WIDTH));
        }
    });
    page
}

fn item(path: &[&str], key: &Key<'_>) -> String {
    let path = [path, &[key.name]].concat();
    let (name, variable) = (name_of(&path), variable(&path));
    let default = match key.default() {
        required if required == "required" => required,
        default => format!("default: {default}"),
    };
    let sentences = sentences(key.schema);
    let file = if key.takes_file {
        format!(" Or `{name}_file`, `{variable}_FILE`: a file with it.")
    } else {
        String::new()
    };
    format!("- `{name}`, `{variable}` ({default}): {sentences}{file}")
}

const FILE_WIDTH: usize = 110;

/// A value of the file: the key as in the reference (`store.webhook.url`), and what it is set to.
pub type Given = (&'static str, String);

/// Writes the file. `values` are texts; their order is that of their keys in each table, and of the tables.
pub fn template(title: &str, values: &[Given]) -> String {
    // How early a value of this key, or below it, is given.
    let place = |name: &str| {
        let is_below = |(given, _): &Given| {
            let rest = given.strip_prefix(name);
            rest.is_some_and(|rest| ["", "_file"].contains(&rest) || rest.starts_with('.'))
        };
        values.iter().position(is_below).unwrap_or(usize::MAX)
    };
    let mut page = comment(title);
    each_table(&schema(), &[], &place, &mut |table, path, keys| {
        if let Some(heading) = heading(path) {
            let is_given = place(&name_of(path)) < usize::MAX;
            let mark = if is_given { "" } else { "#" };
            let heading = format!("\n{}{mark}{heading}\n", comment(&sentences(table)));
            page.push_str(&heading);
        }
        for key in keys {
            let name = name_of(&[path, &[key.name]].concat());
            let written = match given(values, &format!("{name}_file")) {
                Some(file) => write_key(&mut page, &key, &format!("{}_file", key.name), Some(file)),
                None => write_key(&mut page, &key, key.name, given(values, &name)),
            };
            written.expect("a text takes every text");
        }
    });
    page
}

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
    wrapped(text, ["# ", "# "], FILE_WIDTH)
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

    #[test]
    fn every_key_is_in_the_file_and_is_valid_without_its_mark() {
        let values = [
            ("store.id", "demo".to_owned()),
            ("store.webhook.url", "https://shop.example/\"x\"".to_owned()),
        ];
        let page = template("A file.", &values);
        let parsed: Table = page.parse().unwrap();
        let url = &parsed["store"][0]["webhook"][0]["url"];
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

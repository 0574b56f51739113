//! `florin-proxy config-reference`: every key with its variable, default and reason, from the configuration's types.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::config::environment::variable;
use crate::config::schema::{Key, Layout, layout, sentences, wrapped};
use crate::config::server::schema;

/// Characters of a line.
const WIDTH: usize = 120;

/// A table with its keys; the tables below it follow.
struct Section<'a> {
    /// The names of the tables, with `0` after that of a list.
    path: Vec<&'a str>,
    /// `[store.webhook]`.
    heading: String,
    description: String,
    keys: Vec<Key<'a>>,
}

fn add_sections<'a>(
    sections: &mut Vec<Section<'a>>,
    schema: &'a Value,
    path: &[&'a str],
    heading: String,
) {
    let Layout { keys, tables } = layout(schema);
    sections.push(Section {
        path: path.to_vec(),
        heading,
        description: sentences(schema),
        keys,
    });
    for table in tables {
        let mut path = [path, &[table.name]].concat();
        let mut heading = format!("[{}]", name_of(&path));
        if table.is_list {
            heading = format!("[{heading}]");
            path.push("0");
        }
        add_sections(sections, table.schema, &path, heading);
    }
}

fn sections(schema: &Value) -> Vec<Section<'_>> {
    let mut sections = Vec::new();
    add_sections(&mut sections, schema, &[], String::new());
    sections
}

fn name_of(path: &[&str]) -> String {
    let names = path.iter().filter(|part| **part != "0");
    names.copied().collect::<Vec<_>>().join(".")
}

/// The reference as JSON: an array of `key`, `variable`, `default`, `description`, and whether it also takes a file.
pub fn reference_json() -> Value {
    let schema = schema();
    let mut keys = Vec::new();
    for section in sections(&schema) {
        for key in section.keys {
            let path = [&section.path[..], &[key.name]].concat();
            keys.push(json!({
                "key": name_of(&path),
                "variable": variable(&path),
                "default": key.schema["x-default"],
                "description": sentences(key.schema),
                "takes_file": key.takes_file,
            }));
        }
    }
    Value::Array(keys)
}

/// The reference as Markdown.
pub fn reference() -> String {
    let mut page = String::new();
    write_reference(&mut page).expect("a text takes every text");
    page
}

fn write_reference(page: &mut String) -> std::fmt::Result {
    for section in sections(&schema()) {
        if !section.heading.is_empty() {
            writeln!(
                page,
                "\n### `{}`\n\n{}\n",
                section.heading, section.description
            )?;
        }
        for key in section.keys {
            let path = [&section.path[..], &[key.name]].concat();
            let (name, variable) = (name_of(&path), variable(&path));
            let default = match key.default() {
                required if required == "required" => required,
                default => format!("default: {default}"),
            };
            let sentences = sentences(key.schema);
            let mut item = format!("- `{name}`, `{variable}` ({default}): {sentences}");
            if key.takes_file {
                write!(
                    item,
                    " Or `{name}_file`, `{variable}_FILE`: a file with it."
                )?;
            }
            page.push_str(&wrapped(&item, ["", "  "], WIDTH));
        }
    }
    Ok(())
}

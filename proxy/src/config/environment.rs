//! Settings from environment variables: `FLORIN_GATEWAY__URL` is `gateway.url`, `FLORIN_STORE__0__SECRET_KEY` the
//! `secret_key` of the first store. The names follow from the configuration's types.

use std::collections::BTreeMap;

use serde_json::Value as Schema;
use toml::{Table, Value};

use crate::config::problems::Errors;
use crate::config::schema::{Kind, element, kinds, property, schema_for};

const PREFIX: &str = "FLORIN_";

/// The token with which the command line calls the operator's API, and its file. They are no keys of the configuration: they
/// belong to the operator at the terminal, and the configuration to the proxy.
pub(crate) const OPERATOR_TOKEN: [&str; 2] =
    ["FLORIN_OPERATOR_TOKEN", "FLORIN_OPERATOR_TOKEN_FILE"];

/// Between the names of a table and its key.
const BETWEEN: &str = "__";

/// Elements are added in their order, `2` before `10`.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    Element(usize),
    Key(String),
}

/// The variable of a key, whose path has an element's number after the name of its list.
pub(crate) fn variable(path: &[&str]) -> String {
    format!("{PREFIX}{}", path.join(BETWEEN).to_uppercase())
}

/// Writes the variables into the settings, where they replace what the file has. A secret's variable replaces both forms
/// of the secret, value and file.
pub(crate) fn overlay(
    errors: &mut Errors,
    settings: &mut Table,
    schema: &Schema,
    variables: &BTreeMap<String, String>,
) {
    let mut found = Vec::new();
    for (variable, text) in variables {
        let name = variable.as_str();
        match key_of(schema, name) {
            Some((path, schema)) => found.push((path, schema, variable, text)),
            None if is_of_kubernetes(name, text) => {}
            None if OPERATOR_TOKEN.contains(&name) => {}
            None => errors.add(
                name,
                "is no variable of Florin's: see florin-proxy config-reference",
            ),
        }
    }
    found.sort_by(|(one, ..), (other, ..)| one.cmp(other));
    let mut root = Value::Table(std::mem::take(settings));
    for (path, _, _, _) in &found {
        remove_other_form(&mut root, path);
    }
    for (path, schema, variable, text) in &found {
        let set = read(schema, text).and_then(|value| {
            *place(&mut root, path)? = value;
            Ok(())
        });
        errors.record(variable, set);
    }
    if let Value::Table(root) = root {
        *settings = root;
    }
}

/// Kubernetes gives every container the addresses of the services in its namespace: a service `florin` or `florin-…` sets
/// these. Source: kubernetes.io, "Service", environment variables.
fn is_of_kubernetes(variable: &str, text: &str) -> bool {
    let is_of_service = ["_SERVICE_HOST", "_SERVICE_PORT", "_PORT_"];
    let is_link = variable.ends_with("_PORT") && text.contains("://");
    is_link || is_of_service.iter().any(|part| variable.contains(part))
}

pub(crate) fn key_of<'a>(schema: &'a Schema, variable: &str) -> Option<(Vec<Step>, &'a Schema)> {
    let name = variable.strip_prefix(PREFIX)?;
    if name.contains(|c: char| c.is_lowercase()) {
        return None;
    }
    let mut schema = schema;
    let mut path = Vec::new();
    for part in name.split(BETWEEN) {
        let part = part.to_lowercase();
        let step;
        (step, schema) = if let Some(schema) = property(schema, &part) {
            (Step::Key(part), schema)
        } else {
            (Step::Element(part.parse().ok()?), element(schema)?)
        };
        path.push(step);
    }
    Some((path, schema))
}

/// Removes the file's form of a secret that a variable gives in the other form.
fn remove_other_form(root: &mut Value, path: &[Step]) {
    let Some((Step::Key(key), table)) = path.split_last() else {
        return;
    };
    let other = match key.strip_suffix("_file") {
        Some(value) => value.to_owned(),
        None => format!("{key}_file"),
    };
    let mut value = Some(root);
    for step in table {
        value = match step {
            Step::Key(key) => value.and_then(|value| value.get_mut(key)),
            Step::Element(n) => value.and_then(|value| value.get_mut(*n)),
        };
    }
    if let Some(Value::Table(table)) = value {
        table.remove(&other);
    }
}

/// The place of a key; tables and lists on the way are made.
fn place<'a>(root: &'a mut Value, path: &[Step]) -> Result<&'a mut Value, String> {
    let mut value = root;
    for (n, step) in path.iter().enumerate() {
        let empty = match path.get(n + 1) {
            Some(Step::Element(_)) => Value::Array(Vec::new()),
            _ => Value::Table(Table::new()),
        };
        value = match (step, value) {
            (Step::Key(key), Value::Table(table)) => table.entry(key.as_str()).or_insert(empty),
            (Step::Element(n), Value::Array(list)) => {
                if *n > list.len() {
                    return Err(format!("there are {0} before it: write {0}", list.len()));
                }
                if *n == list.len() {
                    list.push(empty);
                }
                &mut list[*n]
            }
            _ => return Err("the file has a value where this needs a table or a list".into()),
        };
    }
    Ok(value)
}

fn read(schema: &Schema, text: &str) -> Result<Value, String> {
    let takes = |kind| schema_for(schema, kind).is_some();
    let is_list = text.trim_start().starts_with('[');
    if takes(Kind::String) && !(is_list && takes(Kind::List)) {
        return Ok(Value::String(text.to_owned()));
    }
    let value = if takes(Kind::Integer) {
        text.parse().ok().map(Value::Integer)
    } else if takes(Kind::Boolean) {
        text.parse().ok().map(Value::Boolean)
    } else if takes(Kind::List) && is_list {
        let table = format!("list = {text}").parse::<Table>().ok();
        table.and_then(|mut table| table.remove("list"))
    } else if takes(Kind::List)
        && element(schema).is_some_and(|it| schema_for(it, Kind::String).is_some())
    {
        let parts = text.split(',').map(str::trim);
        let parts = parts.filter(|part| !part.is_empty());
        Some(Value::Array(
            parts.map(|part| Value::String(part.to_owned())).collect(),
        ))
    } else {
        None
    };
    // Without the value, which may be a secret of another variable.
    value.ok_or_else(|| format!("a value of another kind was expected: {}", kinds(schema)))
}

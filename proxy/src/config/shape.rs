//! The shape of the settings: unknown keys, values of another kind, and what is missing. Everything that is wrong is found
//! at once.

use std::fmt;

use serde_json::Value as Schema;
use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

use crate::config::problems::Errors;
use crate::config::schema::{Kind, element, kinds, property, schema_for};

#[derive(Clone, Debug, Default)]
pub(crate) struct Path(Vec<Step>);

#[derive(Clone, Debug)]
enum Step {
    Key(String),
    Element(usize, Option<String>),
}

impl Path {
    pub(crate) fn key(&self, key: &str) -> Self {
        let mut path = self.clone();
        path.0.push(Step::Key(key.to_owned()));
        path
    }

    pub(crate) fn element(&self, n: usize, value: &Value) -> Self {
        let name = ["id", "sku", "kid", "name"]
            .iter()
            .find_map(|key| value.get(key)?.as_str());
        let mut path = self.clone();
        path.0.push(Step::Element(n, name.map(str::to_owned)));
        path
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, step) in self.0.iter().enumerate() {
            if n > 0 {
                f.write_str(".")?;
            }
            match step {
                Step::Key(name) | Step::Element(_, Some(name)) => f.write_str(name)?,
                Step::Element(n, None) => write!(f, "{n}")?,
            }
        }
        Ok(())
    }
}

/// The text of the file, for the lines of its keys. Empty without a file.
pub(crate) struct Text<'a>(pub(crate) &'a str);

impl Text<'_> {
    /// The line of a key, for the end of a message: " (line 5)". Empty if the key is not in the file.
    pub(crate) fn line(&self, path: &Path) -> String {
        let Ok(table) = DeTable::parse(self.0) else {
            return String::new();
        };
        let mut value = &DeValue::Table(table.into_inner());
        let mut start = None;
        for step in &path.0 {
            let next = match (step, value) {
                (Step::Key(name), DeValue::Table(table)) => table
                    .iter()
                    .find(|(key, _)| key.get_ref() == name)
                    .map(|(key, value)| (key.span(), value)),
                (Step::Element(n, _), DeValue::Array(list)) => {
                    list.get(*n).map(|value| (value.span(), value))
                }
                _ => None,
            };
            let Some((span, next)) = next else {
                return String::new();
            };
            (start, value) = (Some(span.start), next.get_ref());
        }
        start.map_or_else(String::new, |start| self.at(start))
    }

    pub(crate) fn at(&self, start: usize) -> String {
        let line = self.0[..start].matches('\n').count() + 1;
        format!(" (line {line})")
    }
}

/// Checks a table against its schema. Removes unknown keys, so that the rest can be read. Returns `true` if it can.
pub(crate) fn check_table(
    errors: &mut Errors,
    text: &Text<'_>,
    schema: &Schema,
    table: &mut Table,
    path: &Path,
) -> bool {
    let mut is_readable = true;
    table.retain(|key, value| {
        let path = path.key(key);
        let Some(schema) = property(schema, key) else {
            let message = format!("is no key of Florin's{}", text.line(&path));
            errors.add(&path.to_string(), message);
            return false;
        };
        is_readable &= check_value(errors, text, schema, value, &path);
        true
    });
    let required = schema_for(schema, Kind::Table).and_then(|schema| schema["required"].as_array());
    for key in required.into_iter().flatten().filter_map(Schema::as_str) {
        if !table.contains_key(key) {
            let line = text.line(path);
            errors.add(&path.key(key).to_string(), format!("is required{line}"));
            is_readable = false;
        }
    }
    is_readable
}

fn check_value(
    errors: &mut Errors,
    text: &Text<'_>,
    schema: &Schema,
    value: &mut Value,
    path: &Path,
) -> bool {
    let Some(taken) = Kind::of(value).and_then(|kind| schema_for(schema, kind)) else {
        // Without the value: it may be a secret that was left unquoted.
        let is_unquoted = matches!(
            value,
            Value::Float(_) | Value::Integer(_) | Value::Boolean(_)
        ) && schema_for(schema, Kind::String).is_some();
        let remedy = if is_unquoted {
            "; write it in quotes"
        } else {
            ""
        };
        let message = format!(
            "a value of another kind was expected: {}{remedy}{}",
            kinds(schema),
            text.line(path)
        );
        errors.add(&path.to_string(), message);
        return false;
    };
    match value {
        Value::Table(table) => check_table(errors, text, taken, table, path),
        Value::Array(list) => {
            let elements = element(taken).zip(Some(list));
            let Some((schema, list)) = elements else {
                return true;
            };
            // Every element is checked, after one that is wrong too.
            let mut is_readable = true;
            for (n, value) in list.iter_mut().enumerate() {
                let path = path.element(n, value);
                is_readable &= check_value(errors, text, schema, value, &path);
            }
            is_readable
        }
        Value::Integer(number) => {
            let fits = match taken["format"].as_str() {
                Some("uint32") => u32::try_from(*number).is_ok(),
                _ => *number >= 0,
            };
            if !fits {
                let line = text.line(path);
                errors.add(&path.to_string(), format!("is out of range{line}"));
            }
            fits
        }
        _ => true,
    }
}

//! JSON Schema of the configuration's types: the one source for its reference, for the names of its
//! variables, and for the check of its shape: unknown keys, values of another kind, and what is missing. Everything that is
//! wrong is found at once.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value as Schema;
use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

use crate::config::Errors;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Table,
    List,
    String,
    Integer,
    Boolean,
}

impl Kind {
    const ALL: [Self; 5] = [
        Self::Table,
        Self::List,
        Self::String,
        Self::Integer,
        Self::Boolean,
    ];

    /// The kind of a value in the file; `None` for floats and dates, which no key takes.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Table(_) => Some(Self::Table),
            Value::Array(_) => Some(Self::List),
            Value::String(_) => Some(Self::String),
            Value::Integer(_) => Some(Self::Integer),
            Value::Boolean(_) => Some(Self::Boolean),
            Value::Float(_) | Value::Datetime(_) => None,
        }
    }

    /// As schemas name it, and as people do.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Table => ("object", "a table"),
            Self::List => ("array", "a list"),
            Self::String => ("string", "a string"),
            Self::Integer => ("integer", "a whole number"),
            Self::Boolean => ("boolean", "true or false"),
        }
    }
}

/// The part of a schema for values of one kind; `None` if it takes no such values.
pub(crate) fn schema_for(schema: &Schema, kind: Kind) -> Option<&Schema> {
    let types = &schema["type"];
    let is_word = |value: &Schema| value.as_str() == Some(kind.names().0);
    if is_word(types) || list(types).any(is_word) {
        return Some(schema);
    }
    choices(schema).find_map(|choice| schema_for(choice, kind))
}

fn choices(schema: &Schema) -> impl Iterator<Item = &Schema> {
    ["anyOf", "oneOf"]
        .into_iter()
        .flat_map(|name| list(&schema[name]))
}

fn list(schema: &Schema) -> impl Iterator<Item = &Schema> {
    schema.as_array().into_iter().flatten()
}

/// The words that a key takes; empty if it takes any text.
fn words(schema: &Schema) -> Vec<&str> {
    let own = list(&schema["enum"]).chain(schema.get("const"));
    let own = own.filter_map(Schema::as_str);
    own.chain(choices(schema).flat_map(words)).collect()
}

pub(crate) fn property<'a>(schema: &'a Schema, key: &str) -> Option<&'a Schema> {
    schema_for(schema, Kind::Table)?["properties"].get(key)
}

pub(crate) fn element(schema: &Schema) -> Option<&Schema> {
    schema_for(schema, Kind::List)?.get("items")
}

/// What a key takes, in words: "a string or a list".
pub(crate) fn kinds(schema: &Schema) -> String {
    let taken = Kind::ALL
        .into_iter()
        .filter(|kind| schema_for(schema, *kind).is_some());
    taken
        .map(|kind| kind.names().1)
        .collect::<Vec<_>>()
        .join(" or ")
}

/// The keys of a table, and the tables below it: both by name, because the order of a map of `serde_json` depends on the
/// features of all packages. A key `x_file` is part of the secret `x`.
pub(crate) struct Layout<'a> {
    pub(crate) keys: Vec<Key<'a>>,
    pub(crate) tables: Vec<Subtable<'a>>,
}

pub(crate) struct Key<'a> {
    pub(crate) name: &'a str,
    pub(crate) schema: &'a Schema,
    /// `true` for a secret.
    pub(crate) takes_file: bool,
    is_required: bool,
}

pub(crate) struct Subtable<'a> {
    pub(crate) name: &'a str,
    pub(crate) schema: &'a Schema,
    pub(crate) is_list: bool,
}

pub(crate) fn layout(schema: &Schema) -> Layout<'_> {
    let (mut keys, mut tables) = (Vec::new(), Vec::new());
    let table = schema_for(schema, Kind::Table).unwrap_or(&Schema::Null);
    let properties = table["properties"].as_object().into_iter().flatten();
    let properties: BTreeMap<&str, &Schema> = properties
        .map(|(name, schema)| (name.as_str(), schema))
        .collect();
    for (&name, &schema) in &properties {
        let stem = name.strip_suffix("_file");
        if stem.is_some_and(|stem| properties.contains_key(stem)) {
            continue;
        }
        let below = schema_for(schema, Kind::Table).map(|table| (table, false));
        let elements = || Some((schema_for(element(schema)?, Kind::Table)?, true));
        match below.or_else(elements) {
            Some((schema, is_list)) => tables.push(Subtable {
                name,
                schema,
                is_list,
            }),
            None => keys.push(Key {
                name,
                schema,
                takes_file: properties.contains_key(&*format!("{name}_file")),
                is_required: list(&table["required"]).any(|required| required == name),
            }),
        }
    }
    Layout { keys, tables }
}

impl Key<'_> {
    /// `required`, `none`, or what holds where nothing is set: `x-default` if the type has no default.
    pub(crate) fn default(&self) -> String {
        let default = self.schema.get("x-default");
        match default.or_else(|| self.schema.get("default")) {
            Some(Schema::String(text)) => text.clone(),
            Some(value @ (Schema::Number(_) | Schema::Bool(_))) => value.to_string(),
            _ if self.is_required => "required".to_owned(),
            _ => "none".to_owned(),
        }
    }
}

pub(crate) fn sentences(schema: &Schema) -> String {
    let text = schema["description"].as_str().unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text in lines of at most `width` characters, where no word is longer. `indent` is before the first line and the others.
pub(crate) fn wrapped(text: &str, indent: [&str; 2], width: usize) -> String {
    let mut lines = vec![indent[0].to_owned()];
    for (n, word) in text.split_whitespace().enumerate() {
        let line = lines.last_mut().expect("there is a first line");
        let fits = line.chars().count() + 1 + word.chars().count() <= width;
        match (n, fits) {
            (0, _) => line.push_str(word),
            (_, true) => *line = format!("{line} {word}"),
            (_, false) => lines.push(format!("{}{word}", indent[1])),
        }
    }
    lines.join("\n") + "\n"
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Path(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
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

/// Checks a table against its schema. Removes unknown keys and words, and numbers beyond their limits, so that the rest can
/// be read. Returns `true` if it can.
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
        if let Some(refusal) = refusal(schema, value) {
            errors.add(&path.to_string(), format!("{refusal}{}", text.line(&path)));
            return false;
        }
        is_readable &= check_value(errors, text, schema, value, &path);
        true
    });
    let required = schema_for(schema, Kind::Table).map(|table| list(&table["required"]));
    for key in required.into_iter().flatten().filter_map(Schema::as_str) {
        if !table.contains_key(key) {
            let line = text.line(path);
            errors.add(&path.key(key).to_string(), format!("is required{line}"));
            is_readable = false;
        }
    }
    is_readable
}

/// What is wrong with a word or a number of a key that takes such values.
fn refusal(schema: &Schema, value: &Value) -> Option<String> {
    match value {
        Value::String(text) => {
            let words = words(schema);
            let is_known = words.is_empty() || words.contains(&text.as_str());
            (!is_known).then(|| format!("{text:?} is unknown: write one of {}", words.join(", ")))
        }
        Value::Integer(number) => {
            let taken = schema_for(schema, Kind::Integer)?;
            let (least, most) = (taken["minimum"].as_i64()?, taken["maximum"].as_i64()?);
            let is_within = (least..=most).contains(number);
            (!is_within).then(|| format!("write {least} to {most}"))
        }
        _ => None,
    }
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
        } else if value.is_table() {
            "; write its heading in double brackets, as [[store]]"
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
        _ => true,
    }
}

//! JSON Schema of the configuration's types: the one source for its reference, for the names of its
//! variables, and for the check of its shape.

use std::collections::BTreeMap;

use serde_json::Value;

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
    pub(crate) fn of(value: &toml::Value) -> Option<Self> {
        match value {
            toml::Value::Table(_) => Some(Self::Table),
            toml::Value::Array(_) => Some(Self::List),
            toml::Value::String(_) => Some(Self::String),
            toml::Value::Integer(_) => Some(Self::Integer),
            toml::Value::Boolean(_) => Some(Self::Boolean),
            toml::Value::Float(_) | toml::Value::Datetime(_) => None,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Table => "object",
            Self::List => "array",
            Self::String => "string",
            Self::Integer => "integer",
            Self::Boolean => "boolean",
        }
    }

    fn description(self) -> &'static str {
        match self {
            Self::Table => "a table",
            Self::List => "a list",
            Self::String => "a string",
            Self::Integer => "a whole number",
            Self::Boolean => "true or false",
        }
    }
}

/// The part of a schema for values of one kind; `None` if it takes no such values.
pub(crate) fn schema_for(schema: &Value, kind: Kind) -> Option<&Value> {
    let types = &schema["type"];
    let is_word = |value: &Value| value.as_str() == Some(kind.word());
    if is_word(types)
        || types
            .as_array()
            .is_some_and(|types| types.iter().any(is_word))
    {
        return Some(schema);
    }
    let choices = schema["anyOf"].as_array()?;
    choices.iter().find_map(|choice| schema_for(choice, kind))
}

pub(crate) fn property<'a>(schema: &'a Value, key: &str) -> Option<&'a Value> {
    schema_for(schema, Kind::Table)?["properties"].get(key)
}

pub(crate) fn element(schema: &Value) -> Option<&Value> {
    schema_for(schema, Kind::List)?.get("items")
}

/// What a key takes, in words: "a string or a list".
pub(crate) fn kinds(schema: &Value) -> String {
    let taken = Kind::ALL
        .into_iter()
        .filter(|kind| schema_for(schema, *kind).is_some());
    taken
        .map(Kind::description)
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
    pub(crate) schema: &'a Value,
    /// `true` for a secret.
    pub(crate) takes_file: bool,
}

pub(crate) struct Subtable<'a> {
    pub(crate) name: &'a str,
    pub(crate) schema: &'a Value,
    pub(crate) is_list: bool,
}

pub(crate) fn layout(schema: &Value) -> Layout<'_> {
    let (mut keys, mut tables) = (Vec::new(), Vec::new());
    let properties = schema_for(schema, Kind::Table).map(|table| &table["properties"]);
    let properties = properties.and_then(Value::as_object).into_iter().flatten();
    let properties: BTreeMap<&str, &Value> = properties
        .map(|(name, schema)| (name.as_str(), schema))
        .collect();
    for (&name, &schema) in &properties {
        let stem = name.strip_suffix("_file");
        if stem.is_some_and(|stem| properties.contains_key(stem)) {
            continue;
        }
        let table = schema_for(schema, Kind::Table).map(|table| (table, false));
        let elements = || Some((schema_for(element(schema)?, Kind::Table)?, true));
        match table.or_else(elements) {
            Some((schema, is_list)) => tables.push(Subtable {
                name,
                schema,
                is_list,
            }),
            None => keys.push(Key {
                name,
                schema,
                takes_file: properties.contains_key(&*format!("{name}_file")),
            }),
        }
    }
    Layout { keys, tables }
}

impl Key<'_> {
    /// `required`, `none`, or what holds where nothing is set.
    pub(crate) fn default(&self) -> String {
        match &self.schema["x-default"] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

/// The documentation of a key or a table, on one line.
pub(crate) fn sentences(schema: &Value) -> String {
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

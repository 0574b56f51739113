//! JSON Schema of the configuration's types: the one source for its reference, for the names of its
//! variables, and for the check of its shape.

use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::config::server::File;

/// The schema of the whole file, without references.
pub(crate) fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12()
        .for_deserialize()
        .with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        });
    settings
        .into_generator()
        .into_root_schema_for::<File>()
        .to_value()
}

/// A kind of value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Table,
    List,
    Text,
    Whole,
    Truth,
}

impl Kind {
    const ALL: [Self; 5] = [
        Self::Table,
        Self::List,
        Self::Text,
        Self::Whole,
        Self::Truth,
    ];

    /// The kind of a value in the file; `None` for floats and dates, which no key takes.
    pub(crate) fn of(value: &toml::Value) -> Option<Self> {
        match value {
            toml::Value::Table(_) => Some(Self::Table),
            toml::Value::Array(_) => Some(Self::List),
            toml::Value::String(_) => Some(Self::Text),
            toml::Value::Integer(_) => Some(Self::Whole),
            toml::Value::Boolean(_) => Some(Self::Truth),
            toml::Value::Float(_) | toml::Value::Datetime(_) => None,
        }
    }

    /// Its name in JSON Schema.
    fn word(self) -> &'static str {
        match self {
            Self::Table => "object",
            Self::List => "array",
            Self::Text => "string",
            Self::Whole => "integer",
            Self::Truth => "boolean",
        }
    }

    fn description(self) -> &'static str {
        match self {
            Self::Table => "a table",
            Self::List => "a list",
            Self::Text => "a string",
            Self::Whole => "a whole number",
            Self::Truth => "true or false",
        }
    }
}

/// The part of a schema for values of one kind; `None` if it takes no such values.
pub(crate) fn taking(schema: &Value, kind: Kind) -> Option<&Value> {
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
    choices.iter().find_map(|choice| taking(choice, kind))
}

/// The schema of a table's key.
pub(crate) fn property<'a>(schema: &'a Value, key: &str) -> Option<&'a Value> {
    taking(schema, Kind::Table)?["properties"].get(key)
}

/// The schema of a list's elements.
pub(crate) fn element(schema: &Value) -> Option<&Value> {
    taking(schema, Kind::List)?.get("items")
}

/// What a key takes, in words: "a string or a list".
pub(crate) fn kinds(schema: &Value) -> String {
    let taken = Kind::ALL
        .into_iter()
        .filter(|kind| taking(schema, *kind).is_some());
    taken
        .map(Kind::description)
        .collect::<Vec<_>>()
        .join(" or ")
}

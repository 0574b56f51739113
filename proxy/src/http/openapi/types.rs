//! The shapes of what is sent and answered, out of the types that read and write them.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// Where the document keeps its shapes.
const PLACE: &str = "/components/schemas";

/// Collects shapes. What is read and what is written differ in what may be absent.
pub(crate) struct Types {
    read: SchemaGenerator,
    written: SchemaGenerator,
    by_hand: Map<String, Value>,
}

impl Types {
    pub(crate) fn new() -> Self {
        let settings = || {
            SchemaSettings::draft2020_12().with(|settings| {
                settings.definitions_path = PLACE.into();
                settings.meta_schema = None;
            })
        };
        Self {
            read: settings().for_deserialize().into_generator(),
            written: settings().for_serialize().into_generator(),
            by_hand: Map::new(),
        }
    }

    pub(crate) fn read<T: JsonSchema>(&mut self) -> Value {
        self.read.subschema_for::<T>().to_value()
    }

    pub(crate) fn written<T: JsonSchema>(&mut self) -> Value {
        self.written.subschema_for::<T>().to_value()
    }

    pub(crate) fn keep(&mut self, name: &str, shape: Value) -> Value {
        self.by_hand.insert(name.to_owned(), shape);
        json!({ "$ref": format!("#{PLACE}/{name}") })
    }

    /// The members of `T` as parameters of a query.
    pub(crate) fn query<T: JsonSchema>(&mut self) -> Vec<Value> {
        let mut shape = T::json_schema(&mut self.read).to_value();
        replace_widths(&mut shape);
        let required = shape["required"].take();
        let Value::Object(members) = shape["properties"].take() else {
            return Vec::new();
        };
        let members = members.into_iter().map(|(name, mut schema)| {
            let description = schema["description"].take();
            remove(&mut schema, "description");
            let is_required = required
                .as_array()
                .is_some_and(|names| names.iter().any(|known| *known == name));
            json!({
                "name": name,
                "in": "query",
                "required": is_required,
                "description": description,
                "schema": without_null(schema),
            })
        });
        members.collect()
    }

    pub(crate) fn into_schemas(mut self) -> Map<String, Value> {
        let mut schemas = self.read.take_definitions(true);
        let mut written = self.written.take_definitions(true);
        for shape in written.values_mut() {
            never_null(shape);
        }
        schemas.append(&mut written);
        schemas.append(&mut self.by_hand);
        for shape in schemas.values_mut() {
            replace_widths(shape);
        }
        schemas
    }
}

fn replace_widths(shape: &mut Value) {
    match shape {
        Value::Object(members) => {
            let most = match members.get("format").and_then(Value::as_str) {
                Some("uint32") => Some(u64::from(u32::MAX)),
                Some("uint16") => Some(u64::from(u16::MAX)),
                _ => None,
            };
            if let Some(most) = most {
                members.remove("format");
                members.entry("maximum").or_insert(most.into());
            }
            members.values_mut().for_each(replace_widths);
        }
        Value::Array(items) => items.iter_mut().for_each(replace_widths),
        _ => {}
    }
}

/// A member that may be absent is left out when we write, and never null.
fn never_null(shape: &mut Value) {
    let required = shape["required"].clone();
    let is_required = |name: &str| {
        required
            .as_array()
            .is_some_and(|names| names.iter().any(|known| known == name))
    };
    if let Some(members) = shape.get_mut("properties").and_then(Value::as_object_mut) {
        for (name, member) in members.iter_mut() {
            if !is_required(name) {
                *member = without_null(member.take());
            }
            never_null(member);
        }
    }
    if required.is_null() {
        remove(shape, "required");
    }
}

fn without_null(mut shape: Value) -> Value {
    if let Some(types) = shape.get_mut("type").and_then(Value::as_array_mut) {
        types.retain(|word| word != "null");
        if let [only] = &types[..] {
            shape["type"] = only.clone();
        }
    }
    if let Some(choices) = shape.get_mut("anyOf").and_then(Value::as_array_mut) {
        choices.retain(|choice| choice["type"] != "null");
        if let [Value::Object(only)] = &choices[..] {
            let only = only.clone();
            remove(&mut shape, "anyOf");
            shape.as_object_mut().expect("it has members").extend(only);
        }
    }
    if let Some(words) = shape.get_mut("enum").and_then(Value::as_array_mut) {
        words.retain(|word| !word.is_null());
    }
    shape
}

fn remove(shape: &mut Value, name: &str) {
    if let Some(members) = shape.as_object_mut() {
        members.remove(name);
    }
}

//! Reads the types of the contract from values that the browser has parsed.
//!
//! A struct is read member by member in the order of its fields, and an error has no text: `serde_json` reads members in any
//! order and writes numbers into its messages, which costs every customer 24 kilobytes. See docs/adr/0015-serde-on-both-sides-of-the-contract.md.

use core::fmt;
use core::slice::Iter;

use florin_checkout_api::is_obeyed;
use js_sys::{Array, JSON, Object, Reflect};
use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error, IntoDeserializer, SeqAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use wasm_bindgen::JsValue;

/// The value is not of the type: page and proxy are of different versions.
#[derive(Debug)]
pub(crate) struct Unreadable;

/// Reads a value. Its texts come without the characters that a browser obeys instead of showing: bidirectional overrides and
/// isolates, by which a name could turn round the amount or the address beside it, and control characters.
pub(crate) fn from_js<T: DeserializeOwned>(value: JsValue) -> Result<T, Unreadable> {
    T::deserialize(Value(value))
}

/// Parses a JSON text, and reads it as [`from_js`] does.
pub(crate) fn from_json<T: DeserializeOwned>(json: &str) -> Result<T, Unreadable> {
    from_js(JSON::parse(json).map_err(|_| Unreadable)?)
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unreadable")
    }
}

impl core::error::Error for Unreadable {}

impl Error for Unreadable {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

struct Value(JsValue);

impl Value {
    fn text(&self) -> Result<String, Unreadable> {
        let text = self.0.as_string().ok_or(Unreadable)?;
        Ok(text.chars().filter(|char| !is_obeyed(*char)).collect())
    }
}

impl<'de> Deserializer<'de> for Value {
    type Error = Unreadable;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        if self.0.is_string() {
            visitor.visit_string(self.text()?)
        } else {
            self.deserialize_map(visitor)
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        visitor.visit_string(self.text()?)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        visitor.visit_bool(self.0.as_bool().ok_or(Unreadable)?)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        let number = self.0.as_f64().ok_or(Unreadable)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "what the cast changes is refused"
        )]
        let whole = number as u32;
        if f64::from(whole).to_bits() == number.to_bits() {
            visitor.visit_u32(whole)
        } else {
            Err(Unreadable)
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        if self.0.is_undefined() || self.0.is_null() {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        if !Array::is_array(&self.0) {
            return Err(Unreadable);
        }
        let items = Array::from(&self.0).into_iter().map(Value);
        visitor.visit_seq(SeqDeserializer::new(items))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        if !self.0.is_object() {
            return Err(Unreadable);
        }
        let entries = Object::entries(&Object::from(self.0)).into_iter();
        let entries = entries.map(|entry| {
            let entry = Array::from(&entry);
            (Value(entry.get(0)), Value(entry.get(1)))
        });
        visitor.visit_map(MapDeserializer::new(entries))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        if !self.0.is_object() {
            return Err(Unreadable);
        }
        visitor.visit_seq(Members {
            object: self.0,
            names: fields.iter(),
        })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        visitor.visit_enum(self.text()?.into_deserializer())
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u64 u128 f32 f64 char str bytes byte_buf unit unit_struct
        newtype_struct tuple tuple_struct identifier ignored_any
    }
}

impl IntoDeserializer<'_, Unreadable> for Value {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// The members of an object, by the names and in the order of a struct's fields.
struct Members {
    object: JsValue,
    names: Iter<'static, &'static str>,
}

impl<'de> SeqAccess<'de> for Members {
    type Error = Unreadable;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Unreadable> {
        let name = self.names.next().ok_or(Unreadable)?;
        let value = Reflect::get(&self.object, &JsValue::from_str(name));
        let value = value.map_err(|_| Unreadable)?;
        let is_absent = value.is_undefined();
        match seed.deserialize(Value(value)) {
            // An absent option is read as none. Another field has a default, or the struct is unreadable.
            Err(Unreadable) if is_absent => Ok(None),
            read => read.map(Some),
        }
    }
}

//! Texts of a language file, and their gaps.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

/// A text of a language file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text {
    /// One text for every case.
    One(String),
    /// A text for each grammatical number, by its category of `Intl.PluralRules`; every language has `other`.
    Counted(BTreeMap<String, String>),
}

/// By hand, because serde keeps a copy of whatever it reads while it tries one variant of an untagged enum after another:
/// so many kilobytes of code that no customer needs.
impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, or one for each grammatical number")
    }

    fn visit_str<E>(self, text: &str) -> Result<Text, E> {
        Ok(Text::One(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, forms: A) -> Result<Text, A::Error> {
        let forms = BTreeMap::deserialize(MapAccessDeserializer::new(forms))?;
        Ok(Text::Counted(forms))
    }
}

/// What stands before and after the one gap of `template`.
pub fn around(template: &str) -> (&str, &str) {
    let (before, rest) = template.split_once('{').unwrap_or((template, ""));
    let (_, after) = rest.split_once('}').unwrap_or_default();
    (before, after)
}

/// Fills each `{name}` of `template`; a gap without a value stays visible, since a test looks for it.
pub fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::new();
    let mut rest = template;
    // Split, never sliced: a slice's failure message would cost every customer three kilobytes.
    while let Some((before, gap)) = rest.split_once('{') {
        text.push_str(before);
        let Some((name, after)) = gap.split_once('}') else {
            text.push('{');
            rest = gap;
            break;
        };
        match values.iter().find(|(known, _)| *known == name) {
            Some((_, value)) => text.push_str(value),
            None => ["{", name, "}"]
                .into_iter()
                .for_each(|part| text.push_str(part)),
        }
        rest = after;
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests;

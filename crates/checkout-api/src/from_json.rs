//! The one way in which a browser reads JSON: by serde, then cleaned.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// Reads a JSON text without the characters that a browser obeys instead of showing: bidirectional overrides and isolates,
/// by which a name could turn round the amount or the address beside it, and control characters.
///
/// # Errors
/// The text is not JSON, or not a `T`: page and proxy are of different versions.
pub fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    let mut value = serde_json::from_str(text)?;
    clean(&mut value);
    T::deserialize(value)
}

/// Returns `true` if a browser or a terminal obeys the character instead of showing it: control characters, bidirectional
/// overrides and isolates.
pub fn is_obeyed(char: char) -> bool {
    char.is_control() || matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Removes the obeyed characters from every string. The names of members stay: no browser shows them.
fn clean(value: &mut Value) {
    match value {
        Value::String(text) => text.retain(|char| !is_obeyed(char)),
        Value::Array(values) => values.iter_mut().for_each(clean),
        Value::Object(members) => members.values_mut().for_each(clean),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn obeyed_characters_are_removed_as_they_are_and_as_escapes() {
        for obeyed in ('\0'..='\u{1f}')
            .chain('\u{7f}'..='\u{9f}')
            .chain('\u{202a}'..='\u{202e}')
            .chain('\u{2066}'..='\u{2069}')
        {
            let escape = format!("\\u{:04x}", u32::from(obeyed));
            let text = format!(r#"{{ "a": ["b{escape}c", {{ "d": "\\n{escape}" }}, 1] }}"#);
            let cleaned = json!({ "a": ["bc", { "d": "\\n" }, 1] });
            assert_eq!(from_json::<Value>(&text).unwrap(), cleaned, "{escape}");
            if obeyed > '\u{1f}' {
                let plain = text.replace(&escape, &String::from(obeyed));
                assert_eq!(from_json::<Value>(&plain).unwrap(), cleaned, "{escape}");
            }
        }
    }

    proptest! {
        #[test]
        fn any_string_is_itself_without_the_obeyed(text: String, marks in "[\u{202a}-\u{202e}\u{2066}-\u{2069}\u{0}-\u{9f}]*") {
            let text = text + &marks;
            let wanted: String = text.chars().filter(|char| !is_obeyed(*char)).collect();
            prop_assert_eq!(from_json::<String>(&json!(text).to_string()).unwrap(), wanted);
        }
    }
}

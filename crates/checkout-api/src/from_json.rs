//! The one way in which a browser reads JSON: cleaned, then by serde.

use core::iter::once;

use serde::de::DeserializeOwned;

/// Reads a JSON text without the characters that a browser obeys instead of showing: bidirectional overrides and isolates,
/// by which a name could turn round the amount or the address beside it, and control characters.
///
/// # Errors
/// The text is not JSON, or not a `T`: page and proxy are of different versions.
pub fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    serde_json::from_str(&clean(text))
}

/// Returns `true` if a browser or a terminal obeys the character instead of showing it: control characters, bidirectional
/// overrides and isolates.
pub fn is_obeyed(char: char) -> bool {
    char.is_control() || matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Removes the obeyed characters from the strings of a JSON text, written plainly or as an escape. Half a surrogate pair
/// becomes U+FFFD, as it does when a browser's own strings become Rust's.
///
/// An escape is kept as it is written or removed whole, so that what remains never joins to another one. What is not JSON
/// stays so: nothing is removed outside of strings, and no control character that JSON forbids within them.
fn clean(json: &str) -> String {
    let mut cleaned = String::with_capacity(json.len());
    let mut rest = json;
    let mut in_string = false;
    while let Some(first) = rest.chars().next() {
        let is_escape = first == '\\';
        let (bytes, char) = if is_escape {
            match escape(rest) {
                Some(escape) => escape,
                // serde refuses the text at this place; without what follows it could become an escape.
                None => return cleaned + rest,
            }
        } else {
            (first.len_utf8(), first)
        };
        in_string ^= first == '"';
        let is_forbidden = !is_escape && first < ' ';
        if char == char::REPLACEMENT_CHARACTER {
            cleaned.push(char);
        } else if !in_string || is_forbidden || !is_obeyed(char) {
            cleaned.push_str(&rest[..bytes]);
        }
        rest = &rest[bytes..];
    }
    cleaned
}

/// Reads the escape at the beginning of a text: its length in bytes, and its character.
fn escape(text: &str) -> Option<(usize, char)> {
    let char = match text.as_bytes().get(1)? {
        b'u' => return unicode_escape(text),
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        sign @ (b'"' | b'\\' | b'/') => char::from(*sign),
        _ => return None,
    };
    Some((2, char))
}

/// Source: RFC 8259, section 7: a character outside the Basic Multilingual Plane is written as two escapes.
fn unicode_escape(text: &str) -> Option<(usize, char)> {
    let units = once(code_unit(text)?).chain(code_unit(&text[6..]));
    let char = char::decode_utf16(units).next()?;
    let char = char.unwrap_or(char::REPLACEMENT_CHARACTER);
    Some((6 * char.len_utf16(), char))
}

/// Reads `\u` and four hexadecimal digits at the beginning of a text.
fn code_unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let are_digits = digits.bytes().all(|b| b.is_ascii_hexdigit());
    u16::from_str_radix(digits, 16).ok().filter(|_| are_digits)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[track_caller]
    fn read(written: &str) -> String {
        from_json(&format!("\"{written}\"")).unwrap()
    }

    fn is_refused(written: &str) -> bool {
        from_json::<Value>(&format!("\"{written}\"")).is_err()
    }

    #[test]
    fn obeyed_characters_are_removed_as_they_are_and_as_escapes() {
        for obeyed in ('\u{202a}'..='\u{202e}')
            .chain('\u{2066}'..='\u{2069}')
            .chain('\u{7f}'..='\u{9f}')
        {
            let escape = format!("\\u{:04x}", u32::from(obeyed));
            assert_eq!(read(&format!("a{obeyed}b")), "ab", "{escape}");
            assert_eq!(read(&format!("a{escape}b")), "ab", "{escape}");
            assert_eq!(
                read(&format!(
                    "a{}b",
                    escape.to_uppercase().replace("\\U", "\\u")
                )),
                "ab"
            );
        }
        for control in 0..=0x1f {
            assert_eq!(read(&format!("a\\u{control:04X}b")), "ab", "{control}");
        }
        assert_eq!(read("a\\b\\f\\n\\r\\tb"), "ab");
    }

    #[test]
    fn a_surrogate_pair_is_one_character_and_half_of_one_is_replaced() {
        assert_eq!(read("\\ud83d\\udE39"), "😹");
        for half in ["\\ud83d", "\\ude39"] {
            assert_eq!(read(half), "\u{fffd}");
            assert_eq!(read(&format!("{half}a")), "\u{fffd}a");
            assert_eq!(read(&format!("{half}{half}")), "\u{fffd}\u{fffd}");
        }
        assert_eq!(read("\\ude39\\ud83d"), "\u{fffd}\u{fffd}");
        assert_eq!(read("\\ud83d\\ud83d\\ude39"), "\u{fffd}😹");
        // What stood between two halves does not join them.
        for between in ["\\u202e", "\u{202e}", "\\n"] {
            assert_eq!(
                read(&format!("\\ud83d{between}\\ude39")),
                "\u{fffd}\u{fffd}"
            );
        }
    }

    #[test]
    fn no_escape_is_made_by_what_is_removed() {
        // Behind a backslash that is itself escaped there is no escape.
        assert_eq!(read("\\\\u202e"), "\\u202e");
        assert_eq!(read("\\\\\\u202e"), "\\");
        assert_eq!(read("\\\\\u{202e}n"), "\\n");
        // A backslash before a removed character, and digits on both sides of one.
        for written in [
            "\\\u{202e}n",
            "\\\u{202e}u202e",
            "\\u20\u{202e}2e",
            "\\u20\\u202e2e",
            "\\u\u{202e}202e",
            "\\u202",
            "\\u+07f",
            "\\x",
            "\\",
        ] {
            assert!(is_refused(written), "{written:?}");
        }
    }

    #[test]
    fn what_is_no_json_stays_none() {
        for text in [
            "\u{202e}1",
            "[1,\u{202e}2]",
            "[\"\",\u{202e}2]",
            "{\u{7f}}",
            "\"a\nb\"",
            "\"a\u{0}\"",
            "\"\\u202e",
            "\"a\\",
            "",
        ] {
            assert!(from_json::<Value>(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn blanks_between_members_stay() {
        let value: Value = from_json("{\r\n\t\"a\\n\": [\"\\u202e\", 1]\n}").unwrap();
        assert_eq!(value, serde_json::json!({ "a": ["", 1] }));
    }

    fn without_obeyed(value: Value) -> Value {
        let filter = |text: String| text.chars().filter(|char| !is_obeyed(*char)).collect();
        match value {
            Value::String(text) => Value::String(filter(text)),
            Value::Array(list) => list.into_iter().map(without_obeyed).collect(),
            Value::Object(members) => {
                let members = members.into_iter();
                let members = members.map(|(name, value)| (filter(name), without_obeyed(value)));
                Value::Object(members.collect())
            }
            other => other,
        }
    }

    /// Texts that are mostly escapes, halves of escapes and what is removed; no half of a surrogate pair.
    fn pieces() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "\\", "u", "202e", "20", "2e", "\"", "\\\"", "\\\\", "\\n", "n", "\n", "\u{202e}",
            "\u{7f}", "\\u202e", "\\u0000", "\\u005c", "\\u0022", "😹", "[", "]", ",", "1", "/",
        ]);
        prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn any_text_is_read_as_serde_reads_it_without_the_obeyed(text in pieces(), is_string: bool) {
            let json = if is_string { format!("\"{text}\"") } else { text };
            let whole = serde_json::from_str::<Value>(&json).ok();
            prop_assert_eq!(from_json::<Value>(&json).ok(), whole.map(without_obeyed));
        }

        #[test]
        fn any_string_is_itself_without_the_obeyed(text: String, marks in "[\u{202a}-\u{202e}\u{2066}-\u{2069}\u{0}-\u{9f}]*") {
            let text = text + &marks;
            let wanted: String = text.chars().filter(|char| !is_obeyed(*char)).collect();
            let json = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(from_json::<String>(&json).unwrap(), wanted.clone());
            let units = text.encode_utf16().map(|unit| format!("\\u{unit:04x}"));
            let escaped = units.collect::<String>();
            prop_assert_eq!(read(&escaped), wanted);
        }
    }
}

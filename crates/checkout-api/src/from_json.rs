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

/// Returns `true` if a browser obeys the character instead of showing it.
fn is_obeyed(char: char) -> bool {
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
mod tests;

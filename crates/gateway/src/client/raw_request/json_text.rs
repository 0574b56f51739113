//! JSON as text: numbers keep their digits, members their order, doubled members both places. All of it takes text that
//! is known to be valid JSON.

/// A member of an object.
pub(super) struct Member<'a> {
    /// How many objects and lists it is inside of, its own included.
    pub(super) depth: usize,
    pub(super) name: String,
    /// The text from its value on.
    pub(super) value: &'a str,
}

/// The text without whitespace between its tokens.
pub(super) fn compact(text: &str) -> String {
    let mut compact = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => string_length(rest),
            _ => first.len_utf8(),
        };
        if !first.is_ascii_whitespace() {
            compact.push_str(&rest[..length]);
        }
        rest = &rest[length..];
    }
    compact
}

/// Every member at any depth, of compact JSON.
pub(super) fn members(text: &str) -> Vec<Member<'_>> {
    let (mut found, mut depth, mut rest) = (Vec::new(), 0, text);
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => string_length(rest),
            _ => first.len_utf8(),
        };
        let (token, behind) = rest.split_at(length);
        match first {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            '"' => {
                if let (Some(value), Some(name)) = (behind.strip_prefix(':'), string(token)) {
                    found.push(Member { depth, name, value });
                }
            }
            _ => {}
        }
        rest = behind;
    }
    found
}

/// The string at the beginning of a text, as it is meant.
pub(super) fn string(text: &str) -> Option<String> {
    if !text.starts_with('"') {
        return None;
    }
    serde_json::from_str(&text[..string_length(text)]).ok()
}

/// The length of the string literal that a text begins with, quotes included.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

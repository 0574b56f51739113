//! Texts of the document as HTML.

use maud::{Markup, html};
use serde_json::Value;

/// A description: paragraphs between empty lines, code between backticks, emphasis between asterisks.
pub(crate) fn prose(text: &str) -> Markup {
    html! {
        @for paragraph in text.split("\n\n").filter(|text| !text.is_empty()) { p { (line(paragraph)) } }
    }
}

/// A description in one line.
pub(crate) fn line(text: &str) -> Markup {
    marked(
        text,
        '`',
        |code| html! { code { (code) } },
        |rest| {
            marked(
                rest,
                '*',
                |text| html! { em { (text) } },
                |rest| html! { (rest) },
            )
        },
    )
}

/// Formats every second part between two marks. A mark without its second stays in the text.
fn marked(
    text: &str,
    mark: char,
    inside: impl Fn(&str) -> Markup,
    outside: impl Fn(&str) -> Markup,
) -> Markup {
    let mut parts = Vec::new();
    let mut left = text;
    while let Some((before, after)) = left.split_once(mark)
        && let Some((between, after)) = after.split_once(mark)
    {
        parts.extend([outside(before), inside(between)]);
        left = after;
    }
    parts.push(outside(left));
    joined(parts, "")
}

/// Parts with a separator between them.
pub(crate) fn joined(parts: impl IntoIterator<Item = Markup>, separator: &str) -> Markup {
    html! {
        @for (number, part) in parts.into_iter().enumerate() {
            @if number > 0 { (separator) }
            (part)
        }
    }
}

/// The members of an object, by name.
pub(crate) fn members(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let members = value.as_object().into_iter().flatten();
    members.map(|(name, member)| (name.as_str(), member))
}

/// A text; empty if the value is none.
pub(crate) fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_a_text_is_escaped() {
        assert_eq!(line("<b>&</b>").into_string(), "&lt;b&gt;&amp;&lt;/b&gt;");
        let code = line("`<i>`").into_string();
        assert_eq!(code, "<code>&lt;i&gt;</code>");
    }

    #[test]
    fn backticks_make_code_and_asterisks_emphasis() {
        let html = "a <code>b*</code> and <em>c</em>, 2 * 3";
        assert_eq!(line("a `b*` and *c*, 2 * 3").into_string(), html);
        let html = "<p>one</p><p>two `</p>";
        assert_eq!(prose("one\n\ntwo `").into_string(), html);
    }
}

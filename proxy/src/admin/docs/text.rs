//! Texts of the document as HTML.

use serde_json::Value;

/// A text with nothing in it that HTML would take for its own.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            _ => out.push(char),
        }
    }
    out
}

/// A description: paragraphs between empty lines, code between backticks, stress between stars.
pub(crate) fn prose(text: &str) -> String {
    let paragraphs = text.split("\n\n").filter(|text| !text.is_empty());
    let paragraphs = paragraphs.map(|text| format!("<p>{}</p>", line(text)));
    paragraphs.collect()
}

/// A description in one line.
pub(crate) fn line(text: &str) -> String {
    between(text, '`', "code", |plain| {
        between(plain, '*', "em", escaped)
    })
}

/// Every second part between two marks becomes an element; a mark without its second stays as it is.
fn between(text: &str, mark: char, element: &str, rest: impl Fn(&str) -> String) -> String {
    let mut out = String::new();
    let mut left = text;
    while let Some((before, after)) = left.split_once(mark)
        && let Some((inside, after)) = after.split_once(mark)
    {
        let inside = escaped(inside);
        out.extend([rest(before), format!("<{element}>{inside}</{element}>")]);
        left = after;
    }
    out + &rest(left)
}

/// The members of an object, by name.
pub(crate) fn members(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let members = value.as_object().into_iter().flatten();
    members.map(|(name, member)| (name.as_str(), member))
}

/// A text; empty when it is none.
pub(crate) fn words(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_html_would_take_for_its_own_is_escaped() {
        let text = "<b class=\"x\">'&'</b>";
        let html = "&lt;b class=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/b&gt;";
        assert_eq!(escaped(text), html);
        assert_eq!(line("`<i>`"), "<code>&lt;i&gt;</code>");
    }

    #[test]
    fn backticks_make_code_and_stars_stress() {
        let html = "a <code>b*</code> and <em>c</em>, 2 * 3";
        assert_eq!(line("a `b*` and *c*, 2 * 3"), html);
        assert_eq!(prose("one\n\ntwo `"), "<p>one</p><p>two `</p>");
    }
}

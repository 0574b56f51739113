//! Text that is safe in a page: what comes from elsewhere is escaped on its way in.

use std::fmt;

/// A piece of HTML. Made from our own templates, or by escaping.
#[derive(Clone, Debug)]
pub(crate) struct Html(String);

impl Html {
    /// A text, escaped for element content and for attributes in double quotes.
    pub(crate) fn text(text: &str) -> Self {
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                '&' => out.push_str("&amp;"),
                '<' => out.push_str("&lt;"),
                '>' => out.push_str("&gt;"),
                '"' => out.push_str("&quot;"),
                '\'' => out.push_str("&#39;"),
                c => out.push(c),
            }
        }
        Self(out)
    }

    /// One of our templates, each `{{name}}` replaced by its value.
    pub(crate) fn template(template: &'static str, values: &[(&str, Self)]) -> Self {
        let mut out = String::with_capacity(template.len());
        let mut rest = template;
        while let Some((before, after)) = rest.split_once("{{") {
            let (name, tail) = after
                .split_once("}}")
                .expect("our templates close their braces");
            let value = values.iter().find(|(key, _)| *key == name);
            out.push_str(before);
            out.push_str(&value.expect("our templates name what they are given").1.0);
            rest = tail;
        }
        out.push_str(rest);
        Self(out)
    }

    /// One after the other.
    pub(crate) fn join(pieces: impl IntoIterator<Item = Self>) -> Self {
        Self(pieces.into_iter().map(|piece| piece.0).collect())
    }

    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

impl fmt::Display for Html {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_from_elsewhere_cannot_become_markup() {
        let page = Html::template(
            "<p title=\"{{t}}\">{{t}}</p>",
            &[("t", Html::text("\"><script>'&"))],
        );
        assert_eq!(
            page.to_string(),
            "<p title=\"&quot;&gt;&lt;script&gt;&#39;&amp;\">&quot;&gt;&lt;script&gt;&#39;&amp;</p>"
        );
    }

    #[test]
    fn a_value_that_looks_like_a_name_is_not_filled_again() {
        let values = [("a", Html::text("{{b}}")), ("b", Html::text("no"))];
        assert_eq!(Html::template("{{a}}", &values).to_string(), "{{b}}");
    }
}

//! A page without what a browser does not need.

/// Removes comments, indentation and empty lines. Line breaks stay: they are the blanks between words.
pub(super) fn strip(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut rest = source;
    while let Some((before, after)) = rest.split_once("<!--") {
        text.push_str(before);
        rest = after.split_once("-->").map_or("", |(_, tail)| tail);
    }
    text.push_str(rest);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_indentation_go_and_words_stay_apart() {
        assert_eq!(
            strip("<p>\n  one <!-- a\n b -->\n\n  two\n</p>\n"),
            "<p>\none\ntwo\n</p>"
        );
    }
}

//! Style sheets: no comments, no blanks that mean nothing.
//!
//! By hand: a library that reads CSS whole, such as lightningcss, also rewrites declarations, and is 30 more libraries.

/// Removes comments and the blanks that mean nothing. Strings are left as they are; so is every blank around `+`, `-`,
/// `*`, `/` and `(`, which mean something in `calc()` and `@media`.
///
/// # Errors
/// A comment or a string without its end.
pub(crate) fn minify(source: &str) -> Result<String, String> {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    let mut blank = false;
    while let Some(c) = rest.chars().next() {
        if let Some(comment) = rest.strip_prefix("/*") {
            let Some((_, tail)) = comment.split_once("*/") else {
                return Err("a style sheet has a comment without its end".to_owned());
            };
            rest = tail;
            blank = true;
        } else if c.is_whitespace() {
            rest = &rest[c.len_utf8()..];
            blank = true;
        } else {
            let length = match c {
                '"' | '\'' => string_length(rest, c)?,
                _ => c.len_utf8(),
            };
            push(&mut out, blank, &rest[..length]);
            blank = false;
            rest = &rest[length..];
        }
    }
    Ok(out)
}

fn push(out: &mut String, blank: bool, piece: &str) {
    let glued_before = out.is_empty() || out.ends_with(['{', '}', ';', ',', ':', '>']);
    let glued_after = piece.starts_with(['{', '}', ';', ',', '>']);
    if blank && !glued_before && !glued_after {
        out.push(' ');
    }
    if piece == "}" && out.ends_with(';') {
        out.pop();
    }
    out.push_str(piece);
}

/// The length in bytes of the string that `text` begins with, quotes included.
fn string_length(text: &str, quote: char) -> Result<usize, String> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return Ok(at + c.len_utf8()),
            _ => {}
        }
    }
    Err("a style sheet has a string without its end".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn becomes(source: &str, wanted: &str) {
        assert_eq!(minify(source).unwrap(), wanted);
    }

    #[test]
    fn blanks_and_comments_go() {
        becomes(
            "/* a */\n.a > b,\n.c { color: red; /* b */\n  margin: 0 auto; }\n",
            ".a>b,.c{color:red;margin:0 auto}",
        );
    }

    #[test]
    fn a_blank_that_means_something_stays() {
        becomes(
            "a :hover { top: calc(1px + 2px) }",
            "a :hover{top:calc(1px + 2px)}",
        );
        becomes("@media (a: b) and (c: d) { }", "@media (a:b) and (c:d){}");
        becomes("a { b: c/**/d }", "a{b:c d}");
    }

    #[test]
    fn strings_are_left_alone() {
        becomes(r#"a { content: "/*  \" {" }"#, r#"a{content:"/*  \" {"}"#);
    }

    #[test]
    fn what_does_not_end_is_an_error() {
        assert_eq!(
            minify("a{}/* b").unwrap_err(),
            "a style sheet has a comment without its end"
        );
        assert_eq!(
            minify("a{b:'c}").unwrap_err(),
            "a style sheet has a string without its end"
        );
    }
}

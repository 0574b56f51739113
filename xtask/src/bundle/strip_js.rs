//! A script without what a browser does not need.
//!
//! Only comments and blanks go; no name changes and no line is joined where a semicolon could be missing. That is most
//! of what a minifier gains after brotli, at none of its risk: the ones that were tried either refuse the module that
//! wasm-bindgen writes or read it wrongly.

use anyhow::bail;

/// Words after which a slash begins a regular expression, though they look like values.
const BEFORE_EXPRESSION: [&str; 14] = [
    "return",
    "typeof",
    "case",
    "in",
    "of",
    "delete",
    "void",
    "throw",
    "new",
    "else",
    "do",
    "instanceof",
    "yield",
    "await",
];

/// Removes comments and the blanks that mean nothing.
///
/// A slash behind `)` or `}` is taken for a division; write no regular expression there.
///
/// # Errors
/// A comment, a string, a template or a regular expression without its end.
pub(super) fn strip(source: &str) -> anyhow::Result<String> {
    let mut script = Script {
        rest: source,
        out: String::with_capacity(source.len()),
        gap: Gap::None,
    };
    script.code(false)?;
    Ok(script.out)
}

/// The blanks seen since the last token.
#[derive(Clone, Copy, PartialEq)]
enum Gap {
    None,
    Blank,
    Line,
}

struct Script<'a> {
    rest: &'a str,
    out: String,
    gap: Gap,
}

impl Script<'_> {
    /// Reads code to the end of the source, or of the `${…}` that it stands in.
    fn code(&mut self, in_template: bool) -> anyhow::Result<()> {
        let mut depth = 0_usize;
        while let Some(c) = self.rest.chars().next() {
            match c {
                '/' if self.rest.starts_with("//") => {
                    let end = self.rest.find('\n').unwrap_or(self.rest.len());
                    self.rest = &self.rest[end..];
                }
                '/' if self.rest.starts_with("/*") => self.comment()?,
                '\n' | '\r' | '\u{2028}' | '\u{2029}' => self.skip(c, Gap::Line),
                c if c.is_whitespace() => self.skip(c, Gap::Blank),
                '"' | '\'' => self.take(closed_by(self.rest, c)?),
                '`' => self.template()?,
                '/' if self.expects_expression() => self.take(regex_length(self.rest)?),
                '}' if in_template && depth == 0 => return Ok(()),
                c => {
                    match c {
                        '{' => depth += 1,
                        '}' => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                    self.take(c.len_utf8());
                }
            }
        }
        if in_template {
            bail!("a script has a template without its end");
        }
        Ok(())
    }

    fn comment(&mut self) -> anyhow::Result<()> {
        let Some((comment, tail)) = self.rest.split_once("*/") else {
            bail!("a script has a comment without its end");
        };
        let gap = if comment.contains('\n') {
            Gap::Line
        } else {
            Gap::Blank
        };
        self.rest = tail;
        self.widen(gap);
        Ok(())
    }

    /// A template's text is copied as it is; the code in its `${…}` is stripped.
    fn template(&mut self) -> anyhow::Result<()> {
        self.take(1);
        loop {
            let Some(c) = self.rest.chars().next() else {
                bail!("a script has a template without its end");
            };
            match c {
                '`' => {
                    self.copy(1);
                    return Ok(());
                }
                '\\' => {
                    let escaped = self.rest.chars().nth(1).map_or(0, char::len_utf8);
                    self.copy(1 + escaped);
                }
                '$' if self.rest.starts_with("${") => {
                    self.copy(2);
                    self.code(true)?;
                    self.gap = Gap::None;
                    self.copy(1);
                }
                c => self.copy(c.len_utf8()),
            }
        }
    }

    fn skip(&mut self, c: char, gap: Gap) {
        self.rest = &self.rest[c.len_utf8()..];
        self.widen(gap);
    }

    fn widen(&mut self, gap: Gap) {
        if self.gap != Gap::Line {
            self.gap = gap;
        }
    }

    /// Copies the next token, with the blank before it if that means something.
    fn take(&mut self, length: usize) {
        if let (Some(before), Some(after)) = (self.out.chars().last(), self.rest.chars().next()) {
            match self.gap {
                Gap::Line if may_end_statement(before, after) => self.out.push('\n'),
                Gap::Line | Gap::Blank if parts(before, after) => self.out.push(' '),
                _ => {}
            }
        }
        self.gap = Gap::None;
        self.copy(length);
    }

    fn copy(&mut self, length: usize) {
        let (token, rest) = self.rest.split_at(length);
        self.out.push_str(token);
        self.rest = rest;
    }

    /// Whether a slash here would begin a regular expression.
    fn expects_expression(&self) -> bool {
        let word = self.out.rfind(|c| !in_word(c)).map_or(0, |at| {
            at + self.out[at..].chars().next().map_or(0, char::len_utf8)
        });
        match &self.out[word..] {
            "" => !self.out.ends_with([')', ']', '}', '"', '\'', '`']),
            last => BEFORE_EXPRESSION.contains(&last),
        }
    }
}

fn in_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '#' | '\\' | '@')
}

/// Whether two tokens would become another one without the blank between them.
fn parts(before: char, after: char) -> bool {
    let merge = |c| in_word(c) || matches!(c, '+' | '-' | '/' | '<' | '!' | '>' | '.' | '*');
    let safe = |word: char, other: char| in_word(word) && !in_word(other) && other != '.';
    merge(before) && merge(after) && !safe(before, after) && !safe(after, before)
}

/// Whether a statement could end at a line break between the two, so that the break has to stay.
fn may_end_statement(before: char, after: char) -> bool {
    !matches!(
        before,
        '{' | '(' | '[' | ',' | ';' | ':' | '?' | '=' | '&' | '|' | '%' | '^' | '~'
    ) && !matches!(
        after,
        '}' | ')' | ']' | ',' | ';' | ':' | '?' | '=' | '&' | '|' | '.'
    )
}

/// The length of the string that `text` begins with.
fn closed_by(text: &str, quote: char) -> anyhow::Result<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' => break,
            c if c == quote => return Ok(at + c.len_utf8()),
            _ => {}
        }
    }
    bail!("a script has a string without its end")
}

/// The length of the regular expression that `text` begins with, without its flags.
fn regex_length(text: &str) -> anyhow::Result<usize> {
    let (mut escaped, mut in_class) = (false, false);
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' => break,
            '[' => in_class = true,
            ']' => in_class = false,
            '/' if !in_class => return Ok(at + 1),
            _ => {}
        }
    }
    bail!("a script has a regular expression without its end")
}

#[cfg(test)]
mod tests;

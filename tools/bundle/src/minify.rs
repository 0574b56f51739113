//! Minification of a release: scripts with shorter names and without comments and blanks, style sheets without comments and
//! blanks that mean nothing, and the two compressions that browsers take.
//!
//! Style sheets by hand: a library that reads CSS whole, such as lightningcss, also rewrites declarations, and is 30 more
//! libraries.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use oxc_allocator::Allocator;
use oxc_codegen::{Codegen, CodegenOptions};
use oxc_minifier::{Minifier, MinifierOptions};
use oxc_parser::Parser;
use oxc_span::SourceType;

/// Shortens the names that are private to the script, and removes comments and blanks.
pub(crate) fn script(source: &str, kind: SourceType) -> Result<String, String> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, source, kind).parse();
    // The parser repairs what it can and continues; a repaired script is not shipped.
    if let Some(mistake) = parsed.diagnostics.first() {
        return Err(mistake.to_string());
    }
    let mut program = parsed.program;
    let minified = Minifier::new(MinifierOptions::default()).minify(&allocator, &mut program);
    let written = Codegen::new()
        .with_options(CodegenOptions::minify())
        .with_scoping(minified.scoping)
        .with_private_member_mappings(minified.class_private_mappings)
        .build(&program);
    Ok(written.code)
}

/// Removes comments and the blanks that mean nothing. Strings are left as they are; so is every blank around `+`, `-`,
/// `*`, `/` and `(`, which mean something in `calc()` and `@media`.
pub(crate) fn style(source: &str) -> Result<String, String> {
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

/// Brotli at its best, for a window that every browser has.
pub(crate) fn brotli(content: &[u8]) -> Vec<u8> {
    brotli_at(11, 22, content)
}

/// As `compressed_quickly` in `proxy/src/widget_files.rs`.
pub(crate) fn brotli_quickly(content: &[u8]) -> Vec<u8> {
    brotli_at(5, 18, content)
}

fn brotli_at(quality: i32, lgwin: i32, content: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let settings = brotli::enc::BrotliEncoderParams {
        quality,
        lgwin,
        // 64 KiB: the codes of a smaller block fit code and data of a WebAssembly module better.
        lgblock: 16,
        size_hint: content.len(),
        ..Default::default()
    };
    brotli::BrotliCompress(&mut &content[..], &mut out, &settings)
        .expect("writing to memory cannot fail");
    out
}

/// Gzip at its best, for what has no brotli: plain HTTP, mostly.
pub(crate) fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let written = encoder.write_all(content).and_then(|()| encoder.finish());
    written.expect("writing to memory cannot fail")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_keeps_its_exports_and_loses_its_long_names() {
        let source = "// a\nconst innerName = document.title;\nexport function mount(wholeName) {\n  \
                      return wholeName + innerName;\n}\n";
        assert_eq!(
            script(source, SourceType::mjs()).unwrap(),
            "const e=document.title;export function mount(t){return t+e}"
        );
    }

    #[test]
    fn a_scripts_own_names_stay_since_the_page_can_see_them() {
        let smaller = script(
            "var shown = 1; function go(a1) { return a1; }",
            SourceType::script(),
        );
        let smaller = smaller.unwrap();
        assert!(smaller.contains("shown"), "{smaller}");
        assert!(smaller.contains("function go("), "{smaller}");
    }

    #[test]
    fn a_mistake_is_an_error() {
        let mistake = script("let a = ;", SourceType::script()).unwrap_err();
        assert_eq!(mistake, "Unexpected token");
    }

    #[test]
    fn comments_and_blanks_that_mean_nothing_go_from_a_style_sheet() {
        for (source, smaller) in [
            (
                "/* a */\n.a > b,\n.c { color: red; /* b */\n  margin: 0 auto; }\n",
                ".a>b,.c{color:red;margin:0 auto}",
            ),
            (
                "a :hover { top: calc(1px + 2px) }",
                "a :hover{top:calc(1px + 2px)}",
            ),
            ("@media (a: b) and (c: d) { }", "@media (a:b) and (c:d){}"),
            ("a { b: c/**/d }", "a{b:c d}"),
            (r#"a { content: "/*  \" {" }"#, r#"a{content:"/*  \" {"}"#),
        ] {
            assert_eq!(style(source).unwrap(), smaller);
        }
        for (source, what) in [("a{}/* b", "comment"), ("a{b:'c}", "string")] {
            let error = format!("a style sheet has a {what} without its end");
            assert_eq!(style(source).unwrap_err(), error);
        }
    }
}

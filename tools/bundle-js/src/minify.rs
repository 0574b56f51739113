//! Minification: shorter names, no comments, no blanks.

use oxc_allocator::Allocator;
use oxc_codegen::{Codegen, CodegenOptions};
use oxc_minifier::{Minifier, MinifierOptions};
use oxc_parser::Parser;
use oxc_span::SourceType;

/// Shortens the names that are private to the script, and removes comments and blanks.
///
/// # Errors
/// The parser reports a mistake.
pub(crate) fn minify(source: &str, kind: SourceType) -> Result<String, String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_keeps_its_exports_and_loses_its_long_names() {
        let source = "// a\nconst innerName = document.title;\nexport function mount(wholeName) {\n  \
                      return wholeName + innerName;\n}\n";
        assert_eq!(
            minify(source, SourceType::mjs()).unwrap(),
            "const e=document.title;export function mount(t){return t+e}"
        );
    }

    #[test]
    fn a_scripts_own_names_stay_since_the_page_can_see_them() {
        let smaller = minify(
            "var shown = 1; function go(a1) { return a1; }",
            SourceType::script(),
        );
        let smaller = smaller.unwrap();
        assert!(smaller.contains("shown"), "{smaller}");
        assert!(smaller.contains("function go("), "{smaller}");
    }

    #[test]
    fn a_mistake_is_an_error() {
        let mistake = minify("let a = ;", SourceType::script()).unwrap_err();
        assert_eq!(mistake, "Unexpected token");
    }
}

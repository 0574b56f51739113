//! `minify-js script|module`: reads a script from its input and writes a smaller one that does the same.
//!
//! A program of its own, so that `cargo xtask` itself compiles in seconds: reading JavaScript takes fifty libraries.

use std::io::Read as _;
use std::process::ExitCode;

use oxc_allocator::Allocator;
use oxc_codegen::{Codegen, CodegenOptions};
use oxc_minifier::{Minifier, MinifierOptions};
use oxc_parser::Parser;
use oxc_span::SourceType;

fn main() -> ExitCode {
    match run() {
        Ok(smaller) => {
            print!("{smaller}");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("minify-js: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<String, String> {
    let kind = match std::env::args().nth(1).as_deref() {
        Some("script") => SourceType::script(),
        Some("module") => SourceType::mjs(),
        _ => return Err("say `script` or `module`".to_owned()),
    };
    let mut source = String::new();
    let read = std::io::stdin().read_to_string(&mut source);
    read.map_err(|error| error.to_string())?;
    minify(&source, kind)
}

/// Shortens names that nobody outside can see, and writes what is left without comments and blanks.
fn minify(source: &str, kind: SourceType) -> Result<String, String> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, source, kind).parse();
    // The parser mends what it can and goes on; a script that has to be mended is not shipped.
    if let Some(mistake) = parsed.diagnostics.first() {
        return Err(mistake.to_string());
    }
    let mut program = parsed.program;
    let minified = Minifier::new(MinifierOptions::default()).minify(&allocator, &mut program);
    let written = Codegen::new()
        .with_options(CodegenOptions::minify())
        .with_scoping(minified.scoping)
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

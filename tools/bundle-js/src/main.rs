//! Links and minifies the widget's scripts.
//!
//! ```text
//! bundle-js link script|module ENTRY     prints ENTRY with all modules that it imports, as one script
//! bundle-js minify script|module         reads a script from the input, prints a smaller one that does the same
//! ```
//!
//! `script` is for `<script src>`, `module` for `import`. A program of its own, so that `cargo xtask` compiles in
//! seconds: a parser of JavaScript takes fifty libraries.

mod link;
mod minify;
mod module;

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::ExitCode;

use oxc_span::SourceType;

fn main() -> ExitCode {
    match run() {
        Ok(script) => {
            print!("{script}");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("bundle-js: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<String, String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let kind = match words.get(1) {
        Some(&"script") => SourceType::script(),
        Some(&"module") => SourceType::mjs(),
        _ => return Err("the second argument must be `script` or `module`".to_owned()),
    };
    match words[..] {
        ["link", _, entry] => link::link(Path::new(entry), kind, &read_file),
        ["minify", _] => {
            let mut source = String::new();
            let read = std::io::stdin().read_to_string(&mut source);
            read.map_err(|error| error.to_string())?;
            minify::minify(&source, kind)
        }
        _ => Err("use `link script|module ENTRY` or `minify script|module`".to_owned()),
    }
}

fn read_file(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

//! Makes the widget's files as they are served, from what was compiled and from the folder `widget`.
//!
//! ```text
//! bundle-js bind PROGRAM BUILT         makes modules and their glue of a compiled program
//! bundle-js optimize WASM_OPT BUILT    makes the compiled modules in BUILT smaller
//! bundle-js package BUILT DIST         writes the files of DIST
//! bundle-js package-small BUILT DIST   the same, minified, and compressed beside each file
//! bundle-js budget DIST [stable]       prints the sizes of DIST, beside the promised ones
//! bundle-js trunk                      Trunk's hook: packages what Trunk has built, in Trunk's own folder
//! ```
//!
//! A separate program, so that `cargo xtask` compiles in seconds: a parser of JavaScript takes fifty libraries. `package-small`,
//! `budget` and `trunk` need the feature `small`, except for Trunk's debug builds.

mod bind;
#[cfg(feature = "small")]
mod budget;
mod files;
mod link;
#[cfg(feature = "small")]
mod minify;
mod module;
mod optimize;
#[cfg(feature = "split")]
mod split;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use oxc_span::SourceType;

use self::files::{Files, Kind};

/// The repository's root.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bundle-js: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[&str]) -> anyhow::Result<()> {
    match *words {
        ["bind", program, built] => bind::bind(Path::new(program), Path::new(built)),
        ["optimize", wasm_opt, built] => optimize::optimize(Path::new(wasm_opt), Path::new(built)),
        ["package", built, dist] => {
            let files = make(Path::new(built), false)?;
            files::write(Path::new(dist), &files)
        }
        ["package-small", built, dist] => {
            let mut files = make(Path::new(built), true)?;
            files.append(&mut compressed(&files));
            files::write(Path::new(dist), &files)
        }
        #[cfg(feature = "small")]
        ["budget", dist] => budget::check(Path::new(dist), false),
        #[cfg(feature = "small")]
        ["budget", dist, "stable"] => budget::check(Path::new(dist), true),
        ["trunk"] => package_for_trunk(),
        _ => bail!(
            "use `bind`, `optimize`, `package`, `package-small`, `budget` or `trunk`: tools/bundle/src/main.rs"
        ),
    }
}

fn make(built: &Path, is_small: bool) -> anyhow::Result<Files> {
    let tools = files::Tools {
        link: &|entry, kind| {
            link::link(entry, source_type(kind), &read_file).map_err(anyhow::Error::msg)
        },
        minify: if is_small {
            &minified
        } else {
            &|source: &str, _| Ok(source.to_owned())
        },
    };
    files::files(Path::new(ROOT), built, tools)
}

fn source_type(kind: Kind) -> SourceType {
    match kind {
        Kind::Script => SourceType::script(),
        Kind::Module | Kind::Style => SourceType::mjs(),
    }
}

fn read_file(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(feature = "small")]
fn minified(source: &str, kind: Kind) -> anyhow::Result<String> {
    let smaller = match kind {
        Kind::Style => minify::style(source),
        Kind::Script | Kind::Module => minify::script(source, source_type(kind)),
    };
    smaller.map_err(anyhow::Error::msg)
}

#[cfg(not(feature = "small"))]
fn minified(_: &str, _: Kind) -> anyhow::Result<String> {
    bail!("build bundle-js with its feature `small`")
}

/// The compressed forms of the files that they make smaller.
#[cfg(feature = "small")]
fn compressed(files: &Files) -> Files {
    let mut compressed = Files::new();
    for (name, content) in files {
        let forms = [
            ("br", minify::brotli(content)),
            ("gz", minify::gzip(content)),
        ];
        let smaller = forms
            .into_iter()
            .filter(|(_, form)| form.len() < content.len());
        compressed.extend(smaller.map(|(end, form)| (format!("{name}.{end}"), form)));
    }
    compressed
}

/// [`minified`] has refused before.
#[cfg(not(feature = "small"))]
fn compressed(_: &Files) -> Files {
    Files::new()
}

/// The hook that Trunk calls after each of its builds (`widget/Trunk.toml`), so that `trunk serve` and `trunk build` make pages
/// that work.
fn package_for_trunk() -> anyhow::Result<()> {
    let staging = env::var_os("TRUNK_STAGING_DIR").map(PathBuf::from);
    let staging =
        staging.context("Trunk calls this command: run `trunk serve` or `trunk build`")?;
    let is_debug = env::var("TRUNK_PROFILE").is_ok_and(|profile| profile == "debug");
    let mut files = make(&staging, !is_debug)?;
    let name = if is_debug {
        // The environment that names what is wrong with a page.
        "pay.test.html"
    } else {
        "pay.html"
    };
    let mut page = files[name].clone();
    if is_debug {
        // Opens the demo's order on a page that names none.
        let order =
            "<script>location.search ||= \"?store=demo&product=ebook\";</script>\n    <main>";
        page = String::from_utf8(page)?
            .replacen("<main>", order, 1)
            .into_bytes();
    } else {
        files.append(&mut compressed(&files));
    }
    files.insert("index.html".to_owned(), page);
    for name in ["widget.js", "widget_bg.wasm"] {
        fs::remove_file(staging.join(name)).with_context(|| format!("{name} cannot be removed"))?;
    }
    files::write(&staging, &files)
}

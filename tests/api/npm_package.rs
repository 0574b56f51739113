//! The npm package as installed: its files, its types, and rendering on a server. Its behaviour in a browser is
//! tested in `tests/browser/npm_package.rs`. Beside it the types and the names that scripts repeat, because none can import
//! another.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};
use support::{CONTRACT, NpmProject, React, type_errors_of};

use crate::repository::{root, text_of};

#[test]
fn the_package_has_the_repositorys_version_and_no_dependencies_and_node_imports_it() {
    let project = NpmProject::with(React::V19);
    // Without a bundler, which could hide a wrong `exports`.
    let script = "import * as florin from 'florin';
        import * as react from 'florin/react';
        console.log(Object.keys(florin).join(), Object.keys(react).join());";
    project.write("import.js", script);
    assert_eq!(project.run("import.js").trim(), "loadFlorin FlorinCheckout");
    let packed = fs::read_dir(project.file("node_modules/florin")).unwrap();
    let folders = packed.filter(|entry| entry.as_ref().unwrap().path().is_dir());
    assert_eq!(folders.count(), 0, "its tests are not packed");
    let package: Value = serde_json::from_str(&text_of("packages/florin/package.json")).unwrap();
    assert_eq!(package["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(package["license"], env!("CARGO_PKG_LICENSE"));
    assert!(package["dependencies"].is_null());
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        let ours = text_of(&format!("packages/florin/{licence}"));
        assert!(ours == text_of(licence), "{licence} differs");
    }
}

/// Module resolution of Node and of a bundler; the package's own types are checked as well.
const NODE: &str = "--module node16";
const BUNDLER: &str = "--module esnext --moduleResolution bundler";
const STRICT: &str = "--strict --skipLibCheck false --target es2022 --lib es2022,dom,dom.iterable --jsx react-jsx \
                      --types react";
const CASES: &str = "element.valid.ts element.invalid.ts react.valid.tsx react.invalid.tsx";

fn type_errors(project: &NpmProject, flags: &str, files: &str) -> String {
    let words = [STRICT, flags, files].into_iter();
    let words = words.flat_map(|words| words.split_whitespace());
    project.type_errors(&words.collect::<Vec<_>>())
}

/// Each line of `*.invalid.ts` below a `@ts-expect-error` must be one: a mistake that compiles is an error here.
#[test]
fn valid_pages_compile_and_invalid_ones_do_not() {
    for (react, flags) in [
        (React::V19, BUNDLER),
        (React::V19, NODE),
        (React::V18, BUNDLER),
    ] {
        let project = NpmProject::with(react);
        project.copy("tests/types");
        let errors = type_errors(&project, flags, CASES);
        assert_eq!(errors, "", "{react:?} {flags}");
    }
}

#[test]
fn the_code_of_the_readme_compiles() {
    let project = NpmProject::with(React::V19);
    let readme = text_of("packages/florin/README.md");
    let mut files = Vec::new();
    for block in readme.split("```").skip(1).step_by(2) {
        let (language, code) = block.split_once('\n').unwrap();
        if language.starts_with("ts") {
            let file = format!("readme-{}.{language}", files.len());
            project.write(&file, code);
            files.push(file);
        }
    }
    assert_eq!(files.len(), 3);
    assert_eq!(type_errors(&project, BUNDLER, &files.join(" ")), "");
}

/// Returns the strings in a file between `beginning` and the next bracket.
fn words_in(path: &str, beginning: &str) -> Vec<String> {
    let file = text_of(path);
    let (_, list) = file.split_once(beginning).unwrap();
    let (list, _) = list.split_once(']').unwrap();
    let words = list.split(['\'', '"']).skip(1).step_by(2);
    words.map(str::to_owned).collect()
}

const THEMES: &str = "pub const THEMES: [&str; 7] = [";
const TOKENS: &str = "pub const TOKENS: [&str; 12] = [";

/// Returns the words between `beginning` and `end` in a file, separated by `between`.
fn listed(path: &str, beginning: &str, end: &str, between: &str) -> Vec<String> {
    let file = text_of(path);
    let (_, list) = file.split_once(beginning).expect(beginning);
    let (list, _) = list.split_once(end).expect(end);
    list.split(between).map(str::to_owned).collect()
}

/// `Record` accepts neither a missing nor an unknown member.
#[test]
fn the_types_match_the_element() {
    let record = |words: Vec<String>| {
        let members = words.into_iter().map(|word| (word, json!(true)));
        Value::Object(members.collect())
    };
    let attributes = listed("widget/js/attributes.js", "const ATTRIBUTES = '", "'", " ");
    let attributes = record(attributes);
    let events = words_in("widget/js/host/page.js", "const EVENTS = [");
    let events = record(events.iter().map(|word| format!("florin-{word}")).collect());
    let view = "crates/checkout-api/src/order_view.rs";
    let themes = record(words_in(view, THEMES));
    let tokens = words_in(view, TOKENS);
    // The loader sets a frame's height; only the page can override it, not the store.
    let tokens = tokens.iter().map(String::as_str).chain(["min-height"]);
    let tokens = record(tokens.map(|word| format!("--florin-{word}")).collect());
    let displays = record(words_in("widget/js/diagnostics.js", "const DISPLAYS = ["));
    let statuses = CONTRACT.document()["components"]["schemas"]["Status"].clone();
    let statuses = record(words_of(&statuses));
    let project = NpmProject::with(React::V19);
    let program = format!(
        "import type {{ FlorinCheckoutAttributes, FlorinEventMap, FlorinDisplay, FlorinStatus, FlorinTheme, FlorinToken }} from 'florin';
        type Names<Union> = Union extends unknown ? keyof Union : never;
        export const attributes: Record<Names<FlorinCheckoutAttributes>, true> = {attributes};
        export const events: Record<keyof FlorinEventMap, true> = {events};
        export const displays: Record<FlorinDisplay, true> = {displays};
        export const statuses: Record<FlorinStatus, true> = {statuses};
        export const themes: Record<FlorinTheme, true> = {themes};
        export const tokens: Record<FlorinToken, true> = {tokens};"
    );
    project.write("knows.ts", &program);
    let errors = type_errors(&project, BUNDLER, "knows.ts");
    assert_eq!(errors, "", "{program}");
}

/// Returns the words of an enumeration, in each form of JSON Schema.
fn words_of(schema: &Value) -> Vec<String> {
    let word = |value: &Value| value.as_str().map(str::to_owned);
    let together = schema["enum"].as_array().into_iter().flatten();
    let apart = schema["oneOf"].as_array().into_iter().flatten();
    let apart = apart.flat_map(|one| match &one["const"] {
        Value::Null => words_of(one),
        single => word(single).into_iter().collect(),
    });
    together.filter_map(word).chain(apart).collect()
}

/// A server has neither `window` nor `document`.
#[test]
fn on_a_server_the_bare_element_is_rendered() {
    for react in [React::V18, React::V19] {
        let project = NpmProject::with(react);
        project.write(
            "server.jsx",
            "import { renderToString } from 'react-dom/server';
            import { loadFlorin } from 'florin';
            import { FlorinCheckout } from 'florin/react';
            const all = () => {};
            console.log(renderToString(
              <FlorinCheckout
                src=\"https://pay.shop.example/florin.js\" nonce=\"r4nd0m\" integrity=\"sha384-x\" failure=\"No.\"
                orderToken=\"eyJ\" store=\"demo\" theme=\"dark\" className=\"wide\" id=\"one\" words={{ en: {} }}
                onReady={all} onResize={all} onStatus={all} onPaid={all} onClose={all} onError={all}
              >Loading</FlorinCheckout>));
            loadFlorin('https://pay.shop.example/florin.js').then((loaded) => console.log(loaded));",
        );
        project.bundle("server.jsx", "server.cjs", &["--platform=node"]);
        let printed = project.run("server.cjs");
        let (html, loaded) = printed.trim().split_once('\n').unwrap();
        assert_eq!(loaded, "null");
        let words: BTreeSet<_> = html.split([' ', '>']).collect();
        let expected = [
            "",
            "<florin-checkout",
            "Loading</florin-checkout",
            "class=\"wide\"",
            "id=\"one\"",
            "order-token=\"eyJ\"",
            "store=\"demo\"",
            "theme=\"dark\"",
            "words=\"{&quot;en&quot;:{}}\"",
        ];
        assert_eq!(words, expected.into(), "{react:?}: {html}");
    }
}

/// The types of the package are compared above.
#[test]
fn every_list_of_themes_tokens_sources_and_displays_is_complete() {
    let (view, loader) = (
        "crates/checkout-api/src/order_view.rs",
        "widget/js/attributes.js",
    );
    let themes = words_in(view, THEMES);
    let gallery: Value = serde_json::from_str(&text_of("widget/gallery/states.json")).unwrap();
    assert_eq!(gallery["themes"], Value::from(themes.clone()), "gallery");
    let builder = text_of("examples/shop/site/theme-builder.js");
    let (_, rows) = builder.split_once("const THEMES = [").unwrap();
    let (rows, _) = rows.split_once("];").unwrap();
    let first = |row: &str| row.split('"').nth(1).unwrap().to_owned();
    let builder: Vec<_> = rows.trim().lines().map(first).collect();
    let sources = words_in("widget/js/host/order.js", "const SOURCES = [");
    let displays = words_in("widget/js/diagnostics.js", "const DISPLAYS = [");
    let of_diagnostics = |beginning| words_in("widget/js/diagnostics.js", beginning);
    let tests = THEMES.trim_start_matches("pub ");
    let tokens = words_in(view, TOKENS);
    for (found, expected) in [
        (builder, &themes),
        (words_in("tests/browser/themes.rs", tests), &themes),
        (of_diagnostics("const THEMES = ["), &themes),
        (listed(loader, "\\n[-\\w]*\\n(", ")", "|"), &themes),
        (listed(loader, "const TOKENS = '", "'", " "), &tokens),
        (of_diagnostics("const SOURCES = ["), &sources),
        (listed(loader, ".+\\n))(", ")", "|"), &displays),
    ] {
        assert_eq!(found, *expected);
    }
    // In VALID_ATTRIBUTES the lines are the attributes in their order.
    let attributes = listed(loader, "const ATTRIBUTES = '", "'", " ").into_iter();
    let before = attributes.take_while(|name| name != "display");
    let others = ["store", "quantity", "amount"];
    let before: Vec<_> = before
        .filter(|name| !others.contains(&name.as_str()))
        .collect();
    assert_eq!(before, sources);
}

#[test]
fn the_scripts_have_no_type_error() {
    let scripts = root().join("widget/js");
    assert_eq!(type_errors_of(&scripts.join("tsconfig.json")), "");
}

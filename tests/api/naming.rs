//! Names that several files repeat because none can import another: each list must be complete.

use serde_json::Value;

use crate::npm_package::{of_the_repository, words_in};

const THEMES: &str = "pub const THEMES: [&str; 7] = [";
const TOKENS: &str = "pub const TOKENS: [&str; 12] = [";

/// Returns the words between `beginning` and `end` in a file, separated by `between`.
pub(crate) fn listed(path: &str, beginning: &str, end: &str, between: &str) -> Vec<String> {
    let file = of_the_repository(path);
    let (_, list) = file.split_once(beginning).expect(beginning);
    let (list, _) = list.split_once(end).expect(end);
    list.split(between).map(str::to_owned).collect()
}

#[test]
fn every_list_of_themes_is_complete() {
    let themes = words_in("crates/checkout-api/src/order_view.rs", THEMES);
    let loader = listed("widget/js/attributes.js", "\\n[-\\w]*\\n(", ")", "|");
    assert_eq!(loader, themes, "VALID_ATTRIBUTES");
    let diagnostics = words_in("widget/js/diagnostics.js", "const THEMES = [");
    assert_eq!(diagnostics, themes, "diagnostics.js");
    let event_types = listed(
        "packages/florin/element.d.ts",
        "export type FlorinTheme = '",
        "';",
        "' | '",
    );
    assert_eq!(event_types, themes, "FlorinTheme");
    let gallery: Value =
        serde_json::from_str(&of_the_repository("widget/gallery/states.json")).unwrap();
    assert_eq!(gallery["themes"], Value::from(themes.clone()), "gallery");
    let builder = of_the_repository("examples/shop/site/theme-builder.js");
    let (_, rows) = builder.split_once("const THEMES = [").unwrap();
    let (rows, _) = rows.split_once("];").unwrap();
    let first = |row: &str| row.split('"').nth(1).unwrap().to_owned();
    let builder: Vec<_> = rows.trim().lines().map(first).collect();
    assert_eq!(builder, themes, "theme builder");
    let tests = words_in("tests/browser/themes.rs", THEMES.trim_start_matches("pub "));
    assert_eq!(tests, themes, "tests/browser/themes.rs");
}

#[test]
fn the_loader_knows_every_theme_token() {
    let tokens = words_in("crates/checkout-api/src/order_view.rs", TOKENS);
    assert_eq!(
        tokens,
        listed("widget/js/attributes.js", "const TOKENS = '", "'", " ")
    );
}

#[test]
fn loader_diagnostics_and_host_have_the_same_sources_and_displays() {
    let sources = words_in("widget/js/host/order.js", "const SOURCES = [");
    assert_eq!(
        words_in("widget/js/diagnostics.js", "const SOURCES = ["),
        sources
    );
    let attributes = listed("widget/js/attributes.js", "const ATTRIBUTES = '", "'", " ");
    // In VALID_ATTRIBUTES the lines are the attributes in their order.
    let before = attributes.iter().take_while(|name| *name != "display");
    let others = ["store", "quantity", "amount"];
    let lines: Vec<_> = before
        .filter(|name| !others.contains(&name.as_str()))
        .collect();
    assert_eq!(lines, sources.iter().collect::<Vec<_>>());
    let event_types = of_the_repository("packages/florin/element.d.ts");
    for source in &sources {
        let member = [
            format!("  {source}: string;"),
            format!("  '{source}': string;"),
        ];
        assert!(
            member.iter().any(|member| event_types.contains(member)),
            "{source}"
        );
    }
    let displays = words_in("widget/js/diagnostics.js", "const DISPLAYS = [");
    let loader = listed("widget/js/attributes.js", ".+\\n))(", ")", "|");
    assert_eq!(loader, displays, "VALID_ATTRIBUTES");
    let event_types = listed(
        "packages/florin/element.d.ts",
        "export type FlorinDisplay = '",
        "';",
        "' | '",
    );
    assert_eq!(event_types, displays, "FlorinDisplay");
}

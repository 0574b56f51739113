//! The files of the widget: the loader and the page know their proxy, files of other versions stay available, and the script that
//! asks a wallet of the browser sends the checked payment or nothing. And the npm package as installed: its files, its types, and
//! rendering on a server; `tests/browser/fronts.rs` has its behaviour in a browser. Beside it the types and the names that
//! scripts repeat, because none can import another.

use std::collections::BTreeSet;
use std::fs;

use florin_money::Asset;
use florin_storage::{Database, StaticFile};
use serde_json::{Value, json};
use support::{CONTRACT, NpmProject, React, World, type_errors_of, wallet_guards};

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
    let events = words_in("widget/js/first/page.js", "const EVENTS = [");
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
    let sources = words_in("widget/js/first/order.js", "const SOURCES = [");
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

async fn loader_of_the_page(world: &World) -> String {
    let page = world.get("/pay").await.with(200).text;
    let (_, path) = page.split_once("./assets/florin-").unwrap();
    format!("/assets/florin-{}.js", path.split_once(".js").unwrap().0)
}

#[tokio::test]
async fn the_loader_has_the_address_of_its_proxy_and_the_page_a_loader_by_its_content() {
    for environment in ["test", "production"] {
        let world = World::with(|config| config.environment = environment).await;
        let loader = world.get("/florin.js").await.with(200);
        let address = format!("{}/", world.proxy_url());
        assert!(loader.text.contains(&address), "{environment}");
        assert!(!loader.text.contains("%PUBLIC_URL%"), "{environment}");
        let url = format!("{}/florin.js", world.proxy_url());
        let request = world.http().get(url).header("accept-encoding", "br");
        let compressed = request.send().await.unwrap();
        assert_eq!(compressed.headers()["content-encoding"], "br");
        assert!(compressed.bytes().await.unwrap().len() < 3_100);
        let own = world.get(&loader_of_the_page(&world).await).await.with(200);
        let cache = own.header("cache-control").unwrap();
        assert!(cache.contains("immutable"), "{cache}");
        world.end().await;
    }
}

/// A page that was loaded before asks for its files afterwards. `contract/database.rs` of the storage has both databases.
#[tokio::test]
async fn files_of_another_version_are_served_after_an_upgrade_and_a_roll_back() {
    let mut world = World::start().await;
    let own = loader_of_the_page(&world).await;
    let own = own.rsplit_once('/').unwrap().1;
    world.stop_proxy().await;
    let database = Database::open(&world.database_url(), "test").await.unwrap();
    let storage = database.storage();
    let kept = storage.static_file(own).await.unwrap();
    assert!(kept.is_some_and(|file| !file.whole.is_empty()), "{own}");
    let other = StaticFile {
        name: "florin-0123456789abcdef.js".to_owned(),
        whole: b"export const version = 0;".to_vec(),
        brotli: None,
    };
    let now = world.clock.now();
    storage
        .keep_static_files(std::slice::from_ref(&other), now)
        .await
        .unwrap();
    database.close().await;
    world.start_proxy().await;
    let response = world.get(&format!("/assets/{}", other.name)).await;
    let response = response.with(200);
    assert_eq!(response.text.as_bytes(), other.whole);
    let script = "text/javascript; charset=utf-8";
    assert_eq!(response.header("content-type"), Some(script));
    let cache = response.header("cache-control").unwrap();
    assert!(cache.contains("immutable"), "{cache}");
    for unknown in ["florin-0000000000000000.js", "..%2Fpay.html", "%00"] {
        let response = world.get(&format!("/assets/{unknown}")).await;
        assert_eq!(response.status, 404, "{unknown}");
    }
    world.end().await;
}

/// Assets for which no wallet of a phone has a link.
const WITHOUT_LINK: [&str; 1] = ["BCH"];

#[test]
fn the_script_asks_for_the_checked_payment_alone_and_names_each_refusal() {
    assert_eq!(wallet_guards("guards.js"), "");
}

#[test]
fn the_script_for_wallets_of_tron_lets_them_sign_the_checked_payment_alone() {
    assert_eq!(wallet_guards("tron_guards.js"), "");
}

#[test]
fn every_asset_has_a_link_to_a_wallet_or_is_known_to_have_none() {
    let links = text_of("widget/js/wallets/universal_links.json");
    let links: Value = serde_json::from_str(&links).unwrap();
    let links = links["universal_links"].as_array().unwrap();
    for asset in Asset::ALL {
        let code = asset.crypto_code();
        let has_link = links
            .iter()
            .any(|wallet| wallet["assets"].get(code.as_str()).is_some());
        let is_known = WITHOUT_LINK.contains(&code.as_str());
        assert_eq!(has_link, !is_known, "{}", code.as_str());
    }
}

/// A wallet that does not know the chain of a payment link is given the chain's data.
#[test]
fn every_chain_of_a_payment_link_can_be_added_to_a_wallet() {
    let networks = text_of("crates/address/src/payment_uri/networks.rs");
    let chains = text_of("widget/js/wallets/chains.js");
    let texts = networks.split('"').skip(1).step_by(2);
    let ids: Vec<u64> = texts.filter_map(|text| text.parse().ok()).collect();
    assert!(ids.contains(&1), "{ids:?}");
    for id in ids {
        assert!(chains.contains(&format!("'{id:#x}':")), "{id}");
    }
}

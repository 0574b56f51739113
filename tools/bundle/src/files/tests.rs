use tempfile::TempDir;

use super::*;

/// A repository with a widget of a few bytes, and Trunk's output for it.
fn small_widget() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        (
            "widget/js/florin.js",
            "go('host-%VERSION%.js', '%ENVIRONMENT%', '%KIND%');",
        ),
        ("widget/js/first.js", "style('%STYLE%');"),
        (
            "widget/js/first_page.js",
            "import('./florin.js'); '%TAGS%';",
        ),
        (
            "widget/js/host.js",
            "go('%FLORIN:widget.js%', '%LANGUAGES%');",
        ),
        ("widget/icons/icon.svg", "<svg/>"),
        ("widget/icons/paid-icon.svg", "<svg/>"),
        ("widget/icons/problem-icon.svg", "<svg/>"),
        ("widget/js/dialog.js", "open();"),
        ("widget/js/labels.js", "find('%LABELS%', '%DIAGNOSTICS%');"),
        ("widget/js/diagnostics.js", "look('%FLORIN:payment.css%');"),
        ("packages/florin/element.d.ts", "export {};"),
        ("widget/js/payment.js", "print();"),
        ("widget/js/wallets.js", "pay();"),
        ("widget/page.css", "b { color: red }"),
        (
            "widget/locales/en.json",
            "{ \"list\": { \"choose\": \"Choose\" }, \"first\": { \"back\": \"Back\" }, \"later\": { \"paid\": \"Paid\" }, \"wallets\": { \"wallet_pay\": \"Pay\" }, \"loader\": { \"pay\": \"Pay\" }, \"diagnostics\": { \"none\": \"none\" } }",
        ),
        ("widget/gallery/states.json", "{ \"states\": [] }"),
        ("built/widget.js", "export default 1;"),
        ("built/widget_bg.wasm", "\0asm"),
        (
            "built/index.html",
            "<style>%STYLE%</style><script>%FIRST_PAGE%</script>",
        ),
    ] {
        write_file(&folder, name, text);
    }
    for name in STYLES.concat() {
        let style = format!(".{name} {{ color: red; }}\n");
        write_file(&folder, &format!("widget/styles/{name}.css"), &style);
    }
    folder
}

/// Writes a file, and creates its folder.
fn write_file(folder: &TempDir, name: &str, text: &str) {
    let path = folder.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn packaged(folder: &TempDir) -> anyhow::Result<Files> {
    let tools = Tools {
        link: &|entry, kind| Ok(format!("{} // linked as {kind:?}", text(entry)?)),
        minify: &|source, kind| Ok(format!("{source} // {kind:?}")),
    };
    files(folder.path(), &folder.path().join("built"), tools)
}

#[test]
fn comments_and_indentation_of_a_page_go_and_words_stay_apart() {
    let page = "<p>\n  one <!-- a\n b -->\n\n  two\n</p>\n";
    assert_eq!(stripped(page), "<p>\none\ntwo\n</p>");
}

#[test]
fn a_token_becomes_the_path_of_its_file_or_is_an_error_that_names_both() {
    let path = "assets/widget-0a1b2c3d.js".to_owned();
    let assets = Assets::from([("widget.js".to_owned(), (path, Vec::new()))]);
    let filled = |text| fill(text, "florin.js", &assets).map_err(|error| error.to_string());
    assert_eq!(
        filled("import('%FLORIN:widget.js%');").unwrap(),
        "import('assets/widget-0a1b2c3d.js');"
    );
    for (text, error) in [
        (
            "'%FLORIN:wigdet.js%'",
            "florin.js names %FLORIN:wigdet.js%, but the files are widget.js",
        ),
        (
            "'%FLORIN:widget.js",
            "florin.js has a %FLORIN: without its end",
        ),
    ] {
        assert_eq!(filled(text).unwrap_err(), error);
    }
}

/// The text of the only file whose name begins so, and its name.
fn found<'a>(files: &'a Files, begin: &str) -> (&'a str, &'a str) {
    let mut found = files.iter().filter(|(name, _)| name.starts_with(begin));
    let (name, content) = found.next().unwrap();
    assert!(found.next().is_none(), "{begin}");
    (std::str::from_utf8(content).unwrap(), name)
}

#[test]
fn files_name_others_by_their_content_and_the_loader_all_that_it_loads() {
    let files = packaged(&small_widget()).unwrap();
    let all = LOADED.map(|name| {
        let begin = format!("assets/{}-", name.trim_end_matches(".js"));
        found(&files, &begin).0
    });
    let version = hash(all.concat().as_bytes());
    for (environment, name, page) in ENVIRONMENTS {
        let loader = String::from_utf8_lossy(&files[name]);
        assert_eq!(
            loader,
            format!(
                "go('host-{version}.js', '{environment}', 'shop'); // linked as Script // Script"
            )
        );
        let own = loader.replace("shop", "page");
        let path = format!("assets/florin-{}.js", hash(own.as_bytes()));
        assert_eq!(String::from_utf8_lossy(&files[&path]), own);
        let page = String::from_utf8_lossy(&files[page]);
        let script =
            format!("<script>import('./{path}'); 'en'; // linked as Script // Script</script>");
        assert!(page.contains(&script), "{page}");
    }
    // printf %s 'export default 1; // Module' | sha256sum; printf %s '{"choose":"Choose"}{"back":"Back"}{"paid":"Paid"}{"wallet_pay":"Pay"}' | sha256sum
    for (name, text) in [
        (
            format!("assets/host-{version}.js"),
            "go('assets/widget-53a986b3.js', 'en=7691ba56'); // linked as Module // Module",
        ),
        (
            "assets/widget-53a986b3.js".to_owned(),
            "export default 1; // Module",
        ),
        ("assets/en-7691ba56.json".to_owned(), "{\"back\":\"Back\"}"),
        (
            "assets/en.payment-7691ba56.json".to_owned(),
            "{\"paid\":\"Paid\"}",
        ),
    ] {
        assert_eq!(String::from_utf8_lossy(&files[&name]), text);
    }
    let style = "style(\".tokens { color: red; }\\n.base {";
    assert!(found(&files, "assets/first-").0.starts_with(style));
    let (texts, name) = found(&files, "assets/en.diagnostics-");
    assert!(texts.starts_with("export const texts = {\"none\":\"none\"};"));
    let labels = format!(
        "find({{\"en\":{{\"pay\":\"Pay\"}}}}, 'en={}');",
        hash_of(name)
    );
    assert!(found(&files, "assets/labels-").0.starts_with(&labels));
}

#[test]
fn the_second_module_is_named_where_there_is_one() {
    let folder = small_widget();
    let script = "load('%FLORIN:payment.wasm%');";
    write_file(&folder, "widget/js/host.js", script);
    let files = packaged(&folder).unwrap();
    assert!(found(&files, "assets/host").0.starts_with("load('');"));
    write_file(&folder, &format!("built/{PAYMENT}"), "\0asm");
    let files = packaged(&folder).unwrap();
    let host = found(&files, "assets/host").0;
    assert!(host.starts_with("load('assets/payment-"), "{host}");
}

#[test]
fn a_missing_section_and_a_sheet_that_nothing_loads_are_errors() {
    for (name, text, end) in [
        (
            "widget/locales/en.json",
            "{ \"list\": {} }",
            "en.json has no section `first`",
        ),
        (
            "widget/styles/stray.css",
            "a {}",
            "stray.css is in no order: name it in tools/bundle/src/files.rs",
        ),
    ] {
        let folder = small_widget();
        write_file(&folder, name, text);
        let error = packaged(&folder).unwrap_err().to_string();
        assert!(error.ends_with(end), "{error}");
    }
}

#[test]
fn what_is_the_same_is_not_touched_and_what_is_old_goes() {
    let folder = tempfile::tempdir().unwrap();
    let dist = folder.path().join("dist");
    let fill = |other: &str| {
        let names = ["florin.js", other].map(|name| (name.to_owned(), b"one".to_vec()));
        write(&dist, &Files::from(names)).unwrap();
    };
    fill("assets/a.js");
    let written = |name: &str| fs::metadata(dist.join(name)).unwrap().modified().unwrap();
    let before = written("florin.js");
    fill("assets/b.js");
    assert_eq!(written("florin.js"), before);
    assert!(!dist.join("assets/a.js").exists());
    assert_eq!(fs::read(dist.join("assets/b.js")).unwrap(), b"one");
}

use tempfile::TempDir;

use super::*;

fn assets() -> BTreeMap<String, (String, Vec<u8>)> {
    let path = "assets/widget-0a1b2c3d.js".to_owned();
    BTreeMap::from([("widget.js".to_owned(), (path, Vec::new()))])
}

/// A repository with a widget of a few bytes, and Trunk's output for it.
fn small_widget() -> TempDir {
    let folder = empty_folder();
    for (name, text) in [
        (
            "widget/js/florin.js",
            "go('host-%VERSION%.js', '%ENVIRONMENT%', '%KIND%');",
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
        ("widget/js/diagnostics.js", "look('%FLORIN:theme.js%');"),
        ("packages/florin/element.d.ts", "export {};"),
        ("widget/js/theme.js", "export {};"),
        ("widget/js/payment.js", "print();"),
        ("widget/js/wallets.js", "pay();"),
        ("widget/page.css", "b { color: red }"),
        (
            "widget/locales/en.json",
            "{ \"first\": { \"back\": \"Back\" }, \"later\": { \"paid\": \"Paid\" }, \"wallets\": { \"wallet_pay\": \"Pay\" }, \"loader\": { \"pay\": \"Pay\", \"noscript\": \"None\" }, \"diagnostics\": { \"none\": \"none\" } }",
        ),
        ("widget/gallery/states.json", "{ \"states\": [] }"),
        ("built/widget.js", "export default 1;"),
        ("built/widget_bg.wasm", "\0asm"),
        (
            "built/index.html",
            "<style>%STYLE%</style><link href=\"%FLORIN:florin.css%\"><script src=\"./florin.js\" async></script>",
        ),
    ] {
        write_file(&folder, name, text);
    }
    for name in STYLES.iter().flat_map(|(_, sheets)| *sheets) {
        let style = format!(".{name} {{ color: red; }}\n");
        write_file(&folder, &format!("widget/styles/{name}.css"), &style);
    }
    folder
}

fn empty_folder() -> TempDir {
    tempfile::tempdir().unwrap()
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
fn a_token_becomes_the_path_of_its_file() {
    assert_eq!(
        fill("import('%FLORIN:widget.js%');", "florin.js", &assets()).unwrap(),
        "import('assets/widget-0a1b2c3d.js');"
    );
}

#[test]
fn a_token_without_a_file_is_an_error_that_names_both() {
    let error = fill("'%FLORIN:wigdet.js%'", "florin.js", &assets()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "florin.js names %FLORIN:wigdet.js%, but the files are widget.js"
    );
    let error = fill("'%FLORIN:widget.js", "florin.js", &assets()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "florin.js has a %FLORIN: without its end"
    );
}

#[test]
fn the_loader_names_files_by_their_content() {
    let folder = small_widget();
    let files = packaged(&folder).unwrap();
    // printf %s 'export default 1; // Module' | sha256sum; printf %s '{"back":"Back"}{"paid":"Paid"}{"wallet_pay":"Pay"}' | sha256sum
    // … and so are the files that name them: they change their own name with theirs.
    let all: Vec<u8> = LOADED
        .iter()
        .flat_map(|name| {
            let begin = format!("assets/{}-", name.trim_end_matches(".js"));
            let mut found = files.iter().filter(|(name, _)| name.starts_with(&begin));
            found.next().unwrap().1.clone()
        })
        .collect();
    let version = hash(&all);
    assert_eq!(
        String::from_utf8_lossy(&files["florin.js"]),
        format!("go('host-{version}.js', 'production', 'shop'); // linked as Script // Script")
    );
    assert_eq!(
        String::from_utf8_lossy(&files["florin.test.js"]),
        format!("go('host-{version}.js', 'test', 'shop'); // linked as Script // Script")
    );
    assert_eq!(
        String::from_utf8_lossy(&files[&format!("assets/host-{version}.js")]),
        "go('assets/widget-53a986b3.js', 'en=8a009bff'); // linked as Module // Module"
    );
    assert_eq!(
        files["assets/widget-53a986b3.js"],
        b"export default 1; // Module"
    );
    assert_eq!(files["assets/en-8a009bff.json"], b"{\"back\":\"Back\"}");
    assert_eq!(
        files["assets/en.payment-8a009bff.json"],
        b"{\"paid\":\"Paid\"}"
    );
}

#[test]
fn a_page_names_the_loader_of_its_environment_by_its_content() {
    let files = packaged(&small_widget()).unwrap();
    for (_, loader, page) in ENVIRONMENTS {
        let page = String::from_utf8_lossy(&files[page]);
        let (_, name) = page.split_once("<script src=\"").unwrap();
        let (name, _) = name.split_once('"').unwrap();
        let own = String::from_utf8_lossy(&files[loader]).replace("shop", "page");
        assert_eq!(String::from_utf8_lossy(&files[name]), own);
        assert_eq!(name, format!("assets/florin-{}.js", hash(own.as_bytes())));
    }
}

#[test]
fn the_second_module_is_named_where_there_is_one() {
    let folder = small_widget();
    write_file(
        &folder,
        "widget/js/host.js",
        "load('%FLORIN:payment.wasm%');",
    );
    let host = |files: &Files| {
        let host = files
            .iter()
            .find(|(name, _)| name.starts_with("assets/host"));
        String::from_utf8_lossy(host.unwrap().1).into_owned()
    };
    let files = packaged(&folder).unwrap();
    assert!(host(&files).starts_with("load('');"), "{}", host(&files));
    write_file(&folder, &format!("built/{PAYMENT}"), "\0asm");
    let files = packaged(&folder).unwrap();
    assert!(
        host(&files).starts_with("load('assets/payment-"),
        "{}",
        host(&files)
    );
}

#[test]
fn the_texts_of_loader_and_merchant_are_modules() {
    let folder = small_widget();
    let files = packaged(&folder).unwrap();
    let found = |begin: &str| {
        let mut found = files.iter().filter(|(name, _)| name.starts_with(begin));
        let (name, content) = found.next().unwrap();
        assert!(
            Path::new(name).extension().is_some_and(|end| end == "js"),
            "{name}"
        );
        let script = String::from_utf8(content.clone()).unwrap();
        let hash = hash_of(name).to_owned();
        (hash, script.split_once(" //").unwrap().0.to_owned())
    };
    let (hash, script) = found("assets/en.diagnostics-");
    assert_eq!(script, "export const texts = {\"none\":\"none\"};");
    // What stands in the page itself is no label.
    let labels = format!("find({{\"en\":{{\"pay\":\"Pay\"}}}}, 'en={hash}');");
    assert_eq!(found("assets/labels-").1, labels);
}

#[test]
fn a_language_without_the_texts_of_a_section_is_an_error() {
    let folder = small_widget();
    write_file(&folder, "widget/locales/en.json", "{ \"first\": {} }");
    let error = packaged(&folder).unwrap_err().to_string();
    assert!(error.ends_with("en.json has no section `later`"), "{error}");
}

#[test]
fn what_is_the_same_is_not_touched_and_what_is_old_goes() {
    let folder = empty_folder();
    let dist = folder.path().join("dist");
    let name = |name: &str| (name.to_owned(), b"one".to_vec());
    write(
        &dist,
        &Files::from([name("florin.js"), name("assets/a.js")]),
    )
    .unwrap();
    let written = |name: &str| fs::metadata(dist.join(name)).unwrap().modified().unwrap();
    let before = written("florin.js");
    write(
        &dist,
        &Files::from([name("florin.js"), name("assets/b.js")]),
    )
    .unwrap();
    assert_eq!(written("florin.js"), before);
    assert!(!dist.join("assets/a.js").exists());
    assert_eq!(fs::read(dist.join("assets/b.js")).unwrap(), b"one");
}

#[test]
fn an_unreferenced_style_sheet_is_an_error() {
    let folder = small_widget();
    write_file(&folder, "widget/styles/stray.css", "a {}");
    let error = packaged(&folder).unwrap_err().to_string();
    assert!(error.contains("stray.css"), "{error}");
}

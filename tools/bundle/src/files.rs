//! The files of `dist/`, from what was compiled and the widget's own files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail, ensure};

use sha2::{Digest as _, Sha256};

/// Name in `dist/`, with `/` between folder and file, and content.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// The files that are named by their content: by the name that `%FLORIN:…%` calls them, path in `dist/` and content.
type Assets = BTreeMap<String, (String, Vec<u8>)>;

/// Replaced in `host.js` for the languages: `ar=0a1b2c3d&de=…`, each tag with the hash in its file's name.
const LANGUAGES: &str = "%LANGUAGES%";

/// Replaced in `labels.js` for the loader's texts in all languages, as an object by tag.
const LABELS: &str = "'%LABELS%'";

/// Replaced in `labels.js` for the modules with the merchant's texts, as [`LANGUAGES`] does.
const DIAGNOSTICS: &str = "%DIAGNOSTICS%";

/// The sections of a language file that hold the texts of the screens, each with the end of its file's name: the list of
/// assets, what else comes before the choice, what comes after it, and the wallets of a browser.
const SCREENS: [(&str, &str); 4] = [
    ("list", ".list"),
    ("first", ""),
    ("later", ".payment"),
    ("wallets", ".wallets"),
];

/// Where the tool wasm-bindgen puts the payment module; a program that is one module has none.
pub(crate) const PAYMENT: &str = "snippets/split/split_payment.wasm";

/// Replaced in the page by `page.css`, and in the script of the first screen, as a string, by the style of the checkout.
const STYLE: &str = "%STYLE%";

/// Replaced in host.js by the style of the program's first screens.
const SCREENS_STYLE: &str = "%SCREENS_STYLE%";

/// Replaced in the script of the first screen by the languages' tags.
const TAGS: &str = "%TAGS%";

/// Replaced in the page by its own script.
const FIRST_PAGE: &str = "%FIRST_PAGE%";

/// The sheets of `widget/styles`: those of the list, those of the program's first screens, and those of the screens after the
/// asset choice. In this order in each: what comes later wins.
const STYLES: [&[&str]; 3] = [
    &[
        "tokens",
        "base",
        "summary",
        "screen",
        "button",
        "choose",
        "loading",
        "width",
        "preference",
    ],
    &["actions", "prices", "donation"],
    &["pay", "progress", "hosted", "print"],
];

/// The modules of `widget/js/` that others load when they need them, each linked with its imports, and after all modules
/// whose addresses it has: its own name follows from its content.
const MODULES: [&str; 2] = ["payment.js", "wallets.js"];

/// The modules that the loader loads. Their names have one hash, of all their contents, so that the loader has one as well.
const LOADED: [&str; 5] = [
    "labels.js",
    "first.js",
    "host.js",
    "dialog.js",
    "diagnostics.js",
];

/// Replaced in the loader by the hash of [`LOADED`].
const VERSION: &str = "%VERSION%";

/// The loaders of shops' pages and of the proxy's page, and that page, once for each environment of the proxy: a loader knows
/// its own even where nothing else can be loaded.
const ENVIRONMENTS: [(&str, &str, &str); 2] = [
    ("production", "florin.js", "pay.html"),
    ("test", "florin.test.js", "pay.test.html"),
];

/// The loader in the page as it is built. The proxy's page names its own by its content: a cached loader would name the
/// modules of another version.
const LOADER: &str = "./florin.js";

/// What a source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Loaded by `<script src>`: its outermost names are the page's.
    Script,
    /// Loaded by `import`: only its exports are seen.
    Module,
    Style,
}

/// What is done with scripts and styles.
#[derive(Clone, Copy)]
pub(crate) struct Tools<'a> {
    /// A module with all that it imports, as one script.
    pub(crate) link: &'a dyn Fn(&Path, Kind) -> anyhow::Result<String>,
    /// The same source with fewer bytes.
    pub(crate) minify: &'a dyn Fn(&str, Kind) -> anyhow::Result<String>,
}

/// All files, not compressed, made from the repository and from what was compiled.
pub(crate) fn files(root: &Path, built: &Path, tools: Tools<'_>) -> anyhow::Result<Files> {
    let Tools { link, minify } = tools;
    let widget = root.join("widget");
    let mut assets = Assets::new();
    let glue = minify(&text(&built.join("widget.js"))?, Kind::Module)?;
    add(&mut assets, "widget.js", glue.into_bytes());
    let program = bytes(&built.join("widget_bg.wasm"))?;
    add(&mut assets, "widget_bg.wasm", program);
    let payment = built.join(PAYMENT);
    if payment.exists() {
        add(&mut assets, "payment.wasm", bytes(&payment)?);
    }
    let [style, screens_style, payment_style] = sheets(&widget.join("styles"))?;
    let style = serde_json::to_string(&minify(&style, Kind::Style)?)?;
    let screens_style = serde_json::to_string(&minify(&screens_style, Kind::Style)?)?;
    let payment_style = minify(&payment_style, Kind::Style)?;
    add(&mut assets, "payment.css", payment_style.into_bytes());
    for icon in ["icon.svg", "paid-icon.svg", "problem-icon.svg"] {
        add(&mut assets, icon, bytes(&widget.join("icons").join(icon))?);
    }
    let texts = texts(&widget.join("locales"), &mut assets, minify)?;
    let tags: Vec<&str> = texts.labels.keys().map(String::as_str).collect();
    let labels = serde_json::to_string(&texts.labels)?;
    let has_payment = assets.contains_key("payment.wasm");
    let linked = |name: &str, kind| {
        let mut script = link(&widget.join("js").join(name), kind)?;
        if !has_payment {
            script = script.replace("%FLORIN:payment.wasm%", "");
        }
        let script = script.replace(&format!("'{STYLE}'"), &style);
        let script = script.replace(&format!("'{SCREENS_STYLE}'"), &screens_style);
        let script = script.replace(TAGS, &tags.join(" "));
        minify(&script.replace(LABELS, &labels), kind)
    };
    let module = |name: &str, assets: &Assets| {
        let module = fill(&linked(name, Kind::Module)?, name, assets)?
            .replace(LANGUAGES, &texts.languages)
            .replace(DIAGNOSTICS, &texts.diagnostics);
        anyhow::Ok(module.into_bytes())
    };
    for name in MODULES {
        let content = module(name, &assets)?;
        add(&mut assets, name, content);
    }
    let modules = LOADED.map(|name| Ok((name, module(name, &assets)?)));
    let modules = modules.into_iter().collect::<anyhow::Result<Vec<_>>>()?;
    let all: Vec<u8> = modules
        .iter()
        .flat_map(|(_, content)| content.clone())
        .collect();
    let version = hash(&all);
    for (name, content) in modules {
        add_as(&mut assets, name, &version, content);
    }

    let loader = link(&widget.join("js/florin.js"), Kind::Script)?;
    let page = stripped(&text(&built.join("index.html"))?);
    let page = page.replace(
        STYLE,
        &minify(&text(&widget.join("page.css"))?, Kind::Style)?,
    );
    let script = linked("first_page.js", Kind::Script)?;
    ensure!(
        !["</script", "<script", "<!--"]
            .iter()
            .any(|end| script.contains(end)),
        "first_page.js would end its element in the page"
    );
    let page = fill(&page, "index.html", &assets)?.replace(FIRST_PAGE, &script);
    let types = bytes(&root.join("packages/florin/element.d.ts"))?;
    let mut files = Files::from([("florin.d.ts".to_owned(), types)]);
    for (environment, name, page_name) in ENVIRONMENTS {
        let loader = loader.replace("%ENVIRONMENT%", environment);
        let loader = |kind| {
            let loader = minify(&loader.replace("%KIND%", kind), Kind::Script)?;
            anyhow::Ok(loader.replace(VERSION, &version).into_bytes())
        };
        files.insert(name.to_owned(), loader("shop")?);
        let own = loader("page")?;
        let path = format!("assets/florin-{}.js", hash(&own));
        files.insert(
            page_name.to_owned(),
            page.replace(LOADER, &format!("./{path}")).into_bytes(),
        );
        files.insert(path, own);
    }
    files.extend(assets.into_values());
    // As they are, and under their own names: no customer loads them.
    for name in names(&widget.join("gallery"))? {
        let content = bytes(&widget.join("gallery").join(&name))?;
        files.insert(format!("gallery/{name}"), content);
    }
    Ok(files)
}

/// A page without comments, indentation and empty lines. Line breaks stay: they separate words.
fn stripped(page: &str) -> String {
    let mut text = String::with_capacity(page.len());
    let mut rest = page;
    while let Some((before, after)) = rest.split_once("<!--") {
        text.push_str(before);
        rest = after.split_once("-->").map_or("", |(_, tail)| tail);
    }
    text.push_str(rest);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

/// Makes `dist` hold exactly these files. What is the same already is not touched, so that the proxy is only compiled
/// again for a real change.
pub(crate) fn write(dist: &Path, files: &Files) -> anyhow::Result<()> {
    let writing = || format!("{} cannot be written", dist.display());
    for folder in ["assets/", "gallery/", ""] {
        fs::create_dir_all(dist.join(folder)).with_context(writing)?;
        for name in names(&dist.join(folder))? {
            let known = files.contains_key(&format!("{folder}{name}"));
            let path = dist.join(folder).join(&name);
            if !known && path.is_file() {
                fs::remove_file(path).with_context(writing)?;
            }
        }
    }
    for (name, content) in files {
        let path = dist.join(name);
        if fs::read(&path).ok().as_ref() != Some(content) {
            fs::write(path, content).with_context(writing)?;
        }
    }
    Ok(())
}

/// What scripts know of the language files.
struct Texts {
    /// The screens' files, as [`LANGUAGES`] lists them.
    languages: String,
    /// The loader's texts by tag.
    labels: serde_json::Map<String, serde_json::Value>,
    /// The modules of the merchant's texts, as [`DIAGNOSTICS`] lists them.
    diagnostics: String,
}

/// Adds each language's files: the screens' texts, and a module with the merchant's. A module, since a page's policy that
/// keeps the checkout from calling its proxy lets it load scripts.
fn texts(
    folder: &Path,
    assets: &mut Assets,
    minify: &dyn Fn(&str, Kind) -> anyhow::Result<String>,
) -> anyhow::Result<Texts> {
    let (mut languages, mut diagnostics) = (Vec::new(), Vec::new());
    let mut labels = serde_json::Map::new();
    for name in names(folder)? {
        let tag = name.trim_end_matches(".json");
        let path = folder.join(&name);
        let mut language = Language::read(&path)?;
        languages.push(format!("{tag}={}", language.screens(tag, assets)?));
        let module = format!("{tag}.diagnostics.js");
        let texts = serde_json::Value::from(language.section("diagnostics")?);
        let script = minify(&format!("export const texts = {texts};"), Kind::Module)?;
        add(assets, &module, script.into_bytes());
        diagnostics.push(format!("{tag}={}", hash_of(&assets[&module].0)));
        let loader = language.section("loader")?;
        labels.insert(tag.to_owned(), loader.into());
    }
    Ok(Texts {
        languages: languages.join("&"),
        labels,
        diagnostics: diagnostics.join("&"),
    })
}

/// The hash in an asset's path.
fn hash_of(path: &str) -> &str {
    let (stem, _) = path.rsplit_once('.').expect("our files have an extension");
    stem.rsplit_once('-').expect("assets have a hash").1
}

/// The sheets of a folder, joined as [`STYLES`] says. A sheet that is in none is an error: nothing would load it.
fn sheets(folder: &Path) -> anyhow::Result<[String; 3]> {
    for name in names(folder)? {
        let stem = name.trim_end_matches(".css");
        ensure!(
            STYLES.iter().any(|sheets| sheets.contains(&stem)),
            "{} is in no order: name it in tools/bundle/src/files.rs",
            folder.join(&name).display()
        );
    }
    let mut joined = [const { String::new() }; 3];
    for (sheets, style) in STYLES.iter().zip(&mut joined) {
        for sheet in *sheets {
            style.push_str(&text(&folder.join(format!("{sheet}.css")))?);
        }
    }
    Ok(joined)
}

fn add(assets: &mut Assets, name: &str, content: Vec<u8>) {
    let hash = hash(&content);
    add_as(assets, name, &hash, content);
}

/// Adds a file with another hash in its name than its own.
fn add_as(assets: &mut Assets, name: &str, hash: &str, content: Vec<u8>) {
    let (stem, extension) = name.rsplit_once('.').expect("our files have an extension");
    let path = format!("assets/{stem}-{hash}.{extension}");
    assets.insert(name.to_owned(), (path, content));
}

/// Replaces each `%FLORIN:<file>%` by that file's path in `dist/`.
fn fill(text: &str, name: &str, assets: &Assets) -> anyhow::Result<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("%FLORIN:") {
        let (token, tail) = after
            .split_once('%')
            .with_context(|| format!("{name} has a %FLORIN: without its end"))?;
        let Some((path, _)) = assets.get(token) else {
            let known: Vec<&str> = assets.keys().map(String::as_str).collect();
            bail!(
                "{name} names %FLORIN:{token}%, but the files are {}",
                known.join(", ")
            );
        };
        out.push_str(before);
        out.push_str(path);
        rest = tail;
    }
    out.push_str(rest);
    Ok(out)
}

/// A language file: sections of texts by their keys.
struct Language<'a> {
    path: &'a Path,
    sections: BTreeMap<String, serde_json::Map<String, serde_json::Value>>,
}

impl<'a> Language<'a> {
    fn read(path: &'a Path) -> anyhow::Result<Self> {
        let sections = serde_json::from_slice(&bytes(path)?)
            .with_context(|| format!("{} is not a language file", path.display()))?;
        Ok(Self { path, sections })
    }

    fn section(
        &mut self,
        name: &str,
    ) -> anyhow::Result<serde_json::Map<String, serde_json::Value>> {
        let missing = || format!("{} has no section `{name}`", self.path.display());
        self.sections.remove(name).with_context(missing)
    }

    /// Adds the files with the texts of the screens; returns the hash that all their names have.
    fn screens(&mut self, tag: &str, assets: &mut Assets) -> anyhow::Result<String> {
        let mut files = Vec::new();
        for (section, end) in SCREENS {
            let texts = serde_json::to_vec(&self.section(section)?)?;
            files.push((format!("{tag}{end}"), texts));
        }
        let all: Vec<u8> = files.iter().flat_map(|(_, texts)| texts.clone()).collect();
        let hash = hash(&all);
        for (name, texts) in files {
            let path = format!("assets/{name}-{hash}.json");
            assets.insert(format!("{name}.json"), (path, texts));
        }
        Ok(hash)
    }
}

/// The first 8 hexadecimal digits of the content's SHA-256.
fn hash(content: &[u8]) -> String {
    hex::encode(&Sha256::digest(content)[..4])
}

/// What is in a folder, in the order of the names.
pub(crate) fn names(folder: &Path) -> anyhow::Result<Vec<String>> {
    let entries = fs::read_dir(folder).and_then(|entries| {
        entries
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect()
    });
    let mut names: Vec<String> =
        entries.with_context(|| format!("{} cannot be read", folder.display()))?;
    names.sort();
    Ok(names)
}

pub(crate) fn bytes(path: &Path) -> anyhow::Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("{} cannot be read", path.display()))
}

fn text(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))
}

#[cfg(test)]
mod tests;

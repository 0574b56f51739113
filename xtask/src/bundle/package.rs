//! From Trunk's output and the widget's files to the files of `dist/`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};

use super::fingerprint::of_bytes;
use super::scripts::Kind;
use super::{compress, strip_css, strip_html};

/// Name in `dist/`, with `/` between folder and file, and content.
pub(super) type Files = BTreeMap<String, Vec<u8>>;

/// The files that are named by their content: by the name that `%FLORIN:…%` calls them, path in `dist/` and content.
type Assets = BTreeMap<String, (String, Vec<u8>)>;

/// Stands in `host.js` for the languages: `ar=0a1b2c3d&de=…`, each tag with the hash in its file's name.
const LANGUAGES: &str = "%LANGUAGES%";

/// Stands in `labels.js` for the loader's texts in all languages, as an object by tag.
const LABELS: &str = "'%LABELS%'";

/// Stands in `labels.js` for the modules with the merchant's texts, as [`LANGUAGES`] does.
const DIAGNOSTICS: &str = "%DIAGNOSTICS%";

/// The loader's text that stands in the page itself.
const NOSCRIPT: &str = "noscript";

/// The sections of a language file that hold the texts of the screens, each with the end of its file's name: before the
/// asset choice, and after it.
const SCREENS: [(&str, &str); 2] = [("first", ""), ("later", ".payment")];

/// Where the tool wasm-bindgen puts the payment module; a program that is one module has none.
pub(super) const PAYMENT: &str = "snippets/split/split_payment.wasm";

/// Stands in the page for `page.css`.
const STYLE: &str = "%STYLE%";

/// The sheets of `widget/styles`, in two files and in this order in each: what comes later wins. The second file is that
/// of the screens after the asset choice.
const STYLES: [(&str, &[&str]); 2] = [
    (
        "florin.css",
        &[
            "tokens",
            "base",
            "summary",
            "screen",
            "button",
            "give",
            "choose",
            "loading",
            "width",
            "preference",
        ],
    ),
    ("payment.css", &["pay", "follow", "hosted", "print"]),
];

/// The modules of `widget/js/` that others load when they need them, each linked with its imports, and after all modules
/// whose addresses it has: its own name follows from its content.
const MODULES: [&str; 5] = [
    "labels.js",
    "theme.js",
    "host.js",
    "dialog.js",
    "diagnostics.js",
];

/// The loader, once for each environment of the proxy: it knows its own even where nothing else can be loaded.
const LOADERS: [(&str, &str); 2] = [("florin.js", "production"), ("florin.test.js", "test")];

/// What is done to scripts.
#[derive(Clone, Copy)]
pub(super) struct Scripts<'a> {
    /// A module with all that it imports, as one script.
    pub(super) link: &'a dyn Fn(&Path, Kind) -> anyhow::Result<String>,
    /// The same script with fewer bytes.
    pub(super) minify: &'a dyn Fn(&str, Kind) -> anyhow::Result<String>,
}

/// All files, not compressed, made from the repository and from what Trunk built.
///
/// # Errors
/// A file is missing or cannot be read, or a `%FLORIN:…%` names no file.
pub(super) fn files(root: &Path, built: &Path, scripts: Scripts<'_>) -> anyhow::Result<Files> {
    let Scripts { link, minify } = scripts;
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
    for (name, sheet) in sheets(&widget.join("styles"))? {
        add(&mut assets, name, strip_css::strip(&sheet)?.into_bytes());
    }
    for icon in ["icon.svg", "paid-icon.svg", "problem-icon.svg"] {
        add(&mut assets, icon, bytes(&widget.join("icons").join(icon))?);
    }
    let texts = texts(&widget.join("locales"), &mut assets, minify)?;
    for name in MODULES {
        let mut module = link(&widget.join("js").join(name), Kind::Module)?;
        if !assets.contains_key("payment.wasm") {
            module = module.replace("%FLORIN:payment.wasm%", "");
        }
        let module = minify(&module.replace(LABELS, &texts.labels), Kind::Module)?;
        let module = fill(&module, name, &assets)?
            .replace(LANGUAGES, &texts.languages)
            .replace(DIAGNOSTICS, &texts.diagnostics);
        add(&mut assets, name, module.into_bytes());
    }

    let loader = link(&widget.join("js/florin.js"), Kind::Script)?;
    let page = strip_html::strip(&text(&built.join("index.html"))?);
    let page = page.replace(STYLE, &strip_css::strip(&text(&widget.join("page.css"))?)?);
    let mut files = Files::from([
        (
            "florin.d.ts".to_owned(),
            bytes(&root.join("packages/florin/element.d.ts"))?,
        ),
        (
            "pay.html".to_owned(),
            fill(&page, "index.html", &assets)?.into_bytes(),
        ),
    ]);
    for (name, environment) in LOADERS {
        let loader = loader.replace("%ENVIRONMENT%", environment);
        let loader = fill(&minify(&loader, Kind::Script)?, name, &assets)?;
        files.insert(name.to_owned(), loader.into_bytes());
    }
    files.extend(assets.into_values());
    // As they are, and under their own names: no customer loads them.
    for name in names(&widget.join("gallery"))? {
        let content = bytes(&widget.join("gallery").join(&name))?;
        files.insert(format!("gallery/{name}"), content);
    }
    Ok(files)
}

/// The compressed forms of the files that they make smaller.
pub(super) fn compressed(files: &Files) -> Files {
    let mut compressed = Files::new();
    for (name, content) in files {
        let ways = [
            ("br", compress::brotli(content)),
            ("gz", compress::gzip(content)),
        ];
        let smaller = ways
            .into_iter()
            .filter(|(_, packed)| packed.len() < content.len());
        compressed.extend(smaller.map(|(way, packed)| (format!("{name}.{way}"), packed)));
    }
    compressed
}

/// Makes `dist` hold exactly these files. What is the same already is not touched, so that the proxy is only compiled
/// again for a real change.
///
/// # Errors
/// The folder cannot be written.
pub(super) fn write(dist: &Path, files: &Files) -> anyhow::Result<()> {
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
    /// The loader's texts, as a JSON object by tag.
    labels: String,
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
        let mut loader = language.section("loader")?;
        loader.remove(NOSCRIPT);
        labels.insert(tag.to_owned(), loader.into());
    }
    Ok(Texts {
        languages: languages.join("&"),
        labels: serde_json::Value::from(labels).to_string(),
        diagnostics: diagnostics.join("&"),
    })
}

/// The hash in an asset's path.
fn hash_of(path: &str) -> &str {
    let (stem, _) = path.rsplit_once('.').expect("our files have an extension");
    stem.rsplit_once('-').expect("assets have a hash").1
}

/// The sheets of a folder, joined to the files of [`STYLES`]. A sheet that is in none is an error: it would be served to
/// nobody.
fn sheets(folder: &Path) -> anyhow::Result<Vec<(&'static str, String)>> {
    for name in names(folder)? {
        let stem = name.trim_end_matches(".css");
        anyhow::ensure!(
            STYLES.iter().any(|(_, sheets)| sheets.contains(&stem)),
            "{} is in no order: name it in xtask/src/bundle/package.rs",
            folder.join(&name).display()
        );
    }
    let joined = |(name, sheets): (&'static str, &[&str])| {
        let texts = sheets
            .iter()
            .map(|sheet| text(&folder.join(format!("{sheet}.css"))));
        Ok((name, texts.collect::<anyhow::Result<String>>()?))
    };
    STYLES.into_iter().map(joined).collect()
}

fn add(assets: &mut Assets, name: &str, content: Vec<u8>) {
    let (stem, extension) = name.rsplit_once('.').expect("our files have an extension");
    let hash = &of_bytes(&content)[..8];
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
        let hash = of_bytes(&all)[..8].to_owned();
        for (name, texts) in files {
            let path = format!("assets/{name}-{hash}.json");
            assets.insert(format!("{name}.json"), (path, texts));
        }
        Ok(hash)
    }
}

fn names(folder: &Path) -> anyhow::Result<Vec<String>> {
    let reading = || format!("{} cannot be read", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(reading)? {
        names.push(
            entry
                .with_context(reading)?
                .file_name()
                .to_string_lossy()
                .into_owned(),
        );
    }
    names.sort();
    Ok(names)
}

fn bytes(path: &Path) -> anyhow::Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("{} cannot be read", path.display()))
}

fn text(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))
}

#[cfg(test)]
mod tests;

//! The sizes of a customer's downloads, beside the promised ones.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::ROOT;

/// Files that are loaded at one time. `docs/adr/0020-a-second-module-after-the-choice.md` has the sizes that were wanted.
struct Part {
    name: &'static str,
    /// Brotli bytes of the release, and of the widget by stable flags alone.
    promised: [u64; 2],
    /// Each row's name, and how its file's name in `dist/` begins and ends.
    rows: &'static [(&'static str, &'static str, &'static str)],
}

/// What shows the list of assets, before what is sold is written into it.
const PAGE: Part = Part {
    name: "built page",
    promised: [12_000, 12_000],
    rows: &[("page", "pay.html", "")],
};

/// What is loaded beside the program, all displays together, with one language.
const LOADERS: Part = Part {
    name: "loaders",
    promised: [16_000, 16_000],
    rows: &[
        ("florin.js", "florin.js", ""),
        ("the page's loader", "assets/florin-", ".js"),
        ("host.js", "assets/host-", ".js"),
        ("dialog.js", "assets/dialog-", ".js"),
        ("the page's icon", "assets/icon-", ".svg"),
        ("English", "assets/en-", ".json"),
    ],
};

/// What is loaded before the screens after a press on an asset.
const PROGRAM: Part = Part {
    name: "program",
    promised: [102_500, 119_000],
    rows: &[
        ("WebAssembly", "assets/widget_bg-", ".wasm"),
        ("its JavaScript", "assets/widget-", ".js"),
    ],
};

/// What is loaded while the customer chooses.
const PAYMENT: Part = Part {
    name: "payment module",
    promised: [68_500, 71_500],
    rows: &[
        ("WebAssembly", "assets/payment-", ".wasm"),
        ("payment.js", "assets/payment-", ".js"),
        ("payment.css", "assets/payment-", ".css"),
        ("English", "assets/en.payment-", ".json"),
    ],
};

/// Brotli bytes until the list can be pressed: the page with an offer of nine assets, as the proxy compresses it.
const LIST_BYTES: u64 = 14_000;
/// Brotli bytes of all parts, for the same two.
const CHECKOUT_BYTES: [u64; 2] = [199_000, 217_000];
/// Brotli bytes of the loader, which every page of the shop loads.
const LOADER_BYTES: u64 = 3_000;
/// Brotli bytes of any one language, all parts but that of wallets.
const LANGUAGE_BYTES: u64 = 5_500;

/// Bytes raw, in gzip and in brotli.
type Sizes = [u64; 3];

/// Prints the sizes of the files in `dist`, which were built by stable flags alone or not.
pub(crate) fn check(dist: &Path, is_stable: bool) -> anyhow::Result<()> {
    let which = usize::from(is_stable);
    println!(
        "  {:<20}{:>10}{:>10}{:>10}",
        "bytes", "raw", "gzip", "brotli"
    );
    let mut whole = Sizes::default();
    let mut all = Vec::new();
    for part in [PAGE, LOADERS, PROGRAM, PAYMENT] {
        let mut total = Sizes::default();
        for (name, begin, end) in part.rows {
            let sizes = sizes_of(dist, begin, end)?;
            print(name, sizes);
            total = plus(total, sizes);
        }
        print(part.name, total);
        whole = plus(whole, total);
        all.push((part.name.to_owned(), total, part.promised[which]));
    }
    print("whole checkout", whole);
    all.push(("whole checkout".to_owned(), whole, CHECKOUT_BYTES[which]));
    let list = first_page(dist)?;
    let quick = crate::minify::brotli_quickly(list.as_bytes()).len() as u64;
    let sizes = [list.len() as u64, 0, quick];
    all.push((
        "until the list can be pressed".to_owned(),
        sizes,
        LIST_BYTES,
    ));
    let loader = sizes_of(dist, "florin.js", "")?;
    all.push(("florin.js".to_owned(), loader, LOADER_BYTES));
    let (tag, language) = largest_language(dist)?;
    all.push((format!("largest language, {tag}"), language, LANGUAGE_BYTES));
    // Every promise is printed, after a broken one too.
    let broken = all
        .iter()
        .filter(|(name, [.., brotli], promised)| !is_kept(name, *brotli, *promised));
    ensure!(broken.count() == 0, "the widget is larger than promised");
    Ok(())
}

/// The page in English with an offer, as `proxy/src/http/first_page.rs` writes it.
fn first_page(dist: &Path) -> anyhow::Result<String> {
    let read = |path: PathBuf| {
        fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))
    };
    let states = read(Path::new(ROOT).join("widget/gallery/states.json"))?;
    let states: Value = serde_json::from_str(&states)?;
    let members = ["environment", "store", "title", "amount", "currency"];
    let mut offer: Value = members
        .map(|member| (member.to_owned(), states["order"][member].clone()))
        .into_iter()
        .collect();
    offer["quotes"] = states["quotes"]["usual"].clone();
    let words = read(found(dist, "assets/en.list-", ".json")?)?;
    let block = format!("{{\"language\":\"en\",\"words\":{words},\"offer\":{offer}}}");
    let later = found(dist, "assets/en.payment-", ".json")?;
    let later = later.strip_prefix(dist)?.display();
    let preload =
        format!("<link rel=\"preload\" as=\"fetch\" crossorigin href=\"{later}\"></head>");
    let page = read(found(dist, "pay.html", "")?)?;
    let page = page.replacen("</head>", &preload, 1);
    Ok(page.replacen("null<", &format!("{block}<"), 1))
}

fn is_kept(name: &str, brotli: u64, promised: u64) -> bool {
    let is_kept = brotli <= promised;
    let mark = if is_kept { '✓' } else { '✗' };
    println!("{mark} {name}: {brotli} of {promised} promised bytes");
    is_kept
}

fn print(name: &str, [raw, gzip, brotli]: Sizes) {
    println!("  {name:<20}{raw:>10}{gzip:>10}{brotli:>10}");
}

fn plus(one: Sizes, other: Sizes) -> Sizes {
    std::array::from_fn(|form| one[form] + other[form])
}

/// The tag of the language with the most bytes, and its sizes.
fn largest_language(dist: &Path) -> anyhow::Result<(String, Sizes)> {
    let mut languages = Vec::new();
    for file in entries(&Path::new(ROOT).join("widget/locales"))? {
        let tag = file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let first = sizes_of(dist, &format!("assets/{tag}-"), ".json")?;
        let payment = sizes_of(dist, &format!("assets/{tag}.payment-"), ".json")?;
        let list = sizes_of(dist, &format!("assets/{tag}.list-"), ".json")?;
        languages.push((tag, plus(list, plus(first, payment))));
    }
    languages
        .into_iter()
        .max_by_key(|(_, sizes)| sizes[2])
        .context("there is no language")
}

/// The one file whose name begins and ends so, with a hash between; `end` is empty for a whole name.
fn found(dist: &Path, begin: &str, end: &str) -> anyhow::Result<PathBuf> {
    let (folder, begin) = begin.rsplit_once('/').unwrap_or(("", begin));
    let found = entries(&dist.join(folder))?.into_iter().find(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if end.is_empty() {
            name == begin
        } else {
            let rest = name.strip_prefix(begin);
            let hash = rest.and_then(|rest| rest.strip_suffix(end));
            hash.is_some_and(|hash| hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
        }
    });
    found.with_context(|| format!("{begin}…{end} is missing in {}", dist.display()))
}

fn sizes_of(dist: &Path, begin: &str, end: &str) -> anyhow::Result<Sizes> {
    let path = found(dist, begin, end)?;
    let raw = path.metadata()?.len();
    // A file without a compressed form is sent as it is.
    let compressed = |form| {
        let name = format!("{}.{form}", path.display());
        fs::metadata(name).map_or(raw, |file| file.len())
    };
    Ok([raw, compressed("gz"), compressed("br")])
}

fn entries(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    Ok(entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_byte_over_breaks_the_promise() {
        assert!(is_kept("florin.js", LOADER_BYTES, LOADER_BYTES));
        assert!(!is_kept("florin.js", LOADER_BYTES + 1, LOADER_BYTES));
    }
}

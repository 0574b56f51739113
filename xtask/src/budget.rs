//! `cargo xtask budget`: what a customer downloads, beside what is promised.

use std::path::Path;

use anyhow::{Context as _, ensure};
use xshell::Shell;

use crate::bundle::Variant;
use crate::output::{self, bold, grouped};
use crate::workspace::Workspace;

/// Files that are loaded at one time. `docs/adr/0020-a-second-module-after-the-choice.md` has the sizes that were wanted.
struct Part {
    name: &'static str,
    /// Brotli bytes of the release, and of the widget by stable flags alone.
    promised: [u64; 2],
    /// Each row's name, and how its file's name in `dist/` begins and ends.
    rows: &'static [(&'static str, &'static str, &'static str)],
}

/// What is loaded before the list of assets is on the screen, all displays together, with one language.
const LIST: Part = Part {
    name: "list of assets",
    promised: [20_000, 20_000],
    rows: &[
        ("florin.js", "florin.js", ""),
        ("host.js", "assets/host-", ".js"),
        ("theme.js", "assets/theme-", ".js"),
        ("dialog.js", "assets/dialog-", ".js"),
        ("florin.css", "assets/florin-", ".css"),
        ("page", "pay.html", ""),
        ("its icon", "assets/icon-", ".svg"),
        ("English", "assets/en-", ".json"),
    ],
};

/// What is loaded before a press on an asset is carried out, beside what the list needs.
const PROGRAM: Part = Part {
    name: "program",
    promised: [128_000, 143_000],
    rows: &[
        ("WebAssembly", "assets/widget_bg-", ".wasm"),
        ("its JavaScript", "assets/widget-", ".js"),
    ],
};

/// What is loaded while the customer chooses.
const PAYMENT: Part = Part {
    name: "payment module",
    promised: [64_000, 66_000],
    rows: &[
        ("WebAssembly", "assets/payment-", ".wasm"),
        ("payment.css", "assets/payment-", ".css"),
        ("English", "assets/en.payment-", ".json"),
    ],
};

/// Brotli bytes of all parts, for the same two.
const CHECKOUT_BYTES: [u64; 2] = [210_000, 229_000];
/// Brotli bytes of the loader, which every page of the shop loads.
const LOADER_BYTES: u64 = 3_000;
/// Brotli bytes of any one language, both parts.
const LANGUAGE_BYTES: u64 = 5_500;

/// Bytes raw, in gzip and in brotli.
type Sizes = [u64; 3];

/// Prints the sizes of the bundle that was built last.
///
/// # Errors
/// A promise is broken, or a file is missing.
pub(crate) fn check(workspace: &Workspace, variant: Variant) -> anyhow::Result<()> {
    let (sh, dist) = (&workspace.sh, variant.dist(workspace));
    let which = usize::from(variant != Variant::Release);
    println!(
        "{}",
        bold(&format!(
            "  {:<20}{:>10}{:>10}{:>10}",
            "bytes", "raw", "gzip", "brotli"
        ))
    );
    let mut whole = Sizes::default();
    let mut all = Vec::new();
    for part in [LIST, PROGRAM, PAYMENT] {
        let mut total = Sizes::default();
        for (name, begin, end) in part.rows {
            let sizes = sizes_of(sh, &dist, begin, end)?;
            println!("{}", row(name, sizes));
            total = plus(total, sizes);
        }
        println!("{}", bold(&row(part.name, total)));
        whole = plus(whole, total);
        all.push((part.name.to_owned(), total, part.promised[which]));
    }
    println!("{}", bold(&row("whole checkout", whole)));
    all.push(("whole checkout".to_owned(), whole, CHECKOUT_BYTES[which]));
    all.push((
        "florin.js".to_owned(),
        sizes_of(sh, &dist, "florin.js", "")?,
        LOADER_BYTES,
    ));
    let (tag, language) = largest_language(sh, &dist)?;
    all.push((format!("largest language, {tag}"), language, LANGUAGE_BYTES));
    // Every promise is printed, after a broken one too.
    let broken = all
        .iter()
        .filter(|(name, sizes, promised)| !is_kept(name, sizes[2], *promised));
    ensure!(broken.count() == 0, "the widget is larger than promised");
    Ok(())
}

fn row(name: &str, sizes: Sizes) -> String {
    let [raw, gzip, brotli] = sizes.map(grouped);
    format!("  {name:<20}{raw:>10}{gzip:>10}{brotli:>10}")
}

fn plus(one: Sizes, other: Sizes) -> Sizes {
    std::array::from_fn(|form| one[form] + other[form])
}

/// The tag of the language with the most bytes, and its sizes.
fn largest_language(sh: &Shell, dist: &Path) -> anyhow::Result<(String, Sizes)> {
    let mut languages = Vec::new();
    for file in sh.read_dir("widget/locales")? {
        let tag = file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let first = sizes_of(sh, dist, &format!("assets/{tag}-"), ".json")?;
        let payment = sizes_of(sh, dist, &format!("assets/{tag}.payment-"), ".json")?;
        languages.push((tag, plus(first, payment)));
    }
    languages
        .into_iter()
        .max_by_key(|(_, sizes)| sizes[2])
        .context("there is no language")
}

fn is_kept(name: &str, brotli: u64, promised: u64) -> bool {
    let (size, most) = (grouped(brotli), grouped(promised));
    if brotli <= promised {
        output::passed(format!("{name}: {size} of {most} promised bytes"));
    } else {
        let over = grouped(brotli - promised);
        output::failed(format!(
            "{name}: {size} bytes, {over} over the promised {most}"
        ));
    }
    brotli <= promised
}

/// The sizes of the one file whose name begins and ends so; `end` is empty for a whole name.
fn sizes_of(sh: &Shell, dist: &Path, begin: &str, end: &str) -> anyhow::Result<Sizes> {
    let (folder, begin) = begin.rsplit_once('/').unwrap_or(("", begin));
    let found = sh.read_dir(dist.join(folder))?.into_iter().find(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if end.is_empty() {
            name == begin
        } else {
            name.starts_with(begin) && name.ends_with(end)
        }
    });
    let path = found.with_context(|| format!("{begin}…{end} is missing in {}", dist.display()))?;
    let raw = path.metadata()?.len();
    // A file without a compressed form is sent as it is.
    let compressed = |form| {
        let name = format!("{}.{form}", path.display());
        std::fs::metadata(name).map_or(raw, |file| file.len())
    };
    Ok([raw, compressed("gz"), compressed("br")])
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

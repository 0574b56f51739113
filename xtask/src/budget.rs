//! `cargo xtask budget`: what a customer downloads, against the promise.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;

use crate::bundle::Variant;
use crate::screen::{bold, grouped};
use crate::workspace::Workspace;
use crate::{bundle, screen, tools};

/// Files that are loaded at one time. `docs/adr/0020-a-second-module-after-the-choice.md` has the sizes that were wanted.
struct Part {
    name: &'static str,
    /// Brotli bytes of the release, and of the widget by stable flags alone.
    promised: [usize; 2],
    rows: &'static [Row],
}

/// What is shown as one row: its name, and its file by the beginning and the end of its name in `dist/`.
type Row = (&'static str, (&'static str, &'static str));

/// Everything that is loaded before the asset choice, all displays together, with one language.
const FIRST: Part = Part {
    name: "before the choice",
    promised: [145_000, 160_000],
    rows: &[
        ("WebAssembly", ("assets/widget_bg-", ".wasm")),
        ("its JavaScript", ("assets/widget-", ".js")),
        ("florin.js", ("florin.js", "")),
        ("host.js", ("assets/host-", ".js")),
        ("theme.js", ("assets/theme-", ".js")),
        ("dialog.js", ("assets/dialog-", ".js")),
        ("florin.css", ("assets/florin-", ".css")),
        ("page", ("pay.html", "")),
        ("its icon", ("assets/icon-", ".svg")),
        ("English", ("assets/en-", ".json")),
    ],
};

/// What is loaded while the customer chooses.
const PAYMENT: Part = Part {
    name: "payment module",
    promised: [64_000, 66_000],
    rows: &[
        ("WebAssembly", ("assets/payment-", ".wasm")),
        ("payment.css", ("assets/payment-", ".css")),
        ("English", ("assets/en.payment-", ".json")),
    ],
};

/// Brotli bytes of both parts, for the same two.
const CHECKOUT_BYTES: [usize; 2] = [207_000, 226_000];
/// Brotli bytes of the loader, which every page of the shop pays.
const LOADER_BYTES: usize = 3_000;
/// Brotli bytes of any one language, both parts.
const LANGUAGE_BYTES: usize = 5_500;

/// Bytes as they are and as they travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sizes {
    raw: usize,
    gzip: usize,
    brotli: usize,
}

/// Prints the table; fails when the promise is broken. Builds the widget first where needed.
///
/// # Errors
/// The widget cannot be built, or a file of it is missing.
pub(crate) fn run(workspace: &Workspace, variant: Variant) -> anyhow::Result<ExitCode> {
    tools::set_up(workspace)?;
    bundle::make(workspace, variant)?;
    Ok(if print(workspace, variant)? {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Prints the table of the widget in `dist/`; returns whether the promise is kept.
///
/// # Errors
/// A file is missing.
pub(crate) fn print(workspace: &Workspace, variant: Variant) -> anyhow::Result<bool> {
    let dist = variant.dist(workspace);
    let line = |name: &str, raw: &str, gzip: &str, brotli: &str| {
        format!("  {name:<20}{raw:>10}{gzip:>10}{brotli:>10}")
    };
    println!("{}", bold(&line("bytes", "raw", "gzip", "brotli")));
    let show = |name: &str, sizes: Sizes| {
        line(
            name,
            &grouped(sizes.raw),
            &grouped(sizes.gzip),
            &grouped(sizes.brotli),
        )
    };
    let which = usize::from(variant != Variant::Release);
    let mut whole = Sizes::default();
    let mut totals = Vec::new();
    for part in [FIRST, PAYMENT] {
        let mut total = Sizes::default();
        for (name, (begin, end)) in part.rows {
            let sizes = size_of(&dist, begin, end)?;
            println!("{}", show(name, sizes));
            total = total.plus(sizes);
        }
        println!("{}", bold(&show(part.name, total)));
        whole = whole.plus(total);
        totals.push((part.name, total.brotli, part.promised[which]));
    }
    println!("{}", bold(&show("whole checkout", whole)));
    totals.push(("whole checkout", whole.brotli, CHECKOUT_BYTES[which]));
    let loader = size_of(&dist, "florin.js", "")?;
    totals.push(("florin.js", loader.brotli, LOADER_BYTES));
    let (largest, brotli) = largest_language(&workspace.root, &dist)?;
    let language = format!("largest language, {largest}");
    totals.push((&language, brotli, LANGUAGE_BYTES));
    // Each is said, also after one that is not kept.
    let verdicts: Vec<bool> = totals
        .into_iter()
        .map(|(name, brotli, promised)| verdict(name, brotli, promised))
        .collect();
    Ok(verdicts.into_iter().all(|kept| kept))
}

/// The tag of the language that travels as the most bytes, and how many these are.
fn largest_language(root: &Path, dist: &Path) -> anyhow::Result<(String, usize)> {
    let folder = root.join("widget/locales");
    let reading = || format!("{} cannot be read", folder.display());
    let mut largest = (String::new(), 0);
    for file in fs::read_dir(&folder).with_context(reading)? {
        let name = file.with_context(reading)?.file_name();
        let name = name.to_string_lossy();
        let tag = name.trim_end_matches(".json");
        let first = size_of(dist, &format!("assets/{tag}-"), ".json")?;
        let payment = size_of(dist, &format!("assets/{tag}.payment-"), ".json")?;
        let brotli = first.brotli + payment.brotli;
        if brotli > largest.1 {
            largest = (tag.to_owned(), brotli);
        }
    }
    Ok(largest)
}

fn verdict(name: &str, brotli: usize, promised: usize) -> bool {
    let (is, most) = (grouped(brotli), grouped(promised));
    let kept = brotli <= promised;
    if kept {
        screen::good(format!("{name}: {is} of {most} promised bytes"));
    } else {
        let over = grouped(brotli - promised);
        screen::bad(format!(
            "{name}: {is} bytes, {over} over the promised {most}"
        ));
    }
    kept
}

/// The sizes of the one file whose name begins and ends so.
fn size_of(dist: &Path, begin: &str, end: &str) -> anyhow::Result<Sizes> {
    let (folder, begin) = begin.rsplit_once('/').unwrap_or(("", begin));
    let folder = dist.join(folder);
    let missing = || format!("{begin}…{end} is missing in {}", folder.display());
    let name = fs::read_dir(&folder)
        .with_context(missing)?
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
        .find(|name| match end {
            "" => name == begin,
            end => name.starts_with(begin) && name.ends_with(end),
        })
        .with_context(missing)?;
    let content = fs::read(folder.join(&name)).with_context(missing)?;
    // A file without a compressed neighbour travels as it is.
    let packed = |way| {
        let neighbour = fs::metadata(folder.join(format!("{name}.{way}")));
        neighbour.map_or(content.len(), |file| {
            usize::try_from(file.len()).unwrap_or(usize::MAX)
        })
    };
    Ok(Sizes {
        raw: content.len(),
        gzip: packed("gz"),
        brotli: packed("br"),
    })
}

impl Sizes {
    fn plus(self, other: Self) -> Self {
        Self {
            raw: self.raw + other.raw,
            gzip: self.gzip + other.gzip,
            brotli: self.brotli + other.brotli,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_byte_over_breaks_the_promise() {
        assert!(verdict("florin.js", LOADER_BYTES, LOADER_BYTES));
        assert!(!verdict("florin.js", LOADER_BYTES + 1, LOADER_BYTES));
    }
}

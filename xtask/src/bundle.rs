//! The widget as it is served: `dist/`, or the folder of another [`Variant`], made from Trunk's output and the widget's own files.
//!
//! ```text
//! dist/florin.js            the loader, which names host.js below, and that the rest
//! dist/florin.test.js       the same, for a proxy in the test environment
//! dist/florin.d.ts          its types
//! dist/pay.html             the checkout page
//! dist/assets/<name>-<first 8 hex digits of its SHA-256>.<ext>
//! dist/gallery/             every state of the checkout on canned answers, for the test environment
//! ```
//!
//! Beside each file of a small variant lie `.br` and `.gz` when they are smaller. Names hold the content's hash, so that a browser may
//! keep a file for ever. The proxy takes the folder in when it is compiled.

mod compile;
mod compress;
mod fingerprint;
pub(crate) mod hook;
mod package;
mod scripts;
mod shrink;
mod strip_css;
mod strip_html;
mod variant;

use std::fs::{self, File, TryLockError};
use std::path::Path;

use anyhow::Context as _;

pub(crate) use self::compress::brotli;
pub(crate) use self::variant::Variant;
use crate::program::Program;
use crate::screen;
use crate::stopwatch::Stopwatch;
use crate::tools;
use crate::workspace::Workspace;

/// `cargo`, which puts a variant of the widget into the proxy: its build script takes `dist/`, unless the variable names
/// another folder.
pub(crate) fn cargo_with(workspace: &Workspace, variant: Variant) -> Program {
    let cargo = Program::cargo(workspace);
    match variant {
        Variant::Release => cargo.env_remove("FLORIN_DIST"),
        Variant::Stable | Variant::Demo => cargo.env("FLORIN_DIST", variant.dist(workspace)),
    }
}

/// Makes the bundle of a variant when it is missing or older than what it is made from; otherwise does nothing, quickly.
///
/// # Errors
/// A tool is missing and cannot be installed, the widget does not compile, or a file is not what it should be.
pub(crate) fn make(workspace: &Workspace, variant: Variant) -> anyhow::Result<()> {
    let _alone = alone(&workspace.target.join("widget.lock"))?;
    let name = variant.name();
    let stamp = workspace.target.join(format!("widget-{name}.stamp"));
    let inputs = fingerprint::of_inputs(workspace)?;
    let dist = variant.dist(workspace);
    let current = || anyhow::Ok(format!("{inputs} {}", fingerprint::of_folder(&dist)?));
    if dist.join("pay.html").exists() && fs::read_to_string(&stamp).ok() == Some(current()?) {
        return Ok(());
    }
    let folders = tools::bundlers(workspace, variant)?;
    screen::step("Building the widget (about 2 minutes the first time)…");
    let watch = Stopwatch::start();
    let built = workspace.target.join(format!("widget-{name}"));
    compile::widget(workspace, variant, &folders, &built)?;
    if variant.is_small() {
        shrink::shrink(workspace, &folders, &built)?;
    }
    let mut files = make_files(workspace, &built)?;
    if variant.is_small() {
        files.append(&mut package::compressed(&files));
    }
    package::write(&dist, &files)?;
    fs::write(&stamp, current()?).context("the widget's stamp cannot be written")?;
    screen::good(format!(
        "The widget is built ({})",
        screen::time(watch.elapsed())
    ));
    Ok(())
}

/// The files of the bundle, made from what Trunk built.
fn make_files(workspace: &Workspace, built: &Path) -> anyhow::Result<package::Files> {
    let scripts = package::Scripts {
        link: &|entry, kind| scripts::link(workspace, entry, kind),
        minify: &|script, kind| scripts::minify(workspace, script, kind),
    };
    package::files(&workspace.root, built, scripts)
}

/// Waits until no other `cargo xtask` makes the bundle: two at once would clear each other's folders. The lock ends with
/// the file's handle, and so with this program, however that ends.
fn alone(path: &Path) -> anyhow::Result<File> {
    let locking = || format!("{} cannot be locked", path.display());
    let file = File::create(path).with_context(locking)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            screen::step("Waiting for another cargo xtask to build the widget…");
            file.lock().with_context(locking)?;
        }
        Err(TryLockError::Error(error)) => return Err(error).with_context(locking),
    }
    Ok(file)
}

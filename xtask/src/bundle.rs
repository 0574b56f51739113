//! The widget as it is served: `dist/`, made from Trunk's output and the widget's own files.
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
//! Beside each file lie `.br` and `.gz` when they are smaller. Names hold the content's hash, so that a browser may
//! keep a file for ever. The proxy takes the folder in when it is compiled.

mod compile;
mod compress;
mod fingerprint;
mod package;
mod scripts;
mod shrink;
mod strip_css;
mod strip_html;

use std::fs::{self, File, TryLockError};
use std::path::Path;

use anyhow::Context as _;

pub(crate) use self::compress::brotli;
use crate::screen;
use crate::stopwatch::Stopwatch;
use crate::tools;
use crate::workspace::Workspace;

/// Makes `dist/` when it is missing or older than what it is made from; otherwise does nothing, quickly.
///
/// # Errors
/// A tool is missing and cannot be installed, the widget does not compile, or a file is not what it should be.
pub(crate) fn make(workspace: &Workspace) -> anyhow::Result<()> {
    let _alone = alone(&workspace.target.join("widget.lock"))?;
    let stamp = workspace.target.join("widget.stamp");
    let inputs = fingerprint::of_inputs(workspace)?;
    let dist = workspace.dist();
    let current = || anyhow::Ok(format!("{inputs} {}", fingerprint::of_folder(&dist)?));
    if dist.join("pay.html").exists() && fs::read_to_string(&stamp).ok() == Some(current()?) {
        return Ok(());
    }
    let folders = tools::bundlers(workspace)?;
    screen::step("Building the widget (about 2 minutes the first time)…");
    let watch = Stopwatch::start();
    let built = workspace.target.join("widget-trunk");
    compile::widget(workspace, &folders, &built)?;
    shrink::shrink(workspace, &folders, &built)?;
    let scripts = package::Scripts {
        link: &|entry, kind| scripts::link(workspace, entry, kind),
        minify: &|script, kind| scripts::minify(workspace, script, kind),
    };
    let files = package::files(&workspace.root, &built, scripts)?;
    package::write(&dist, &files)?;
    fs::write(&stamp, current()?).context("the widget's stamp cannot be written")?;
    screen::good(format!(
        "The widget is built ({})",
        screen::time(watch.elapsed())
    ));
    Ok(())
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

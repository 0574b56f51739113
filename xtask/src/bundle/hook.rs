//! `cargo xtask package`: the hook that Trunk calls after each build of its own (`Trunk.toml`), so that `trunk serve` and
//! `trunk build` make pages that work.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;

use super::{make_files, package};
use crate::tools;
use crate::workspace::Workspace;

/// Set where `cargo xtask` calls Trunk and packages what it built: `Trunk.toml` does not call the hook then.
pub(super) const PACKAGED_HERE: &str = "FLORIN_PACKAGED_BY_XTASK";

/// The folder of the files that Trunk is about to serve.
const STAGING: &str = "TRUNK_STAGING_DIR";
/// `debug` under `trunk serve`.
const PROFILE: &str = "TRUNK_PROFILE";

/// Opens the demo's order on a page that names none.
const DEMO_ORDER: &str =
    "<script>location.hash ||= \"#store=demo&product=ebook\";</script>\n    <main>";

/// Packages what Trunk has built, in its own folder.
///
/// # Errors
/// Trunk did not call this command, or a file is not what it should be.
pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<ExitCode> {
    let staging = env::var_os(STAGING).map(PathBuf::from);
    let staging =
        staging.context("package is called by Trunk: run `trunk serve` or `trunk build`")?;
    tools::our_own(workspace)?;
    let mut files = make_files(workspace, &staging)?;
    let page = files.get("pay.html").context("the widget has a page")?;
    let mut page = String::from_utf8(page.clone()).context("the page is text")?;
    if env::var(PROFILE).is_ok_and(|profile| profile == "debug") {
        page = page.replacen("<main>", DEMO_ORDER, 1);
        // The loader of the test environment, which names what is wrong with a page.
        if let Some(loader) = files.get("florin.test.js").cloned() {
            files.insert("florin.js".to_owned(), loader);
        }
    } else {
        files.append(&mut package::compressed(&files));
    }
    files.insert("index.html".to_owned(), page.into_bytes());
    for name in ["widget.js", "widget_bg.wasm"] {
        let path = staging.join(name);
        fs::remove_file(&path).with_context(|| format!("{} cannot be removed", path.display()))?;
    }
    package::write(&staging, &files)?;
    Ok(ExitCode::SUCCESS)
}

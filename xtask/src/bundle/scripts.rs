//! Scripts, linked and made small by this workspace's `bundle-js`.

use std::path::Path;

use anyhow::Context as _;

use crate::program::Program;
use crate::workspace::Workspace;

/// What a page loads a script as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// By `<script src>`: its outermost names are the page's.
    Script,
    /// By `import`: only its exports are seen.
    Module,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Script => "script",
            Self::Module => "module",
        }
    }
}

/// The module `entry` with all that it imports, as one script.
///
/// # Errors
/// A module cannot be read, or the linker refuses it.
pub(super) fn link(workspace: &Workspace, entry: &Path, kind: Kind) -> anyhow::Result<String> {
    let linked = bundle_js(workspace)
        .args(["link", kind.word()])
        .args([entry])
        .filter("");
    linked.with_context(|| format!("{} cannot be linked", entry.display()))
}

/// The same script with fewer bytes.
///
/// # Errors
/// It is not JavaScript.
pub(super) fn minify(workspace: &Workspace, script: &str, kind: Kind) -> anyhow::Result<String> {
    let smaller = bundle_js(workspace)
        .args(["minify", kind.word()])
        .filter(script);
    smaller.context("a script of the widget cannot be minified")
}

fn bundle_js(workspace: &Workspace) -> Program {
    Program::new(workspace.debug_program("bundle-js"), workspace)
}

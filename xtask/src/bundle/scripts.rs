//! Scripts, made small by this workspace's own `minify-js`.

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

/// The same script with fewer bytes.
///
/// # Errors
/// It is not JavaScript.
pub(super) fn minify(workspace: &Workspace, script: &str, kind: Kind) -> anyhow::Result<String> {
    let kind = match kind {
        Kind::Script => "script",
        Kind::Module => "module",
    };
    let program = workspace.debug_program("minify-js");
    let smaller = Program::new(program, workspace).args([kind]).filter(script);
    smaller.context("a script of the widget cannot be minified")
}

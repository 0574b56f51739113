//! Programs from crates.io, each pinned to one version.

use std::env;
use std::path::PathBuf;

use anyhow::Context as _;
use xshell::cmd;

use super::packages::{apt_install, cache, reach};
use crate::output;
use crate::workspace::{Workspace, on_path};

/// A program from crates.io, pinned to one version. Package and program have the same name.
pub(crate) struct Tool {
    name: &'static str,
    /// The version that is installed.
    pub(crate) version: &'static str,
    /// The word for the version in the first line of `--version`.
    prints: &'static str,
    /// How long it takes to compile on two cores.
    minutes: u32,
}

/// Shrinks the WebAssembly. Binaryen 116: Debian's 108 writes a module that crashes at its start.
pub(crate) const WASM_OPT: Tool = Tool {
    name: "wasm-opt",
    version: "0.116.1",
    prints: "116",
    minutes: 6,
};

/// Checks licences, sources and edges of the dependencies.
pub(crate) const CARGO_DENY: Tool = Tool {
    name: "cargo-deny",
    version: "0.20.2",
    prints: "0.20.2",
    minutes: 2,
};

/// Formats `view!`, which rustfmt leaves alone. MIT or Apache-2.0.
pub(crate) const LEPTOSFMT: Tool = Tool {
    name: "leptosfmt",
    version: "0.1.33",
    prints: "0.1.33",
    minutes: 2,
};

/// Drives Firefox in the tests. Debian 12 has no package of it. Mozilla, MPL-2.0.
pub(crate) const GECKODRIVER: Tool = Tool {
    name: "geckodriver",
    version: "0.37.1",
    prints: "0.37.1",
    minutes: 3,
};

impl Tool {
    /// Installs the program where it is missing, and returns its path. It stays in the user's cache, so that another clone
    /// finds it; one of the right version on `PATH` is used instead.
    pub(crate) fn program(&self, workspace: &Workspace) -> anyhow::Result<PathBuf> {
        let Self {
            name,
            version,
            minutes,
            ..
        } = self;
        let root = cache()?.join(format!("{name}-{version}"));
        let program = root.join("bin").join(name);
        if program.exists() {
            return Ok(program);
        }
        if let Some(found) = on_path(name)
            && let Ok(printed) = cmd!(workspace.sh, "{found} --version")
                .ignore_stderr()
                .read()
            && let Some(line) = printed.trim_start().lines().next()
            && line.split_whitespace().any(|word| word == self.prints)
        {
            return Ok(found);
        }
        if self.name == WASM_OPT.name {
            need_cpp(workspace)?;
        }
        output::step(format!(
            "Installing {name} {version} (about {minutes} minutes, once)…"
        ));
        // Little optimised: a tool that runs for seconds is not worth minutes of optimising.
        let install = format!("install {name} --version {version} --locked --quiet");
        let install = workspace.cargo(&install).arg("--root").arg(&root);
        let install = install
            .arg("--target-dir")
            .arg(workspace.target.join("tools-build"));
        install
            .env("CARGO_PROFILE_RELEASE_LTO", "off")
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1")
            .run()
            .with_context(|| {
                format!(
                    "{name} {version} could not be installed: {}",
                    reach("crates.io")
                )
            })?;
        Ok(program)
    }
}

fn need_cpp(workspace: &Workspace) -> anyhow::Result<()> {
    let found = ["c++", "g++", "clang++"]
        .into_iter()
        .any(|compiler| on_path(compiler).is_some());
    if found || env::var_os("CXX").is_some() {
        return Ok(());
    }
    apt_install(workspace, &["g++"], "wasm-opt is compiled from C++")
}

//! Programs from crates.io, each pinned to one version.

use std::env;
use std::path::PathBuf;

use anyhow::Context as _;
use xshell::cmd;

use crate::output;
use crate::packages::{apt_install, cache, reach};
use crate::workspace::{Workspace, on_path};

/// A program from crates.io, pinned to one version. Package and program have the same name.
#[derive(Debug)]
pub struct Tool {
    name: &'static str,
    /// The version that is installed.
    pub version: &'static str,
    /// How the first line of `--version` begins.
    prints: &'static str,
    /// How long it takes to compile on two cores.
    minutes: u32,
}

/// Shrinks the WebAssembly. Binaryen 116: Debian's 108 writes a module that crashes at its start.
pub const WASM_OPT: Tool = Tool {
    name: "wasm-opt",
    version: "0.116.1",
    prints: "wasm-opt version 116 (version_116)",
    minutes: 6,
};

/// Checks licences, sources and edges of the dependencies.
pub const CARGO_DENY: Tool = Tool {
    name: "cargo-deny",
    version: "0.20.2",
    prints: "cargo-deny 0.20.2",
    minutes: 2,
};

/// Formats `view!`, which rustfmt leaves alone. MIT or Apache-2.0.
pub const LEPTOSFMT: Tool = Tool {
    name: "leptosfmt",
    version: "0.1.33",
    prints: "leptosfmt 0.1.33",
    minutes: 2,
};

/// Drives Firefox in the tests. Debian 12 has no package of it. Mozilla, MPL-2.0.
pub(crate) const GECKODRIVER: Tool = Tool {
    name: "geckodriver",
    version: "0.37.1",
    prints: "geckodriver 0.37.1",
    minutes: 3,
};

impl Tool {
    /// The program, after installing it where it is missing. It stays in the user's cache, so that another clone finds it;
    /// one of the right version on `PATH` is used instead.
    ///
    /// # Errors
    /// A sentence that says what to do.
    pub fn program(&self, workspace: &Workspace) -> anyhow::Result<PathBuf> {
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
            && self.is_printed(&printed)
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

    /// Behind the version some print their commit, and below it their licence.
    fn is_printed(&self, printed: &str) -> bool {
        let line = printed.trim_start().lines().next().unwrap_or_default();
        let rest = line.strip_prefix(self.prints);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_recognised_in_what_is_printed_around_it() {
        for printed in [
            "leptosfmt 0.1.33",
            "leptosfmt 0.1.33 (1a2b 2025-05-01)\n\nMIT\n",
        ] {
            assert!(LEPTOSFMT.is_printed(printed), "{printed}");
        }
        for printed in [
            "leptosfmt 0.1.335",
            "leptosfmt 0.1.3",
            "",
            "x\nleptosfmt 0.1.33",
        ] {
            assert!(!LEPTOSFMT.is_printed(printed), "{printed}");
        }
    }
}

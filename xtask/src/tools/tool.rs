//! Programs from crates.io, each pinned to one version.

use std::env;
use std::path::PathBuf;

use anyhow::Context as _;

use super::apt;
use crate::program::{Program, on_path};
use crate::screen;
use crate::workspace::Workspace;

/// A program, its version, and how it is recognised and installed.
pub(crate) struct Tool {
    /// Package and program have the same name.
    pub(crate) name: &'static str,
    /// The package's version: exactly this one.
    pub(crate) version: &'static str,
    /// How the first line begins that `--version` prints when it is the right one.
    prints: &'static str,
    /// How long it takes to compile on two cores.
    minutes: u32,
    /// Whether it is C++ inside.
    needs_cpp: bool,
}

/// Drives the widget's build. 0.21.14 is the newest that compiles with the pinned Rust.
pub(crate) const TRUNK: Tool = Tool {
    name: "trunk",
    version: "0.21.14",
    prints: "trunk 0.21.14",
    minutes: 4,
    needs_cpp: false,
};

/// Shrinks the WebAssembly. Binaryen 116: Debian's 108 writes a module that crashes at its start.
pub(crate) const WASM_OPT: Tool = Tool {
    name: "wasm-opt",
    version: "0.116.1",
    prints: "wasm-opt version 116 (version_116)",
    minutes: 5,
    needs_cpp: true,
};

/// Checks licences, sources and edges of the dependencies.
pub(crate) const CARGO_DENY: Tool = Tool {
    name: "cargo-deny",
    version: "0.20.2",
    prints: "cargo-deny 0.20.2",
    minutes: 2,
    needs_cpp: false,
};

/// Formats `view!`, which rustfmt leaves alone. MIT or Apache-2.0.
pub(crate) const LEPTOSFMT: Tool = Tool {
    name: "leptosfmt",
    version: "0.1.33",
    prints: "leptosfmt 0.1.33",
    minutes: 2,
    needs_cpp: false,
};

/// Drives Firefox in the tests. Debian 12 has no package of it. Mozilla, MPL-2.0.
pub(crate) const GECKODRIVER: Tool = Tool {
    name: "geckodriver",
    version: "0.37.1",
    prints: "geckodriver 0.37.1",
    minutes: 3,
    needs_cpp: false,
};

impl Tool {
    /// The folder of the program, after installing it where it is missing.
    ///
    /// It stays in the user's cache, so that another clone finds it; one of exactly the right version that is already
    /// on `PATH` is as good.
    ///
    /// # Errors
    /// A sentence that says what to do.
    pub(crate) fn folder(&self, workspace: &Workspace) -> anyhow::Result<PathBuf> {
        let root = cache()?.join(format!("{}-{}", self.name, self.version));
        let folder = root.join("bin");
        if folder.join(self.name).exists() {
            return Ok(folder);
        }
        if let Some(folder) = self.found_on_path(workspace) {
            return Ok(folder);
        }
        if self.needs_cpp {
            need_cpp(self.name, workspace)?;
        }
        let Self {
            name,
            version,
            minutes,
            ..
        } = self;
        screen::step(format!(
            "Installing {name} {version} (about {minutes} minutes, once)…"
        ));
        // Compiled in a hurry: a tool that runs for seconds does not earn minutes of optimising.
        Program::cargo(workspace)
            .args(["install", name, "--version", version, "--locked"])
            .arg_path("--root", &root)
            .arg_path("--target-dir", &workspace.target.join("tools-build"))
            .env("CARGO_PROFILE_RELEASE_LTO", "off")
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1")
            .run()
            .with_context(|| {
                format!(
                    "{name} {version} could not be installed: check that crates.io can be reached, \
                     then run the command again"
                )
            })?;
        Ok(folder)
    }

    fn found_on_path(&self, workspace: &Workspace) -> Option<PathBuf> {
        let program = on_path(self.name)?;
        let version = Program::new(&program, workspace)
            .args(["--version"])
            .output();
        let right = version.is_ok_and(|printed| self.is_printed(&printed));
        right.then(|| program.parent().map(PathBuf::from))?
    }

    /// Some say behind it from which commit they were built, and below it under which licence.
    fn is_printed(&self, printed: &str) -> bool {
        let line = printed.trim_start().lines().next().unwrap_or_default();
        let rest = line.strip_prefix(self.prints);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    }
}

/// `~/.cache/florin/tools`, or where the user keeps caches.
pub(super) fn cache() -> anyhow::Result<PathBuf> {
    let set = |name| {
        env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let caches = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    let caches = caches.context("set HOME or XDG_CACHE_HOME, so that tools have a place")?;
    Ok(caches.join("florin/tools"))
}

fn need_cpp(name: &str, workspace: &Workspace) -> anyhow::Result<()> {
    let compilers = ["c++", "g++", "clang++"];
    if env::var_os("CXX").is_some() || compilers.iter().any(|program| on_path(program).is_some()) {
        return Ok(());
    }
    apt::install(&["g++"], &format!("{name} is compiled from C++"), workspace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_recognised_in_what_is_printed_around_it() {
        let right = ["trunk 0.21.14", "trunk 0.21.14 (1a2b 2025-05-01)\n\nMIT\n"];
        for printed in right {
            assert!(TRUNK.is_printed(printed), "{printed}");
        }
        for printed in ["trunk 0.21.145", "trunk 0.21.1", "", "x\ntrunk 0.21.14"] {
            assert!(!TRUNK.is_printed(printed), "{printed}");
        }
    }
}

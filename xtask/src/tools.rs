//! What the commands need besides cargo, and how it is installed on a fresh machine.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use sha2::{Digest as _, Sha256};
use xshell::{Cmd, cmd};

use crate::output;
use crate::workspace::{Workspace, on_path};

/// A program from crates.io, pinned to one version. Package and program have the same name.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    /// How the first line of `--version` begins.
    prints: &'static str,
    /// How long it takes to compile on two cores.
    minutes: u32,
}

/// Drives the release's build. 0.21.14 is the newest that compiles with the pinned Rust.
pub(crate) const TRUNK: Tool = Tool {
    name: "trunk",
    version: "0.21.14",
    prints: "trunk 0.21.14",
    minutes: 4,
};

/// Shrinks the WebAssembly. Binaryen 116: Debian's 108 writes a module that crashes at its start.
pub(crate) const WASM_OPT: Tool = Tool {
    name: "wasm-opt",
    version: "0.116.1",
    prints: "wasm-opt version 116 (version_116)",
    minutes: 6,
};

/// Checks licences, sources and edges of the dependencies.
pub(crate) const CARGO_DENY: Tool = Tool {
    name: "cargo-deny",
    version: "0.20.2",
    prints: "cargo-deny 0.20.2",
    minutes: 2,
};

/// Formats `view!`, which rustfmt leaves alone. MIT or Apache-2.0.
pub(crate) const LEPTOSFMT: Tool = Tool {
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

/// Everything that building the widget and the programs needs. A second call finds it and takes no time.
///
/// # Errors
/// A sentence that says what to do.
pub(crate) fn set_up(workspace: &Workspace) -> anyhow::Result<()> {
    let what = "Downloading the libraries (about 1 minute the first time)…";
    fetch(|| workspace.cargo("fetch --locked --quiet"), what)?;
    let sh = &workspace.sh;
    let sysroot = PathBuf::from(cmd!(sh, "rustc --print sysroot").read()?).join("lib/rustlib");
    let target = "wasm32-unknown-unknown";
    if !sysroot.join(target).exists() {
        rustup(target, cmd!(sh, "rustup target add {target}"))?;
    }
    // The release's standard library is built from its source.
    if !sysroot.join("src/rust/library/std/Cargo.toml").exists() {
        rustup("rust-src", cmd!(sh, "rustup component add rust-src"))?;
    }
    Ok(())
}

/// Runs a `cargo fetch` where something is missing. After it a build needs no network.
///
/// # Errors
/// A sentence about the network.
pub(crate) fn fetch<'a>(fetch: impl Fn() -> Cmd<'a>, what: &str) -> anyhow::Result<()> {
    if fetch()
        .arg("--offline")
        .ignore_stdout()
        .ignore_stderr()
        .run()
        .is_ok()
    {
        return Ok(());
    }
    output::step(what);
    fetch()
        .run()
        .with_context(|| format!("libraries could not be downloaded: {}", reach("crates.io")))
}

/// rustup adds these when it installs the pinned toolchain; a toolchain that was there before lacks them.
fn rustup(what: &str, rustup: Cmd<'_>) -> anyhow::Result<()> {
    if on_path("rustup").is_none() {
        bail!(
            "this Rust has no {what}, and no rustup to add it: install Rust from https://rustup.rs, then run the command again"
        );
    }
    output::step(format!("Adding {what} to Rust…"));
    let added = rustup.quiet().run();
    added.with_context(|| {
        format!(
            "{what} could not be added: {}",
            reach("static.rust-lang.org")
        )
    })
}

/// What the tests use besides: browsers with their drivers, PostgreSQL, Prometheus, a reader of QR codes that is not ours,
/// reverse proxies, and npm packages.
///
/// # Errors
/// A sentence that says what to do.
pub(crate) fn install_for_tests(workspace: &Workspace) -> anyhow::Result<()> {
    let needed = [
        ("chromium", "chromium"),
        ("chromedriver", "chromium-driver"),
        ("firefox-esr", "firefox-esr"),
        // Brings the browser that it drives, which needs a display.
        ("WebKitWebDriver", "webkit2gtk-driver"),
        ("Xvfb", "xvfb"),
        ("zbarimg", "zbar-tools"),
        // The files of `deploy/` are run by what they are for.
        ("caddy", "caddy"),
        ("nginx", "nginx"),
        ("openssl", "openssl"),
        ("systemd-analyze", "systemd"),
        // Brings promtool.
        ("prometheus", "prometheus"),
        ("buildah", "buildah"),
        ("kubectl", "kubernetes-client"),
    ];
    let missing = needed
        .iter()
        .filter(|(program, _)| on_path(program).is_none());
    let missing: Vec<&str> = missing.map(|(_, package)| *package).collect();
    if !missing.is_empty() {
        apt_install(
            workspace,
            &missing,
            "the tests use real browsers and servers",
        )?;
    }
    install_postgresql(workspace, "the tests use a real PostgreSQL")?;
    GECKODRIVER.program(workspace)?;
    npm(workspace, "tests/npm")?;
    npm(workspace, "tests/receivers")?;
    python_library(workspace)
}

/// The library of `examples/receivers/python`; the tests find it by the same rule (`tests/src/example.rs`).
fn python_library(workspace: &Workspace) -> anyhow::Result<()> {
    let sh = &workspace.sh;
    let requirements = "tests/receivers/requirements.txt";
    let list = sh.read_binary_file(requirements)?;
    installed_once("receivers", &list, |folder| {
        need_python(workspace, "the tests run the receiver in Python")?;
        cmd!(sh, "python3 -m venv --clear {folder}").quiet().run()?;
        pip(workspace, folder, requirements)
    })
    .map(drop)
}

/// Debian's Python comes without the part that makes environments.
fn need_python(workspace: &Workspace, why: &str) -> anyhow::Result<()> {
    let has_venv = cmd!(workspace.sh, "python3 -c 'import venv, ensurepip'");
    if has_venv.quiet().ignore_stderr().run().is_err() {
        apt_install(workspace, &["python3", "python3-venv"], why)?;
    }
    Ok(())
}

/// Installs what a list names into a Python environment. Every file is pinned by its hash.
fn pip(workspace: &Workspace, folder: &Path, requirements: &str) -> anyhow::Result<()> {
    let options = [
        "--quiet",
        "--require-hashes",
        "--disable-pip-version-check",
        "--only-binary",
        ":all:",
    ];
    let pip = cmd!(
        workspace.sh,
        "{folder}/bin/python -m pip install {options...} --requirement {requirements}"
    );
    pip.quiet().run().with_context(|| {
        format!(
            "{requirements} could not be installed: {}, and that python3 is 3.11 or later",
            reach("pypi.org")
        )
    })
}

/// PostgreSQL, where it is missing.
///
/// # Errors
/// A sentence that says what to do.
pub(crate) fn install_postgresql(workspace: &Workspace, why: &str) -> anyhow::Result<()> {
    if florin_postgres::installed().is_some() {
        return Ok(());
    }
    apt_install(workspace, &["postgresql"], why)
}

/// The folder whose `node_modules` holds the packages of `list`, a folder with a `package-lock.json`, after installing them
/// where they are missing; the tests find it by the same rule (`tests/src/npm.rs`). No script of a package is run.
///
/// # Errors
/// A sentence that says what to do.
pub(crate) fn npm(workspace: &Workspace, list: &str) -> anyhow::Result<PathBuf> {
    let sh = &workspace.sh;
    let lock = format!("{list}/package-lock.json");
    installed_once("npm", &sh.read_binary_file(&lock)?, |folder| {
        if on_path("npm").is_none() {
            apt_install(
                workspace,
                &["nodejs", "npm"],
                &format!("{list} names npm packages"),
            )?;
        }
        output::step(format!(
            "Installing the npm packages of {list} (less than 1 minute, once)…"
        ));
        sh.create_dir(folder)?;
        for file in ["package.json", "package-lock.json"] {
            sh.copy_file(format!("{list}/{file}"), folder.join(file))?;
        }
        let _inside = sh.push_dir(folder);
        // Two Reacts are listed: npm would give the newer one to each package that needs one.
        let options = [
            "--ignore-scripts",
            "--legacy-peer-deps",
            "--no-audit",
            "--no-fund",
        ];
        let npm = cmd!(sh, "npm ci {options...} --loglevel error").quiet();
        npm.run().with_context(|| {
            format!(
                "the npm packages of {list} could not be installed: {}",
                reach("registry.npmjs.org")
            )
        })
    })
}

/// The program anvil, a node of a chain of Ethereum's kind, after installing it with the npm packages of the tests.
///
/// # Errors
/// A sentence that says what to do.
pub(crate) fn anvil(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    let folder = npm(workspace, "tests/npm")?;
    let program = folder.join("node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil");
    anyhow::ensure!(
        program.exists(),
        "anvil comes from npm for Linux on x86-64 alone. Start another one, and: florin-sandbox --evm-rpc-url URL"
    );
    Ok(program)
}

/// The program `st`, Schemathesis, after installing it where it is missing. Every file of it is pinned by its hash.
///
/// # Errors
/// A sentence that says what to do.
pub(crate) fn schemathesis(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    let sh = &workspace.sh;
    let requirements = "tests/schemathesis/requirements.txt";
    let folder = installed_once(
        "schemathesis",
        &sh.read_binary_file(requirements)?,
        |folder| {
            let why = "Schemathesis, which tests the HTTP API, is a Python program";
            need_python(workspace, why)?;
            output::step("Installing Schemathesis (about 1 minute, once)…");
            cmd!(sh, "python3 -m venv --clear {folder}").quiet().run()?;
            pip(workspace, folder, requirements)
        },
    )?;
    Ok(folder.join("bin/st"))
}

/// A folder of the cache that is named by the list of what is in it. A file marks it as complete: an installation that was
/// interrupted starts again.
fn installed_once(
    name: &str,
    list: &[u8],
    install: impl FnOnce(&Path) -> anyhow::Result<()>,
) -> anyhow::Result<PathBuf> {
    let folder = cache()?.join(format!(
        "{name}-{}",
        hex::encode(&Sha256::digest(list)[..6])
    ));
    let complete = folder.join("whole");
    if !complete.exists() {
        install(&folder)?;
        std::fs::write(&complete, "")
            .with_context(|| format!("{} cannot be written", complete.display()))?;
    }
    Ok(folder)
}

/// `~/.cache/florin/tools`, or below `XDG_CACHE_HOME`.
fn cache() -> anyhow::Result<PathBuf> {
    let set = |name| {
        env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let caches = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    let caches = caches.context("set HOME or XDG_CACHE_HOME: tools are installed there")?;
    Ok(caches.join("florin/tools"))
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

/// Installs Debian packages as root, or by a sudo that asks for no password.
fn apt_install(workspace: &Workspace, packages: &[&str], why: &str) -> anyhow::Result<()> {
    let sh = &workspace.sh;
    let list = packages.join(" ");
    if on_path("apt-get").is_none() {
        bail!("{why}: install {list} (their names in Debian), then run the command again");
    }
    let is_root = cmd!(sh, "id -u").read().is_ok_and(|id| id == "0");
    let sudo: &[&str] = if is_root { &[] } else { &["sudo", "-n"] };
    let by_hand = format!("sudo apt-get update && sudo apt-get install -y {list}");
    if !is_root
        && cmd!(sh, "sudo -n true")
            .quiet()
            .ignore_stderr()
            .run()
            .is_err()
    {
        bail!("{why}, and installing needs root: run `{by_hand}`, then the command again");
    }
    output::step(format!(
        "Installing {list} from the distribution's packages…"
    ));
    let apt = [
        sudo,
        &["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"],
    ]
    .concat();
    // A failed update need not matter: the lists may be there.
    let apt = &apt;
    let _ = cmd!(sh, "env {apt...} update").quiet().run();
    let install = cmd!(
        sh,
        "env {apt...} install -y --no-install-recommends {packages...}"
    )
    .quiet();
    install.run().with_context(|| {
        format!("{why}, and {list} could not be installed: check the network, or try `{by_hand}`")
    })
}

fn reach(host: &str) -> String {
    format!("check that {host} can be reached, then run the command again")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_recognised_in_what_is_printed_around_it() {
        for printed in ["trunk 0.21.14", "trunk 0.21.14 (1a2b 2025-05-01)\n\nMIT\n"] {
            assert!(TRUNK.is_printed(printed), "{printed}");
        }
        for printed in ["trunk 0.21.145", "trunk 0.21.1", "", "x\ntrunk 0.21.14"] {
            assert!(!TRUNK.is_printed(printed), "{printed}");
        }
    }
}

//! Tools that the commands need besides cargo, and their installation on a fresh machine.

mod packages;

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use florin_servers::{PostgresServer, on_path};
use xshell::{Cmd, cmd};

pub(crate) use self::packages::{anvil, npm, schemathesis};
use self::packages::{apt_install, python_libraries, reach, tools};
use crate::output;
use crate::workspace::Workspace;

/// Installs what building the widget and the programs needs. A second call takes no time.
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

/// Installs what the tests use besides: browsers with their drivers, PostgreSQL, Prometheus, a reader of QR codes that is not
/// ours, reverse proxies, a node of Litecoin, PHP, and npm packages.
pub(crate) fn install_for_tests(workspace: &Workspace) -> anyhow::Result<()> {
    let needed = [
        ("chromium", "chromium"),
        ("chromium-headless-shell", "chromium-headless-shell"),
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
        ("pgbouncer", "pgbouncer"),
        ("litecoind", "litecoind"),
    ];
    let missing = needed.map(|(program, package)| on_path(program).is_none().then_some(package));
    let missing: Vec<&str> = missing.into_iter().flatten().collect();
    if !missing.is_empty() {
        apt_install(
            workspace,
            &missing,
            "the tests use real browsers and servers",
        )?;
    }
    install_postgresql(workspace, "the tests use a real PostgreSQL")?;
    install_php(workspace)?;
    GECKODRIVER.program(workspace)?;
    npm(workspace, "tests/npm")?;
    npm(workspace, "tests/libraries")?;
    python_libraries(workspace)
}

fn install_php(workspace: &Workspace) -> anyhow::Result<()> {
    let script =
        "exit((int) (array_diff(['curl', 'dom', 'mbstring'], get_loaded_extensions()) !== []));";
    let found = cmd!(workspace.sh, "php -r {script}").quiet();
    if on_path("php").is_some() && found.ignore_stderr().run().is_ok() {
        return Ok(());
    }
    apt_install(
        workspace,
        &["php-cli", "php-curl", "php-mbstring", "php-xml"],
        "the tests run the library for PHP",
    )
}

/// For the pictures, which show a font near to those of customers' systems.
pub(crate) fn install_font(workspace: &Workspace) -> anyhow::Result<()> {
    if Path::new("/usr/share/fonts/opentype/inter").exists() {
        return Ok(());
    }
    apt_install(
        workspace,
        &["fonts-inter"],
        "the pictures are taken in Inter",
    )
}

pub(crate) fn install_postgresql(workspace: &Workspace, why: &str) -> anyhow::Result<()> {
    if PostgresServer::installed().is_some() {
        return Ok(());
    }
    apt_install(workspace, &["postgresql"], why)
}

/// A program from crates.io, pinned to one version. Package and program have the same name.
pub(crate) struct Tool {
    name: &'static str,
    pub(crate) version: &'static str,
    /// The word for the version in the first line of `--version`.
    prints: &'static str,
    /// Its cargo features, instead of the default ones.
    features: Option<&'static str>,
    /// How long it takes to compile on two cores.
    minutes: u32,
}

/// Shrinks the WebAssembly. Binaryen 116: Debian's 108 writes a module that crashes at its start.
pub(crate) const WASM_OPT: Tool = Tool {
    name: "wasm-opt",
    version: "0.116.1",
    prints: "116",
    features: None,
    minutes: 6,
};

/// Checks licences, sources and edges of the dependencies.
pub(crate) const CARGO_DENY: Tool = Tool {
    name: "cargo-deny",
    version: "0.20.2",
    prints: "0.20.2",
    features: None,
    minutes: 2,
};

/// Formats `view!`, which rustfmt leaves alone. MIT or Apache-2.0.
pub(crate) const LEPTOSFMT: Tool = Tool {
    name: "leptosfmt",
    version: "0.1.33",
    prints: "0.1.33",
    features: None,
    minutes: 2,
};

/// Drives Firefox in the tests. Debian 12 has no package of it. Mozilla, MPL-2.0.
pub(crate) const GECKODRIVER: Tool = Tool {
    name: "geckodriver",
    version: "0.37.1",
    prints: "0.37.1",
    features: None,
    minutes: 3,
};

/// Builds the site. MPL-2.0. Its server and its watching of files stay out.
pub(crate) const MDBOOK: Tool = Tool {
    name: "mdbook",
    version: "0.5.4",
    prints: "v0.5.4",
    features: Some("search"),
    minutes: 4,
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
        let root = tools()?.join(format!("{name}-{version}"));
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
        let features = ["--no-default-features", "--features"];
        let install = match self.features {
            Some(chosen) => install.args(features).arg(chosen),
            None => install,
        };
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

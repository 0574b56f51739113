//! Tools that the commands need besides cargo, and their installation on a fresh machine.

mod packages;
mod program;

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use xshell::{Cmd, cmd};

pub(crate) use self::packages::{anvil, npm, schemathesis};
use self::packages::{apt_install, python_library, reach};
use self::program::GECKODRIVER;
pub(crate) use self::program::{CARGO_DENY, LEPTOSFMT, WASM_OPT};
use crate::output;
use crate::workspace::{Workspace, on_path};

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
/// ours, reverse proxies, and npm packages.
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
    GECKODRIVER.program(workspace)?;
    npm(workspace, "tests/npm")?;
    npm(workspace, "tests/receivers")?;
    python_library(workspace)
}

/// Installs PostgreSQL where it is missing.
pub(crate) fn install_postgresql(workspace: &Workspace, why: &str) -> anyhow::Result<()> {
    if florin_postgres::installed().is_some() {
        return Ok(());
    }
    apt_install(workspace, &["postgresql"], why)
}

//! The programs of a release, compiled statically.

use std::path::PathBuf;

use anyhow::{Context as _, bail, ensure};
use xshell::cmd;

use crate::bundle::{self, Variant};
use crate::setup;
use crate::workspace::{Workspace, on_path};

/// What a release runs.
pub(crate) const PROGRAMS: [&str; 2] = ["florin-proxy", "florin-sandbox"];

/// Compiles the widget and the programs; returns the folder of the programs.
///
/// # Errors
/// A sentence that says what to do: a compiler is missing, the widget is larger than promised, or the sources do not compile.
pub(crate) fn build(workspace: &Workspace, target: &str) -> anyhow::Result<PathBuf> {
    setup::set_up(workspace)?;
    bundle::make(workspace, Variant::Release)?;
    bundle::check_sizes(workspace, Variant::Release)?;
    let sh = &workspace.sh;
    let sysroot = PathBuf::from(cmd!(sh, "rustc --print sysroot").quiet().read()?);
    if !sysroot.join("lib/rustlib").join(target).exists() {
        cmd!(sh, "rustup target add {target}").run()?;
    }
    // It compiles SQLite, and the cryptography of ring.
    if target.ends_with("musl") && on_path("musl-gcc").is_none() {
        bail!("musl-gcc is missing: run `sudo apt-get install musl-tools`, then this again");
    }
    let home = std::env::var("CARGO_HOME").or_else(|_| {
        let home = std::env::var("HOME").context("set CARGO_HOME or HOME")?;
        anyhow::Ok(format!("{home}/.cargo"))
    })?;
    let remapped = [
        (workspace.root.display().to_string(), "/florin"),
        (home, "/cargo"),
        (sysroot.display().to_string(), "/rust"),
    ];
    let rust = remapped
        .each_ref()
        .map(|(from, to)| format!("--remap-path-prefix={from}={to}"));
    let c = remapped
        .each_ref()
        .map(|(from, to)| format!("-ffile-prefix-map={from}={to}"));
    let packages = PROGRAMS.map(|program| ["--package", program]).concat();
    let build = format!("build --locked --release --target {target}");
    bundle::cargo_with(workspace, Variant::Release, &build)
        .args(packages)
        .env("RUSTFLAGS", rust.join(" "))
        .env("CFLAGS", c.join(" "))
        .run()?;
    let folder = workspace.target.join(target).join("release");
    for program in PROGRAMS {
        let program = folder.join(program);
        let headers = cmd!(sh, "readelf --program-headers {program}");
        // A program of the image finds no library, and no dynamic linker.
        ensure!(
            !headers.quiet().read()?.contains("INTERP"),
            "{} is not static",
            program.display()
        );
    }
    Ok(folder)
}

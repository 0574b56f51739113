//! The programs of a release, compiled statically.

use std::env::consts::ARCH;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use xshell::{Shell, cmd};

/// What a release runs.
pub const PROGRAMS: [&str; 2] = ["florin-proxy", "florin-sandbox"];

/// The target of this machine with a C library that is linked in.
pub fn host_target() -> String {
    format!("{ARCH}-unknown-linux-musl")
}

/// Compiles the widget and the programs; returns the folder of the programs.
///
/// # Errors
/// A sentence that says what to do: a compiler is missing, or the sources do not compile.
pub fn build(root: &Path, target: &str) -> anyhow::Result<PathBuf> {
    let sh = Shell::new()?;
    sh.change_dir(root);
    // Builds `dist/`, and fails when the widget is larger than promised.
    cmd!(sh, "cargo xtask budget").run()?;
    let sysroot = cmd!(sh, "rustc --print sysroot").quiet().read()?;
    let library = Path::new(&sysroot).join("lib/rustlib").join(target);
    if !library.exists() {
        cmd!(sh, "rustup target add {target}").run()?;
    }
    // It compiles SQLite, and the cryptography of ring.
    if target.ends_with("musl") && cmd!(sh, "musl-gcc --version").quiet().read().is_err() {
        bail!("musl-gcc is missing: run `sudo apt-get install musl-tools`, then this again");
    }
    let home = std::env::var("CARGO_HOME").or_else(|_| {
        let home = std::env::var("HOME").context("set CARGO_HOME or HOME")?;
        anyhow::Ok(format!("{home}/.cargo"))
    })?;
    let (root, sysroot) = (root.display(), sysroot.trim());
    let remapped = [
        (root.to_string(), "/florin"),
        (home, "/cargo"),
        (sysroot.to_owned(), "/rust"),
    ];
    let rust: Vec<String> = remapped
        .iter()
        .map(|(from, to)| format!("--remap-path-prefix={from}={to}"))
        .collect();
    let c: Vec<String> = remapped
        .iter()
        .map(|(from, to)| format!("-ffile-prefix-map={from}={to}"))
        .collect();
    let packages = PROGRAMS.map(|program| ["--package", program]).concat();
    cmd!(
        sh,
        "cargo build --locked --release --target {target} {packages...}"
    )
    .env("RUSTFLAGS", rust.join(" "))
    .env("CFLAGS", c.join(" "))
    .env_remove("FLORIN_DIST")
    .run()?;
    let target_folder =
        std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| format!("{root}/target"));
    let folder = Path::new(&target_folder).join(target).join("release");
    for program in PROGRAMS {
        is_static(&sh, &folder.join(program))?;
    }
    Ok(folder)
}

/// A program of the image finds no library.
fn is_static(sh: &Shell, program: &Path) -> anyhow::Result<()> {
    let bytes = sh.read_binary_file(program)?;
    // Source: ELF-64, section "Program Header": a type of 3 names the dynamic linker.
    let number = |at: usize, length: usize| {
        let bytes = bytes
            .get(at..at + length)
            .context("the program is truncated")?;
        anyhow::Ok(
            bytes
                .iter()
                .rev()
                .fold(0_usize, |sum, byte| sum << 8 | usize::from(*byte)),
        )
    };
    let (start, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    for index in 0..count {
        let kind = number(start + index * size, 4)?;
        ensure!(kind != 3, "{} is not static", program.display());
    }
    Ok(())
}

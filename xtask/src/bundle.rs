//! The widget as it is served: `dist/`, or the folder of another [`Variant`].
//!
//! ```text
//! dist/florin.js            the loader, which names host.js below, and that the rest
//! dist/florin.test.js       the same, for a proxy in the test environment
//! dist/florin.d.ts          its types
//! dist/pay.html             the checkout page, which names its own loader below assets/
//! dist/pay.test.html        the same, for the test environment
//! dist/assets/<name>-<first 8 hex digits of its SHA-256>.<ext>
//! dist/gallery/             every state of the checkout on canned responses, for the test environment
//! ```
//!
//! `tools/bundle` writes the files. Beside each file of an optimised variant are `.br` and `.gz` when they are smaller. Names contain the content's hash, so
//! that a browser may keep a file for ever. The proxy embeds the folder when it is compiled.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use sha2::{Digest as _, Sha256};
use xshell::{Cmd, Shell};

use crate::output;
use crate::setup::{self, WASM_OPT};
use crate::workspace::Workspace;
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variant {
    /// What is shipped, as small as it gets: two modules, by compiler flags that are not stable. In `dist/`.
    Release,
    /// The same by stable flags alone. In `target/dist-stable`.
    Stable,
    /// What compiles fastest: one module, which prints its panics; nothing is optimised. In `target/dist-demo`.
    Demo,
}

impl Variant {
    pub(crate) fn dist(self, workspace: &Workspace) -> PathBuf {
        match self {
            Self::Release => workspace.root.join("dist"),
            Self::Stable | Self::Demo => workspace.target.join(format!("dist-{}", self.name())),
        }
    }

    /// A part of the names of its files below `target`.
    fn name(self) -> &'static str {
        match self {
            Self::Release => "release",
            Self::Stable => "stable",
            Self::Demo => "demo",
        }
    }
}

/// `cargo` with these arguments, which puts a variant of the widget into the proxy: its build script takes `dist/`, unless
/// the variable names another folder.
pub(crate) fn cargo_with<'a>(workspace: &'a Workspace, variant: Variant, args: &str) -> Cmd<'a> {
    match variant {
        Variant::Release => workspace.cargo(args).env_remove("FLORIN_DIST"),
        Variant::Stable | Variant::Demo => workspace
            .cargo(args)
            .env("FLORIN_DIST", variant.dist(workspace)),
    }
}

fn bundle_js<'a>(workspace: &'a Workspace, command: &str) -> Cmd<'a> {
    let program = workspace.debug_program("bundle-js");
    workspace.sh.cmd(program).arg(command).quiet()
}

pub(crate) fn make(workspace: &Workspace, variant: Variant) -> anyhow::Result<()> {
    make_if_old(workspace, variant, || {
        let wasm_opt = WASM_OPT.program(workspace)?;
        output::step("Building bundle-js (about 2 minutes the first time)…");
        workspace.build("--package florin-bundle")?;
        output::step("Building the widget (about 3 minutes the first time)…");
        let built = workspace.target.join(format!("widget-{}", variant.name()));
        bind(workspace, &compile(workspace, variant)?, &built)?;
        let optimize = bundle_js(workspace, "optimize").arg(wasm_opt).arg(&built);
        optimize.run()?;
        let package = bundle_js(workspace, "package-small").arg(built);
        Ok(package.arg(variant.dist(workspace)).run()?)
    })
}

/// The builds of [`make_for_demo`]. The widget has the development profile: with a release's, the libraries that run at
/// compile time would be compiled once more.
const DEMO_BUILDS: [&str; 2] = [
    "--package florin-bundle --no-default-features",
    "--package florin-widget --target wasm32-unknown-unknown",
];

/// Makes the bundle of the demo, which needs no optimiser, when it is missing or older than what it is made from.
pub(crate) fn make_for_demo(workspace: &Workspace) -> anyhow::Result<()> {
    make_if_old(workspace, Variant::Demo, || {
        for build in DEMO_BUILDS {
            workspace.cargo(&format!("build --locked {build}")).run()?;
        }
        let built = workspace.target.join("widget-demo");
        let program = program(&workspace.target, "debug");
        bind(workspace, &program, &built)?;
        let package = bundle_js(workspace, "package").arg(built);
        Ok(package.arg(Variant::Demo.dist(workspace)).run()?)
    })
}

fn make_if_old(
    workspace: &Workspace,
    variant: Variant,
    make: impl FnOnce() -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let _lock = lock(&workspace.target.join("widget.lock"))?;
    let stamp = workspace
        .target
        .join(format!("widget-{}.stamp", variant.name()));
    let inputs = hash_of_inputs(workspace)?;
    let dist = variant.dist(workspace);
    let current = || {
        let mut hash = Sha256::new();
        hash_files(&workspace.sh, &mut hash, &dist, "")?;
        anyhow::Ok(format!("{inputs} {}", hex::encode(hash.finalize())))
    };
    if dist.join("pay.html").exists() && fs::read_to_string(&stamp).ok() == Some(current()?) {
        return Ok(());
    }
    let time = output::stopwatch();
    make()?;
    workspace.sh.write_file(&stamp, current()?)?;
    output::passed(format!("The widget is built ({})", time()));
    Ok(())
}

/// Waits until no other `cargo xtask` makes the bundle: two would clear each other's folders. The lock ends with the file's
/// handle.
fn lock(path: &Path) -> anyhow::Result<File> {
    let locking = || format!("{} cannot be locked", path.display());
    let file = File::create(path).with_context(locking)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            output::step("Waiting for another cargo xtask to build the widget…");
            file.lock().with_context(locking)?;
        }
        Err(TryLockError::Error(error)) => return Err(error).with_context(locking),
    }
    Ok(file)
}

/// Everything that the bundle is made from: sources, settings, pinned versions, and the code that packages it.
const INPUTS: [&str; 10] = [
    "Cargo.toml",
    "Cargo.lock",
    "rust-toolchain.toml",
    ".cargo/config.toml",
    "widget",
    "packages/florin/element.d.ts",
    "crates/money",
    "crates/checkout-api",
    "tools/bundle",
    "xtask/src/bundle.rs",
];

fn hash_of_inputs(workspace: &Workspace) -> anyhow::Result<String> {
    let mut hash = Sha256::new();
    hash.update(WASM_OPT.version);
    for input in INPUTS {
        hash_files(&workspace.sh, &mut hash, &workspace.root.join(input), input)?;
    }
    Ok(hex::encode(hash.finalize()))
}

fn hash_files(sh: &Shell, hash: &mut Sha256, path: &Path, name: &str) -> anyhow::Result<()> {
    if path.is_dir() {
        for entry in sh.read_dir(path)? {
            let child = entry.file_name().unwrap_or_default().to_string_lossy();
            hash_files(sh, hash, &entry, &format!("{name}/{child}"))?;
        }
        return Ok(());
    }
    let content = sh.read_binary_file(path)?;
    // Lengths first: no name can run into a content.
    hash.update(name.len().to_le_bytes());
    hash.update(name);
    hash.update(content.len().to_le_bytes());
    hash.update(content);
    Ok(())
}

fn program(target: &Path, profile: &str) -> PathBuf {
    target
        .join("wasm32-unknown-unknown")
        .join(profile)
        .join("widget.wasm")
}

/// Compiles an optimised variant of the widget; returns the program.
///
/// For the release, the standard library is built too, for size and without what a panic would print: nothing reads it in a
/// customer's browser. That takes flags which Rust has not promised to keep; the toolchain is pinned.
/// `docs/adr/0011-the-standard-library-is-built-along.md` has the figures.
fn compile(workspace: &Workspace, variant: Variant) -> anyhow::Result<PathBuf> {
    let size = workspace.target.join("size");
    let with_settings = |cargo: &str| {
        let cmd = workspace.cargo(cargo);
        // Replaces the flags of `.cargo/config.toml`. The relocations are for the splitter in `tools/bundle`.
        let flags = "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS";
        let split = "--cfg erase_components -Clink-args=--emit-relocs";
        if variant == Variant::Stable {
            return cmd.env(flags, split);
        }
        let small =
            "-Zunstable-options -Cpanic=immediate-abort -Zlocation-detail=none -Zfmt-debug=none";
        cmd.env(flags, format!("{split} {small}"))
            // With these a stable compiler takes the flags, and the standard library is built too.
            .env("RUSTC_BOOTSTRAP", "1")
            .env("CARGO_UNSTABLE_BUILD_STD", "std,panic_abort")
            .env("CARGO_UNSTABLE_BUILD_STD_FEATURES", "optimize_for_size")
            // Otherwise cargo would compile again what both variants have in common.
            .env("CARGO_TARGET_DIR", &size)
    };
    if variant == Variant::Release {
        // The standard library has its own lock file.
        let fetch = || with_settings("fetch --locked --quiet --target wasm32-unknown-unknown");
        setup::fetch(
            fetch,
            "Downloading what the standard library is built from…",
        )?;
    }
    let widget = "--package florin-widget --target wasm32-unknown-unknown --profile widget";
    let split = "--no-default-features --features split";
    with_settings(&format!(
        "build --locked --offline --quiet {widget} {split}"
    ))
    .run()
    .context("the widget could not be built")?;
    let target = match variant {
        Variant::Release => &size,
        Variant::Stable | Variant::Demo => &workspace.target,
    };
    Ok(program(target, "widget"))
}

/// Makes of a compiled program what a browser loads: modules, the glue between them and the page, and the page without
/// Trunk's link to the program.
fn bind(workspace: &Workspace, program: &Path, to: &Path) -> anyhow::Result<()> {
    let sh = &workspace.sh;
    sh.remove_path(to)?;
    bundle_js(workspace, "bind").arg(program).arg(to).run()?;
    let page = sh.read_file("widget/index.html")?;
    let link = page.lines().find(|line| line.contains("data-trunk"));
    let link = link.context("index.html has no link for Trunk")?;
    let page = page.replace(link, "");
    Ok(sh.write_file(to.join("index.html"), page)?)
}

pub(crate) fn check_sizes(workspace: &Workspace, variant: Variant) -> anyhow::Result<()> {
    workspace.build("--package florin-bundle")?;
    let stable = (variant == Variant::Stable).then_some("stable");
    let budget = bundle_js(workspace, "budget").arg(variant.dist(workspace));
    Ok(budget.args(stable).run()?)
}

pub(crate) fn build_proxy(workspace: &Workspace, variant: Variant) -> anyhow::Result<()> {
    output::step("Building the proxy's release (about 3 minutes the first time)…");
    let build = "build --locked --release --package florin-proxy";
    Ok(cargo_with(workspace, variant, build).run()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `trunk serve` and `cargo xtask` build one program.
    #[test]
    fn trunk_has_the_profile_and_the_wasm_bindgen_of_the_release() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let read = |name| fs::read_to_string(root.join(name)).unwrap();
        let page = read("widget/index.html");
        for attribute in [
            "data-bin=\"widget\"",
            "data-bindgen-target=\"web\"",
            "data-cargo-profile-release=\"widget\"",
        ] {
            assert!(page.contains(attribute), "{attribute}");
        }
        let pinned = read("tools/bundle/Cargo.toml");
        let version = pinned.split("wasm-bindgen-cli-support = \"=").nth(1);
        let version = version.unwrap().split('"').next().unwrap();
        assert!(read("widget/Trunk.toml").contains(&format!("wasm_bindgen = \"{version}\"")));
    }
}

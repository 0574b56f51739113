//! Packages of the distribution, of npm and of the Python Package Index.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use florin_servers::installed::{self, on_path};
use xshell::cmd;

use crate::output;
use crate::workspace::Workspace;

/// The folder whose `node_modules` holds the packages of `list`, a folder with a `package-lock.json`, after installing them
/// where they are missing. No script of a package is run.
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
pub(crate) fn anvil(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    let folder = npm(workspace, "tests/npm")?;
    let program = folder.join("node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil");
    anyhow::ensure!(
        program.exists(),
        "anvil comes from npm for Linux on x86-64 alone. Start another one, and: florin-sandbox --evm-rpc-url URL"
    );
    Ok(program)
}

/// The program `st`, Schemathesis, after installing it where it is missing.
pub(crate) fn schemathesis(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    let why = "Schemathesis, which tests the HTTP API, is a Python program";
    Ok(python(workspace, "schemathesis", why)?.join("bin/st"))
}

/// What `packages/python` needs to be run, typed and packed; the tests find it by the same rule (`tests/src/server_libraries.rs`).
pub(crate) fn python_libraries(workspace: &Workspace) -> anyhow::Result<()> {
    let why = "the tests run the library for Python";
    python(workspace, "libraries", why).map(drop)
}

/// A Python environment with what `requirements.txt` of a folder of `tests` lists. Every file of it is pinned by its hash.
fn python(workspace: &Workspace, name: &str, why: &str) -> anyhow::Result<PathBuf> {
    let sh = &workspace.sh;
    let requirements = format!("tests/{name}/requirements.txt");
    installed_once(name, &sh.read_binary_file(&requirements)?, |folder| {
        // Debian's Python comes without the part that makes environments.
        let has_venv = cmd!(sh, "python3 -c 'import venv, ensurepip'");
        if has_venv.quiet().ignore_stderr().run().is_err() {
            apt_install(workspace, &["python3", "python3-venv"], why)?;
        }
        output::step(format!("Installing {requirements} (about 1 minute, once)…"));
        cmd!(sh, "python3 -m venv --clear {folder}").quiet().run()?;
        let options = [
            "--quiet",
            "--require-hashes",
            "--disable-pip-version-check",
            "--only-binary",
            ":all:",
        ];
        let pip = cmd!(
            sh,
            "{folder}/bin/python -m pip install {options...} --requirement {requirements}"
        );
        pip.quiet().run().with_context(|| {
            format!(
                "{requirements} could not be installed: {}, and that python3 is 3.11 or later",
                reach("pypi.org")
            )
        })
    })
}

/// A folder of the cache that is named by the list of what is in it. A file marks it as complete: an installation that was
/// interrupted starts again.
fn installed_once(
    name: &str,
    list: &[u8],
    install: impl FnOnce(&Path) -> anyhow::Result<()>,
) -> anyhow::Result<PathBuf> {
    let folder = installed::folder_of(name, list).context(NO_TOOLS)?;
    let complete = folder.join(installed::WHOLE);
    if !complete.exists() {
        install(&folder)?;
        std::fs::write(&complete, "")
            .with_context(|| format!("{} cannot be written", complete.display()))?;
    }
    Ok(folder)
}

/// Installs Debian packages as root, or by a sudo that asks for no password.
pub(crate) fn apt_install(
    workspace: &Workspace,
    packages: &[&str],
    why: &str,
) -> anyhow::Result<()> {
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

pub(crate) fn reach(host: &str) -> String {
    format!("check that {host} can be reached, then run the command again")
}

const NO_TOOLS: &str = "set HOME or XDG_CACHE_HOME: tools are installed there";

pub(crate) fn tools() -> anyhow::Result<PathBuf> {
    installed::tools().context(NO_TOOLS)
}

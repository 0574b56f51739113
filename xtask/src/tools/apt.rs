//! Packages of the distribution, where they may be installed.

use anyhow::{Context as _, bail};

use crate::program::{Program, on_path};
use crate::screen;
use crate::workspace::Workspace;

/// Installs Debian packages: as root, or by a sudo that does not ask.
///
/// # Errors
/// A sentence with the command to type when this program may not install, or when it failed.
pub(super) fn install(packages: &[&str], why: &str, workspace: &Workspace) -> anyhow::Result<()> {
    let list = packages.join(" ");
    let by_hand = format!("sudo apt-get update && sudo apt-get install -y {list}");
    if on_path("apt-get").is_none() {
        bail!("{why}: install {list} (by their names in Debian), then run the command again");
    }
    let Some(as_root) = as_root(workspace) else {
        bail!("{why}, and installing needs root: run `{by_hand}`, then the command again");
    };
    screen::step(format!(
        "Installing {list} from the distribution's packages…"
    ));
    let apt = |words: &[&str]| {
        let mut line = as_root.clone();
        line.extend(["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]);
        line.extend(words);
        Program::new(line[0], workspace).args(&line[1..]).run()
    };
    // A failed update is not yet a problem: the lists that are there may do.
    if let Err(error) = apt(&["update"]) {
        screen::bad(format!(
            "The package lists could not be refreshed: {error:#}"
        ));
    }
    let mut words = vec!["install", "-y", "--no-install-recommends"];
    words.extend(packages);
    apt(&words).with_context(|| {
        format!("{why}, and {list} could not be installed: check the network, or try `{by_hand}`")
    })
}

/// What to put in front of a command so that root runs it; `None` when nobody may.
fn as_root(workspace: &Workspace) -> Option<Vec<&'static str>> {
    let id = Program::new("id", workspace).args(["-u"]).output();
    if id.is_ok_and(|id| id.trim() == "0") {
        return Some(Vec::new());
    }
    let sudo = Program::new("sudo", workspace)
        .args(["-n", "true"])
        .output();
    sudo.is_ok().then(|| vec!["sudo", "-n"])
}

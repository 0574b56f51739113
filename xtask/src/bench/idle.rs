//! How much memory the proxy occupies while nobody asks for anything.

use std::fs;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;

use super::start::Proxy;
use crate::demo::Folder;
use crate::workspace::Workspace;

/// Long enough for its start to be over and its poller to have looked around.
const SETTLING: Duration = Duration::from_secs(3);

/// Resident KiB, as the kernel counts them. Source: proc(5), `VmRSS` of `/proc/pid/status`.
pub(super) fn measure(workspace: &Workspace, folder: &Folder) -> anyhow::Result<u64> {
    let (proxy, _) = Proxy::start(workspace, folder)?;
    thread::sleep(SETTLING);
    let path = format!("/proc/{}/status", proxy.id());
    let status = fs::read_to_string(&path)
        .with_context(|| format!("{path} cannot be read: this number needs Linux"))?;
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"))
        .and_then(|kib| kib.parse().ok())
        .with_context(|| format!("{path} has no VmRSS"))
}

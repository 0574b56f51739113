//! How long the proxy takes from its start until it answers.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail};

use crate::arguments::DemoWishes;
use crate::demo::{Folder, Ports, Secrets, answers, florin_toml};
use crate::stopwatch::Stopwatch;
use crate::workspace::Workspace;

const STARTS: usize = 10;
const PATIENCE: Duration = Duration::from_secs(10);

/// The times of ten starts, shortest first. The first finds no database and makes one; all are counted.
pub(super) fn measure(workspace: &Workspace, folder: &Folder) -> anyhow::Result<Vec<Duration>> {
    let mut times = Vec::new();
    for _ in 0..STARTS {
        let (proxy, time) = Proxy::start(workspace, folder)?;
        drop(proxy);
        times.push(time);
    }
    times.sort_unstable();
    Ok(times)
}

/// A proxy's release, running. Dropping it kills it.
pub(super) struct Proxy(Child);

impl Proxy {
    /// Starts it on free ports and waits until it serves the loader.
    pub(super) fn start(
        workspace: &Workspace,
        folder: &Folder,
    ) -> anyhow::Result<(Self, Duration)> {
        let ports = Ports::free()?;
        let wishes = DemoWishes {
            port_base: ports.proxy,
            database_url: None,
        };
        let products = workspace.products()?;
        let toml = florin_toml(ports, &Secrets::draw()?, folder, &wishes, &products);
        folder.write("florin.toml", &toml)?;
        let (log, file) = folder.log("proxy")?;
        let mut command = Command::new(workspace.release_program("florin-proxy"));
        command
            .arg("--config")
            .arg(folder.path().join("florin.toml"))
            .stdin(Stdio::null())
            .stdout(file.try_clone().context("a log cannot be shared")?)
            .stderr(file);
        let watch = Stopwatch::start();
        let mut proxy = Self(command.spawn().context("the proxy cannot be started")?);
        while !answers(ports.proxy, "/florin.js") {
            let ended = proxy.0.try_wait().context("the proxy is lost")?.is_some();
            if ended || watch.elapsed() > PATIENCE {
                let log = fs::read_to_string(log).unwrap_or_default();
                bail!("the proxy does not answer; it says: {log}");
            }
            thread::sleep(Duration::from_micros(200));
        }
        Ok((proxy, watch.elapsed()))
    }

    pub(super) fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // Both do nothing to a program that has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

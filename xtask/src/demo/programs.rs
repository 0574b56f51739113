//! The demo's three programs, from their start to their end.
//!
//! None of them outlives this program. Told to stop, it stops them; killed without a word, the kernel tells them
//! (`setpriv --pdeathsig`, where the system has it: Linux).

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;

use super::{Folder, Ports, Secrets};
use crate::program::on_path;
use crate::stopwatch::Stopwatch;
use crate::workspace::Workspace;

/// How long a program may take to end when asked; then it is killed.
const GRACE: Duration = Duration::from_secs(5);
/// How much of a log is shown when its program ended by itself.
const LAST_LINES: usize = 12;

/// All three. Dropping it stops them.
pub(crate) struct Programs(Vec<Running>);

struct Running {
    name: &'static str,
    process: Child,
    log: PathBuf,
}

/// A program that ended without being asked to.
pub(crate) struct Ended {
    pub(crate) name: &'static str,
    pub(crate) status: ExitStatus,
    pub(crate) log: PathBuf,
    pub(crate) last_lines: Vec<String>,
}

impl Programs {
    /// Starts sandbox, proxy and shop; each writes a log of its name.
    ///
    /// # Errors
    /// One cannot be started; those that were are stopped again.
    pub(crate) fn start(
        workspace: &Workspace,
        folder: &Folder,
        ports: Ports,
        secrets: &Secrets,
    ) -> anyhow::Result<Self> {
        let Ports {
            proxy,
            shop,
            sandbox,
            ..
        } = ports;
        let callbacks = format!(
            "http://127.0.0.1:{proxy}/callbacks/{}",
            secrets.callback_token
        );
        let mut programs = Self(Vec::new());
        let mut sandbox_ = program(workspace, "florin-sandbox");
        sandbox_
            .arg(format!("--listen=127.0.0.1:{sandbox}"))
            .arg(format!("--callback-url={callbacks}"))
            .arg(format!("--api-key={}", secrets.api_key))
            .arg(format!("--api-secret={}", secrets.api_secret));
        programs.add("sandbox", sandbox_, folder)?;

        let mut proxy_ = program(workspace, "florin-proxy");
        proxy_
            .arg("--config")
            .arg(folder.path().join("florin.toml"));
        programs.add("proxy", proxy_, folder)?;

        let mut shop_ = program(workspace, "florin-demo-shop");
        shop_
            .arg(format!("--listen=127.0.0.1:{shop}"))
            .arg(format!("--proxy-url=http://127.0.0.1:{proxy}"))
            .env("SHOP_SECRET_KEY", &secrets.secret_key)
            .env("SHOP_TOKEN_KEY", &secrets.token_key)
            .env("SHOP_WEBHOOK_SECRET", &secrets.webhook_secret);
        programs.add("shop", shop_, folder)?;
        Ok(programs)
    }

    fn add(
        &mut self,
        name: &'static str,
        mut command: Command,
        folder: &Folder,
    ) -> anyhow::Result<()> {
        let (log, file) = folder.log(name)?;
        let errors = file.try_clone().context("a log cannot be shared")?;
        let process = command
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(errors)
            // Ctrl-C on the terminal is for this program alone, which then ends them in order.
            .process_group(0)
            .spawn()
            .with_context(|| format!("the {name} cannot be started"))?;
        self.0.push(Running { name, process, log });
        Ok(())
    }

    /// The first program that has ended, if one has.
    pub(crate) fn ended(&mut self) -> anyhow::Result<Option<Ended>> {
        for running in &mut self.0 {
            let status = running.process.try_wait();
            let status = status.with_context(|| format!("the {} is lost", running.name))?;
            if let Some(status) = status {
                let log = fs::read_to_string(&running.log).unwrap_or_default();
                let lines: Vec<&str> = log.lines().collect();
                let last = &lines[lines.len().saturating_sub(LAST_LINES)..];
                return Ok(Some(Ended {
                    name: running.name,
                    status,
                    log: running.log.clone(),
                    last_lines: last.iter().map(|line| (*line).to_owned()).collect(),
                }));
            }
        }
        Ok(None)
    }

    /// Asks all to end, waits, and kills what did not. A second call does nothing.
    pub(crate) fn stop(&mut self) {
        for running in &mut self.0 {
            ask_to_end(&running.process);
        }
        let watch = Stopwatch::start();
        for mut running in self.0.drain(..) {
            while matches!(running.process.try_wait(), Ok(None)) && watch.elapsed() < GRACE {
                thread::sleep(Duration::from_millis(10));
            }
            // Both do nothing to a program that has ended.
            let _ = running.process.kill();
            let _ = running.process.wait();
        }
    }
}

impl Drop for Programs {
    fn drop(&mut self) {
        self.stop();
    }
}

fn program(workspace: &Workspace, name: &str) -> Command {
    let path = workspace.debug_program(name);
    let mut command = match on_path("setpriv") {
        Some(setpriv) => {
            let mut command = Command::new(setpriv);
            command.args(["--pdeathsig", "TERM", "--"]).arg(path);
            command
        }
        None => Command::new(path),
    };
    // The demo is what its own file says, whatever the user has set for a proxy of theirs.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("FLORIN_") {
            command.env_remove(name);
        }
    }
    command
}

/// Sends SIGTERM. The standard library only knows how to kill; every shell has the gentle way built in.
fn ask_to_end(process: &Child) {
    let ask = format!("kill -TERM {} 2>/dev/null", process.id());
    let _ = Command::new("sh").args(["-c", &ask]).status();
}

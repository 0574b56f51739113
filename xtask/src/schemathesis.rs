//! The check that the HTTP is as it is described: Schemathesis reads `/openapi.json` and does what a client may do, and
//! what none should.
//!
//! It talks to a proxy and a sandbox of its own, on free ports of this machine. How it looks at them stands in
//! `tests/schemathesis`.

use std::fs;
use std::thread;
use std::time::Duration;

use anyhow::{bail, ensure};

use crate::arguments::DemoWishes;
use crate::bundle::Variant;
use crate::demo::{self, Folder, Ports, Programs, Secrets, answers, florin_toml};
use crate::program::Program;
use crate::screen;
use crate::stopwatch::Stopwatch;
use crate::tools;
use crate::workspace::Workspace;

/// Where its randomness comes from: the same requests at every run.
const SEED: &str = "20261121";
/// How long it may take, in seconds.
const SECONDS: &str = "75";
/// How long the programs may take until they answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Starts everything, looks, and stops everything.
///
/// # Errors
/// An answer is not as it is described, or something could not be started; what is printed above says which.
pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<()> {
    let st = tools::schemathesis(workspace)?;
    demo::build(workspace, Variant::Release)?;
    let folder = Folder::create()?;
    let (secrets, ports) = (Secrets::draw()?, Ports::free()?);
    let wishes = DemoWishes {
        port_base: ports.proxy,
        database_url: None,
    };
    let toml = florin_toml(ports, &secrets, &folder, &wishes, &workspace.products()?);
    folder.write("florin.toml", &toml)?;
    let mut programs = Programs::start(workspace, &folder, ports, &secrets)?;
    wait(&mut programs, &folder, ports)?;

    let settings = workspace.root.join("tests/schemathesis");
    let looked = Program::new(st, workspace)
        .within(folder.path())
        .env("PYTHONPATH", &settings)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("FLORIN_SCHEMATHESIS_SECRET_KEY", &secrets.secret_key)
        .env(
            "FLORIN_SCHEMATHESIS_CALLBACK_TOKEN",
            &secrets.callback_token,
        )
        .arg_path("--config-file", &settings.join("schemathesis.toml"))
        .args(["run", "--seed", SEED, "--max-time", SECONDS])
        .args([format!("http://127.0.0.1:{}/openapi.json", ports.proxy)])
        .run();
    if let Some(ended) = programs.ended()? {
        bail!(
            "the {} ended ({}); its log is {}",
            ended.name,
            ended.status,
            ended.log.display()
        );
    }
    programs.stop();
    let log = folder.path().join("proxy.log");
    let log = fs::read_to_string(log).unwrap_or_default();
    let errors = errors(&log);
    if looked.is_err() || !errors.is_empty() {
        errors.iter().for_each(screen::bad);
        screen::bad(format!(
            "The programs' logs are in {}",
            folder.path().display()
        ));
    }
    looked?;
    ensure!(errors.is_empty(), "the proxy logged errors, see above");
    folder.remove();
    Ok(())
}

fn wait(programs: &mut Programs, folder: &Folder, ports: Ports) -> anyhow::Result<()> {
    let watch = Stopwatch::start();
    let mut waiting = ports.health();
    while !waiting.is_empty() {
        waiting.retain(|(_, port, path)| !answers(*port, path));
        let log = folder.path().display();
        if let Some(ended) = programs.ended()? {
            bail!(
                "the {} ended by itself ({}); its log is in {log}",
                ended.name,
                ended.status
            );
        }
        ensure!(
            watch.elapsed() < PATIENCE,
            "the programs do not answer; their logs are in {log}"
        );
        thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// The one line that whoever holds a store's key may write: the store should know that somebody asks for other prices.
const ALARM: &str = "a reference came again at another price";

/// Lines of a proxy's log that a person should act on: nothing else that a client sends may write one.
fn errors(log: &str) -> Vec<&str> {
    log.lines()
        .filter(|line| line.contains(r#""level":"ERROR""#) || line.contains("panicked at"))
        .filter(|line| !line.contains(ALARM))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_and_a_panic_are_found_in_a_log() {
        let log = "{\"level\":\"INFO\",\"message\":\"an ERROR\"}\n{\"level\":\"ERROR\"}\nthread 'x' panicked at y\n\
                   {\"level\":\"ERROR\",\"message\":\"a reference came again at another price\"}\n";
        assert_eq!(errors(log).len(), 2);
    }
}

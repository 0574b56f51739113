//! chromedriver, which speaks WebDriver for Chromium.

use std::env;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A running chromedriver, on a port of its own. Ended with the value.
#[derive(Debug)]
pub(super) struct Driver {
    process: Child,
    port: u16,
}

/// Starts before giving up. Each takes a free port for IPv6 and then the same one for IPv4, which a test beside it may
/// have taken meanwhile; it says so and ends.
const STARTS: usize = 5;

impl Driver {
    pub(super) fn start() -> Self {
        let mut said = String::new();
        for _ in 0..STARTS {
            match Self::try_start() {
                Ok(driver) => return driver,
                Err(last_words) => said = last_words,
            }
        }
        panic!("chromedriver does not start: {said}")
    }

    /// Starts it once; else answers what it said before it ended.
    fn try_start() -> Result<Self, String> {
        let mut command = Command::new(program("chromedriver", "chromium-driver"));
        command.arg("--port=0").stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().expect("chromedriver can be started");
        let out = process.stdout.take().expect("it is piped");
        let mut said = String::new();
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            if let Some(port) = port(&line) {
                return Ok(Self { process, port });
            }
            said.push_str(&line);
            said.push('\n');
        }
        let _ = process.kill();
        let _ = process.wait();
        Err(said)
    }

    /// Ends it. A second time does nothing.
    pub(super) fn stop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.stop();
    }
}

/// `ChromeDriver was started successfully on port 41263.`
fn port(line: &str) -> Option<u16> {
    let (_, number) = line.split_once("successfully on port ")?;
    number.trim_end_matches('.').parse().ok()
}

/// Where a program is; else how to get it.
pub(super) fn program(name: &str, package: &str) -> PathBuf {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|candidate| candidate.is_file());
    found.unwrap_or_else(|| {
        panic!("{name} is missing. Install it with: sudo apt-get install {package}")
    })
}

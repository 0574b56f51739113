//! A virtual display, for the engine that needs one.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use super::BrowserOptions;
use super::engine::program;
use super::process_tree::ProcessTree;

/// A running Xvfb, on a number that was free. Ended with the value.
#[derive(Debug)]
pub(super) struct Display {
    process: Child,
    /// `:7`, as it stands in `DISPLAY`.
    pub(super) name: String,
}

impl Display {
    /// Starts it, large enough for the window.
    pub(super) fn start(options: BrowserOptions) -> Self {
        let (width, height) = options.size;
        let mut command = Command::new(program("Xvfb", "xvfb"));
        command
            .args(["-displayfd", "1", "-nolisten", "tcp", "-screen", "0"])
            .arg(format!("{width}x{height}x24"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut process = command.spawn().expect("Xvfb can be started");
        let out = process.stdout.take().expect("it is piped");
        let mut number = String::new();
        let read = BufReader::new(out).read_line(&mut number);
        read.expect("Xvfb writes text");
        let display = Self {
            process,
            name: format!(":{}", number.trim()),
        };
        assert!(display.name.len() > 1, "Xvfb does not start");
        display
    }

    pub(super) fn process_tree(&self) -> ProcessTree {
        ProcessTree::of(self.process.id())
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        // Asked, not killed: it takes its lock and its socket away.
        let id = self.process.id().to_string();
        let _ = Command::new("kill").arg(id).status();
        let _ = self.process.wait();
    }
}

//! Output of the terminal: a line before each long step, and how it ended.

use std::fmt::Display;
use std::io::{IsTerminal as _, stdout};
use std::time::Instant;

pub(crate) fn step(text: impl Display) {
    println!("{} {text}", paint("36", "›"));
}

pub(crate) fn heading(text: &str) {
    println!("\n{}", paint("1", text));
}

pub(crate) fn passed(text: impl Display) {
    println!("{} {text}", paint("32", "✓"));
}

pub(crate) fn failed(text: impl Display) {
    println!("{} {text}", paint("31", "✗"));
}

/// Starts measuring; the result returns the time since, such as `12 s`.
#[expect(
    clippy::disallowed_methods,
    reason = "measures how long real programs take"
)]
pub(crate) fn stopwatch() -> impl Fn() -> String {
    let start = Instant::now();
    move || format!("{} s", start.elapsed().as_secs())
}

fn paint(code: &str, text: &str) -> String {
    if stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none() {
        format!("\x1b[{code}m{text}\x1b[0m")
    } else {
        text.to_owned()
    }
}

//! Output of the terminal: a line before each long step, and how it ended.

use std::fmt::Display;
use std::io::{IsTerminal as _, stdout};
use std::time::{Duration, Instant};

/// A step that may take a while.
pub fn step(text: impl Display) {
    println!("{} {text}", paint("36", "›"));
}

/// A heading above another program's output.
pub fn heading(text: impl Display) {
    println!("\n{}", bold(&text.to_string()));
}

/// A step that has ended well.
pub fn passed(text: impl Display) {
    println!("{} {text}", paint("32", "✓"));
}

/// A step that has failed.
pub fn failed(text: impl Display) {
    println!("{} {text}", paint("31", "✗"));
}

/// Emphasised, on a terminal.
pub fn bold(text: &str) -> String {
    paint("1", text)
}

/// Starts measuring; the result returns the time since.
#[expect(
    clippy::disallowed_methods,
    reason = "measures how long real programs take"
)]
pub fn stopwatch() -> impl Fn() -> Duration + Clone {
    let start = Instant::now();
    move || start.elapsed()
}

/// `2 min 5 s`, `12 s` or `87 ms`.
pub fn time(duration: Duration) -> String {
    match duration.as_secs() {
        0 => format!("{} ms", duration.as_millis()),
        seconds @ 1..60 => format!("{seconds} s"),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

fn paint(code: &str, text: &str) -> String {
    if stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none() {
        format!("\x1b[{code}m{text}\x1b[0m")
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_as_exact_as_it_is_long() {
        let times = [87, 12_345, 125_000].map(Duration::from_millis).map(time);
        assert_eq!(times, ["87 ms", "12 s", "2 min 5 s"]);
    }
}

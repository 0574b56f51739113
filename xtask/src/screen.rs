//! What the user sees: one quiet line before each long step, one sentence when something is wrong.

use std::env;
use std::fmt::Display;
use std::io::{IsTerminal as _, stdout};
use std::time::Duration;

/// A step that is about to take a while.
pub(crate) fn step(text: impl Display) {
    println!("{} {text}", paint("36", "›"));
}

/// A heading over what another program is about to print.
pub(crate) fn heading(text: impl Display) {
    println!("\n{}", paint("1", &text.to_string()));
}

/// A good end.
pub(crate) fn good(text: impl Display) {
    println!("{} {text}", paint("32", "✓"));
}

/// A bad end that is not the whole program's.
pub(crate) fn bad(text: impl Display) {
    println!("{} {text}", paint("31", "✗"));
}

/// The sentence that the program ends with when it cannot go on.
pub(crate) fn problem(text: &str) {
    eprintln!("\n{} {text}", paint("31", "✗"));
}

/// Emphasised, on a terminal.
pub(crate) fn bold(text: &str) -> String {
    paint("1", text)
}

/// Set back, on a terminal.
pub(crate) fn dim(text: &str) -> String {
    paint("2", text)
}

/// `12,345`.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `2m05s`, `12.3s` or `87ms`.
pub(crate) fn time(duration: Duration) -> String {
    let (seconds, ms) = (duration.as_secs(), duration.subsec_millis());
    match seconds {
        0 => format!("{ms}ms"),
        1..60 => format!("{seconds}.{}s", ms / 100),
        _ => format!("{}m{:02}s", seconds / 60, seconds % 60),
    }
}

fn paint(code: &str, text: &str) -> String {
    if stdout().is_terminal() && env::var_os("NO_COLOR").is_none() {
        format!("\x1b[{code}m{text}\x1b[0m")
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_grouped_by_thousands() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1000), "1,000");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }

    #[test]
    fn a_time_is_as_exact_as_it_is_long() {
        assert_eq!(time(Duration::from_millis(87)), "87ms");
        assert_eq!(time(Duration::from_millis(12_345)), "12.3s");
        assert_eq!(time(Duration::from_secs(125)), "2m05s");
    }
}

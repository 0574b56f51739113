//! Output of the commands. The macros take the place of the standard library's, which panic when a reader closes the pipe, as
//! `head` does after its lines.

use std::fmt;
use std::io::{ErrorKind, Write};

/// What a shell reports of a program that SIGPIPE has ended: 128 and the signal's number.
const CLOSED_PIPE: i32 = 141;

macro_rules! print {
    ($($text:tt)*) => {
        $crate::print::write(std::io::stdout(), format_args!($($text)*))
    };
}
macro_rules! println {
    ($($text:tt)*) => {
        $crate::print::write(std::io::stdout(), format_args!("{}\n", format_args!($($text)*)))
    };
}
macro_rules! eprint {
    ($($text:tt)*) => {
        $crate::print::write(std::io::stderr(), format_args!($($text)*))
    };
}
macro_rules! eprintln {
    ($($text:tt)*) => {
        $crate::print::write(std::io::stderr(), format_args!("{}\n", format_args!($($text)*)))
    };
}

/// Writes a text, or ends the program if nothing can be written.
pub(crate) fn write(mut stream: impl Write, text: fmt::Arguments<'_>) {
    if let Err(error) = stream.write_fmt(text) {
        let is_closed = error.kind() == ErrorKind::BrokenPipe;
        std::process::exit(if is_closed { CLOSED_PIPE } else { 1 });
    }
}

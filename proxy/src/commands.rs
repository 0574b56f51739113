//! The commands of `florin-proxy`, one a file, and their reference.

pub(crate) mod check;
pub(crate) mod database;
pub(crate) mod doctor;
pub(crate) mod gateway;
pub(crate) mod health;
pub(crate) mod init;
pub(crate) mod operator;
pub(crate) mod secrets;

use std::fmt::Write as _;

use clap::Command;
use tokio::runtime::{Builder, Runtime};

/// A runtime for a command, which waits for one thing after another.
pub(crate) fn runtime() -> std::io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// The reference below `## Commands` of docs/reference/commands.md.
pub(crate) fn reference(mut command: Command) -> String {
    command.build();
    let mut page = String::new();
    write_command(&mut page, &mut command).expect("a text takes every text");
    page.trim_start().to_owned()
}

fn write_command(page: &mut String, command: &mut Command) -> std::fmt::Result {
    let help = command.render_long_help().to_string();
    let name = command.get_bin_name().unwrap_or(command.get_name());
    writeln!(page, "\n### `{name}`\n\n```text")?;
    for line in help.trim_end().lines() {
        writeln!(page, "{}", line.trim_end())?;
    }
    writeln!(page, "```")?;
    for below in command.get_subcommands_mut() {
        if !below.is_hide_set() && below.get_name() != "help" {
            write_command(page, below)?;
        }
    }
    Ok(())
}

//! `cargo xtask`: everything a newcomer types, from the repository's root.
//!
//! Each command sets up what it needs on a fresh machine, does nothing twice, and says in one sentence what to do when
//! it cannot go on. What it never does: change anything outside the repository but the folder of installed tools, or
//! leave a process behind. Of npm and of Python's index it takes what tests look with, and nothing that is
//! shipped.

mod arguments;
mod bench;
mod budget;
mod build;
mod bundle;
mod demo;
mod pictures;
mod program;
mod schemathesis;
mod screen;
mod stopwatch;
mod test;
mod tools;
mod workspace;

use std::process::ExitCode;

use arguments::Command;
use workspace::Workspace;

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            screen::problem(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run() -> anyhow::Result<ExitCode> {
    let command = arguments::read(std::env::args().skip(1))?;
    let workspace = Workspace::find()?;
    match command {
        Command::Demo(wishes) => demo::run(&workspace, &wishes),
        Command::Test(wishes) => test::run(&workspace, &wishes),
        Command::Pictures(wishes) => pictures::run(&workspace, &wishes),
        Command::Build(variant) => build::run(&workspace, variant),
        Command::Budget(variant) => budget::run(&workspace, variant),
        Command::Package => bundle::hook::run(&workspace),
        Command::Bench => bench::run(&workspace),
        Command::Lives(wishes) => bench::lives::play(&workspace, &wishes),
        Command::Kills(wishes) => bench::kills::run(&workspace, &wishes),
        Command::Tools => {
            tools::set_up(&workspace)?;
            tools::install_for_tests(&workspace)?;
            tools::schemathesis(&workspace)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Help => {
            println!("{}", arguments::HELP);
            Ok(ExitCode::SUCCESS)
        }
    }
}

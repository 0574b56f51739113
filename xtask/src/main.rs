//! `cargo xtask`: every command of this repository, run from its root.
//!
//! Each command installs what it needs and does nothing twice. Outside the repository they change the folder of
//! installed tools, and with `apt-get` the packages of the distribution; no process outlives the command.

mod bench;
mod bundle;
mod demo;
mod docs;
mod output;
mod release;
mod setup;
mod test;
mod test_run;
mod workspace;

use std::process::ExitCode;

use crate::bench::{BenchArgs, SimulateArgs};
use crate::bundle::Variant;
use crate::demo::DemoArgs;
use crate::release::ReleaseArgs;
use crate::test::TestArgs;
use crate::workspace::Workspace;
use anyhow::Context as _;
use clap::{Args, Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", arg_required_else_help = true)]
#[command(after_help = "Each command installs what is missing.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start a sandbox, a proxy and a demo shop, and print what to try
    Demo(DemoArgs),
    /// Run every check: format, dependencies, sizes, lints, docs, tests, HTTP
    Test(TestArgs),
    /// Save every state of the checkout and the operator's pages to target/pictures, in every display and five looks
    #[command(visible_alias = "screenshots")]
    Pictures(PictureArgs),
    /// Install what the tests use: three browsers, their drivers, npm packages, Schemathesis
    Tools,
    /// Build the release: dist/ and one florin-proxy with the widget inside
    Build(BundleArgs),
    /// Pack the programs, built statically, with licences, a bill of materials and the files of deploy/
    Release(ReleaseArgs),
    /// Build the site of docs/ in target/site, with the gallery and the theme builder
    Docs,
    /// Print the widget's sizes beside the promised ones
    Budget(BundleArgs),
    /// Measure the other promised numbers, beside two other payment pages
    Bench(BenchArgs),
    /// Simulate the life of many orders, with everything failing
    Simulate(SimulateArgs),
}

#[derive(Debug, Args)]
struct PictureArgs {
    /// Only the states and pages whose name contains this text, such as paid or operator
    #[arg(long, value_name = "TEXT", default_value_t)]
    only: String,
    /// Only this look: light, dark, forced (colours), de or ar
    #[arg(long, value_name = "LOOK", default_value_t)]
    look: String,
}

#[derive(Debug, Args)]
struct BundleArgs {
    /// The widget built by stable compiler flags alone, 18 kB larger
    #[arg(long)]
    stable: bool,
}

impl BundleArgs {
    fn variant(&self) -> Variant {
        if self.stable {
            Variant::Stable
        } else {
            Variant::Release
        }
    }
}

fn main() -> ExitCode {
    let command = Cli::parse().command;
    match Workspace::find().and_then(|workspace| run(&workspace, command)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\n✗ {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(workspace: &Workspace, command: Command) -> anyhow::Result<()> {
    match command {
        Command::Demo(args) => demo::run(workspace, &args),
        Command::Test(args) => test::run(workspace, &args),
        Command::Pictures(args) => pictures(workspace, &args),
        Command::Tools => {
            setup::set_up(workspace)?;
            setup::install_for_tests(workspace)?;
            setup::schemathesis(workspace).map(drop)
        }
        Command::Build(args) => build(workspace, args.variant()),
        Command::Docs => docs::run(workspace),
        Command::Release(args) => release::run(workspace, &args),
        Command::Budget(args) => {
            setup::set_up(workspace)?;
            bundle::make(workspace, args.variant())?;
            bundle::check_sizes(workspace, args.variant())
        }
        Command::Bench(args) => bench::run(workspace, &args),
        Command::Simulate(args) => bench::simulate(workspace, &args),
    }
}

fn build(workspace: &Workspace, variant: Variant) -> anyhow::Result<()> {
    setup::set_up(workspace)?;
    bundle::make(workspace, variant)?;
    bundle::build_proxy(workspace, variant)?;
    let program = workspace.target.join("release/florin-proxy");
    let bytes = std::fs::metadata(&program)
        .context("the proxy was not built")?
        .len();
    let program = program.display();
    output::passed(format!("{program} ({bytes} bytes, with the widget inside)"));
    Ok(())
}

/// Writes `target/pictures/<place>-<look>/<state>.png`: light, dark, in forced colours, in German and in Arabic.
fn pictures(workspace: &Workspace, args: &PictureArgs) -> anyhow::Result<()> {
    setup::set_up(workspace)?;
    setup::install_for_tests(workspace)?;
    setup::install_font(workspace)?;
    bundle::make(workspace, Variant::Release)?;
    let folder = workspace.target.join("pictures");
    workspace.sh.remove_path(&folder)?;
    workspace
        .cargo("test --locked --quiet --package florin-tests --test browser -- --ignored --exact gallery::pictures_of_every_state")
        .env("FLORIN_PICTURES", &folder)
        .env("FONTCONFIG_FILE", workspace.root.join("tests/browser/fonts.conf"))
        .env("FLORIN_PICTURES_ONLY", &args.only)
        .env("FLORIN_PICTURES_LOOK", &args.look)
        .run()?;
    output::passed(format!("The pictures are in {}", folder.display()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_are_consistent() {
        <Cli as clap::CommandFactory>::command().debug_assert();
    }
}

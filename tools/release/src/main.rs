//! `florin-release`: makes the release archive, or what the container image contains.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser;
use florin_release::{Release, build, host_target, pack, write_image};

/// Builds the programs statically, and packs them with licences, a bill of materials and the files of deploy/
#[derive(Debug, Parser)]
#[command(name = "florin-release")]
struct Arguments {
    /// What to compile for [default: this machine, with musl]
    #[arg(long)]
    target: Option<String>,
    /// Pack the programs of this folder instead of compiling them
    #[arg(long, value_name = "FOLDER")]
    programs: Option<PathBuf>,
    /// Where the archive is written [default: target/archives of the repository]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Write what the image contains to this folder, and no archive
    #[arg(long, value_name = "FOLDER")]
    image: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\n✗ {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    let root = root.context("this package is two folders below the root")?;
    let target = arguments.target.unwrap_or_else(host_target);
    let programs = match arguments.programs {
        Some(programs) => programs.canonicalize()?,
        None => build(root, &target)?,
    };
    let release = Release::read(root, &programs, &target)?;
    if let Some(image) = arguments.image {
        write_image(&release, &image)?;
        println!("{}", image.display());
        return Ok(());
    }
    let out = match arguments.out {
        // The work is done in the repository's folder.
        Some(out) => std::path::absolute(out)?,
        None => root.join("target/archives"),
    };
    let archive = pack(&release, &out)?;
    println!("{}", archive.display());
    Ok(())
}

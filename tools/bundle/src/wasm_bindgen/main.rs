//! The `wasm-bindgen` command line as a program of this workspace, so that `Cargo.lock` pins it to the very version
//! that the widget is compiled with.
//!
//! With the feature `split`, a program with functions marked by `wasm_split` is split first: these go to a second module
//! before wasm-bindgen reads the program.

#[cfg(feature = "split")]
mod split;

use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("wasm-bindgen: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(feature = "split")]
fn run() -> anyhow::Result<()> {
    let mut arguments = std::env::args_os().collect();
    let split = split::Split::of(&mut arguments)?;
    wasm_bindgen_cli::wasm_bindgen::run_cli_with_args(arguments)?;
    split.map_or(Ok(()), |split| split.finish())
}

#[cfg(not(feature = "split"))]
fn run() -> anyhow::Result<()> {
    wasm_bindgen_cli::wasm_bindgen::run_cli_with_args(std::env::args_os())
}

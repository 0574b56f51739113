//! The `wasm-bindgen` command line as a program of this workspace, so that `Cargo.lock` pins it to the very version
//! that the widget is compiled with. Trunk finds it on the PATH that `cargo xtask` sets. A program with functions
//! marked for a second module is split first.

mod split;

use std::process::ExitCode;

use self::split::Split;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("wasm-bindgen: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> anyhow::Result<()> {
    let mut arguments = std::env::args_os().collect();
    let split = Split::of(&mut arguments)?;
    wasm_bindgen_cli::wasm_bindgen::run_cli_with_args(arguments)?;
    split.map_or(Ok(()), |split| split.finish())
}

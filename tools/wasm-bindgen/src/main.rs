//! The `wasm-bindgen` command line as a program of this workspace, so that `Cargo.lock` pins it to the very version
//! that the widget is compiled with. Trunk finds it on the PATH that `cargo xtask` sets.

use std::process::ExitCode;

fn main() -> ExitCode {
    match wasm_bindgen_cli::wasm_bindgen::run_cli_with_args(std::env::args_os()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("wasm-bindgen: {error:#}");
            ExitCode::FAILURE
        }
    }
}

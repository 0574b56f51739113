//! What a browser loads of a compiled program: its modules, and the glue between them and the page.
//!
//! `Cargo.lock` pins the library of wasm-bindgen's own command line to the very version that the widget is compiled with. A
//! program with functions marked by `wasm_split` is split first: these go to a second module before wasm-bindgen reads the
//! program.

use std::path::Path;

use wasm_bindgen_cli_support::Bindgen;

#[cfg(feature = "split")]
use crate::split::Split;

/// Writes `widget.js` and the modules of a program to the folder `built`.
#[cfg(feature = "split")]
pub(crate) fn bind(program: &Path, built: &Path) -> anyhow::Result<()> {
    let Some((split, first)) = Split::of(program, built)? else {
        return bindgen(program)?.generate(built);
    };
    bindgen(&first)?
        // The second module imports them by these names.
        .keep_lld_exports(true)
        .demangle(false)
        .generate(built)?;
    split.finish()
}

#[cfg(not(feature = "split"))]
pub(crate) fn bind(program: &Path, built: &Path) -> anyhow::Result<()> {
    bindgen(program)?.generate(built)
}

fn bindgen(program: &Path) -> anyhow::Result<Bindgen> {
    let mut bindgen = Bindgen::new();
    bindgen
        .web(true)?
        .out_name("widget")
        .input_path(program)
        // As the command line sets it: the glue finds the program beside itself.
        .omit_default_module_path(false);
    Ok(bindgen)
}

//! The WebAssembly module that the loader fetches: it exports what [`widget`] exports and starts nothing by itself.

// A `main` would bring what programs begin and end with, such as emptying the buffer of what they print.
#![cfg_attr(target_arch = "wasm32", no_main)]

use widget as _;

#[cfg(not(target_arch = "wasm32"))]
fn main() {}

//! The WebAssembly module that the page's script loads: it exports what [`florin_widget`] exports and starts nothing itself.

// A `main` would bring what programs begin and end with, such as emptying the buffer of what they print.
#![cfg_attr(target_arch = "wasm32", no_main)]

use florin_widget as _;

#[cfg(not(target_arch = "wasm32"))]
fn main() {}

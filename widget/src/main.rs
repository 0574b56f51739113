//! The WebAssembly module that the loader fetches: it exports what [`widget`] exports and starts nothing by itself.

use widget as _;

fn main() {}

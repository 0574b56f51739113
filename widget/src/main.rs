//! The checkout's screens: Leptos, client-side, compiled to WebAssembly.

fn main() {}

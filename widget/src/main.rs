//! The WebAssembly module that the loader fetches: it exports what [`widget`] exports and starts nothing by itself.

fn main() {
    widget::prepare();
}

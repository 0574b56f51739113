//! The window that the checkout is in, and its document.

use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::{Document, Window};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(thread_local_v2, js_name = window)]
    static WINDOW: Window;
    #[wasm_bindgen(thread_local_v2, js_name = document)]
    static DOCUMENT: Document;
}

pub(crate) fn window() -> Window {
    WINDOW.with(Window::clone)
}

pub(crate) fn document() -> Document {
    DOCUMENT.with(Document::clone)
}

//! The browser: its window, document, clocks and timers, and objects for its interfaces.

pub(crate) mod clock;
pub(crate) mod task;

use js_sys::{Math, Object, Reflect};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::{Document, VisibilityState, Window};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(thread_local_v2, js_name = window)]
    static WINDOW: Window;
    #[wasm_bindgen(thread_local_v2, js_name = document)]
    static DOCUMENT: Document;
}

/// The window that the checkout is in.
pub(crate) fn window() -> Window {
    WINDOW.with(Window::clone)
}

/// The document that the checkout is in.
pub(crate) fn document() -> Document {
    DOCUMENT.with(Document::clone)
}

/// Returns `true` while the page is in a hidden tab or a minimised window.
pub(crate) fn is_hidden() -> bool {
    document().visibility_state() == VisibilityState::Hidden
}

/// A random number, evenly spread: the middle digits of the mantissa.
pub(crate) fn random() -> u8 {
    Math::random().to_bits().to_be_bytes()[3]
}

/// Loads the page anew.
pub(crate) fn reload() {
    // Refused only to a page that may not navigate.
    let _ = window().location().reload();
}

/// A JavaScript object of texts.
pub(crate) fn object(members: &[(&str, &str)]) -> Object {
    let object = Object::new();
    for (key, value) in members {
        // A fresh, extensible object takes every member.
        let _ = Reflect::set(&object, &JsValue::from_str(key), &JsValue::from_str(value));
    }
    object
}

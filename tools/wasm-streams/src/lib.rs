//! Stands in for the crate `wasm-streams`, of which leptos' `server_fn` names one type.
//!
//! The real crate exports three classes to JavaScript, and exports are linked whether they are used or not. The widget
//! calls no server function, so nothing here is ever called. `[patch.crates-io]` in the workspace's Cargo.toml puts this
//! crate in the real one's place; docs/adr/0016-the-widget-is-leptos.md has the figure.

#![cfg(target_arch = "wasm32")]

use futures_util::stream::{self, Stream};
use wasm_bindgen::JsValue;

/// The browser's own type, by the path under which `server_fn` finds it.
pub mod readable {
    /// Bindings of the browser.
    pub mod sys {
        pub use web_sys::ReadableStream;
    }
}

/// A stream of the browser.
#[derive(Debug)]
pub struct ReadableStream(web_sys::ReadableStream);

impl ReadableStream {
    /// Wraps the browser's stream.
    pub fn from_raw(raw: web_sys::ReadableStream) -> Self {
        Self(raw)
    }

    /// The browser's stream.
    pub fn into_raw(self) -> web_sys::ReadableStream {
        self.0
    }

    /// Never called: only a server function sends a stream.
    pub fn from_stream(_: impl Stream<Item = Result<JsValue, JsValue>> + 'static) -> Self {
        unreachable!("the widget calls no server function")
    }

    /// Never called: only a server function receives a stream.
    pub fn into_stream(self) -> impl Stream<Item = Result<JsValue, JsValue>> {
        stream::empty()
    }
}

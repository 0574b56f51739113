//! The browser: its window, document, clocks and timers, and objects for its interfaces.

use core::future::Future;
use core::pin::Pin;

use js_sys::{Date, Math, Object, Reflect};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::spawn_local;
use web_sys::{Document, VisibilityState, Window};

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

/// Returns `true` while the page is in a hidden tab or a minimised window.
pub(crate) fn is_hidden() -> bool {
    document().visibility_state() == VisibilityState::Hidden
}

/// A random number, evenly spread: the middle digits of the mantissa.
pub(crate) fn random() -> u8 {
    Math::random().to_bits().to_be_bytes()[3]
}

pub(crate) fn reload() {
    // Refused only to a page that may not navigate.
    let _ = window().location().reload();
}

pub(crate) fn object(members: &[(&str, &str)]) -> Object {
    let object = Object::new();
    for (key, value) in members {
        insert(&object, key, &JsValue::from_str(value));
    }
    object
}

pub(crate) fn insert(object: &Object, name: &str, value: &JsValue) {
    // A fresh, extensible object takes every member.
    let _ = Reflect::set(object, &JsValue::from_str(name), value);
}

/// The monotonic clock.
pub(crate) fn now_ms() -> u64 {
    milliseconds(window().performance().map_or(0.0, |clock| clock.now()))
}

/// How far the wall clock is ahead of the monotonic one.
pub(crate) fn drift_ms() -> u64 {
    milliseconds(Date::now()).saturating_sub(now_ms())
}

fn milliseconds(time: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float becomes an integer by losing fractions of a millisecond; the cast saturates"
    )]
    let whole = time as u64;
    whole
}

/// Runs `work` until it ends.
pub(crate) fn spawn(work: impl Future<Output = ()> + 'static) {
    // Boxed: the machinery of tasks is compiled once and not once for each future.
    let work: Pin<Box<dyn Future<Output = ()>>> = Box::pin(work);
    spawn_local(work);
}

/// Runs `work` after a pause, once the current task has ended.
pub(crate) fn later(pause_ms: i32, work: impl FnOnce() + 'static) {
    let work: Box<dyn FnOnce()> = Box::new(work);
    let work = Closure::once_into_js(work);
    let _ = window()
        .set_timeout_with_callback_and_timeout_and_arguments_0(work.unchecked_ref(), pause_ms);
}

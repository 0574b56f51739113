//! Work beside the screens: futures and timers.

use core::future::Future;
use core::pin::Pin;

use js_sys::Promise;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};

use crate::browser::window;

/// Runs `work` until it ends.
pub(crate) fn spawn(work: impl Future<Output = ()> + 'static) {
    // Boxed: the machinery of tasks is compiled once and not once for each future.
    let work: Pin<Box<dyn Future<Output = ()>>> = Box::pin(work);
    spawn_local(work);
}

/// Passes the result of a promise to `done`.
pub(crate) fn when(promise: Promise, done: impl FnOnce(Result<JsValue, JsValue>) + 'static) {
    let done: Box<dyn FnOnce(Result<JsValue, JsValue>)> = Box::new(done);
    spawn(async move { done(JsFuture::from(promise).await) });
}

/// Runs `work` after a pause, once the current task has ended.
pub(crate) fn later(pause_ms: i32, work: impl FnOnce() + 'static) {
    let work: Box<dyn FnOnce()> = Box::new(work);
    let work = Closure::once_into_js(work);
    let _ = window()
        .set_timeout_with_callback_and_timeout_and_arguments_0(work.unchecked_ref(), pause_ms);
}

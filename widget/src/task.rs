//! Work that goes on beside the screens.

use core::future::Future;
use core::pin::Pin;

use js_sys::Promise;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};

use crate::browser::window;

/// Runs `work` until it ends. Boxed, so that the machinery of tasks exists once and not once for each kind of work.
pub(crate) fn spawn(work: impl Future<Output = ()> + 'static) {
    let work: Pin<Box<dyn Future<Output = ()>>> = Box::pin(work);
    spawn_local(work);
}

/// Does `done` with what a promise brings.
pub(crate) fn when(promise: Promise, done: impl FnOnce(Result<JsValue, JsValue>) + 'static) {
    let done: Box<dyn FnOnce(Result<JsValue, JsValue>)> = Box::new(done);
    spawn(async move { done(JsFuture::from(promise).await) });
}

/// Does `work` after a pause, once what is at work now has ended. Boxed for the same reason.
pub(crate) fn later(pause_ms: i32, work: impl FnOnce() + 'static) {
    later_of(pause_ms, Box::new(work));
}

fn later_of(pause_ms: i32, work: Box<dyn FnOnce()>) {
    let work = Closure::once_into_js(work);
    let _ = window()
        .set_timeout_with_callback_and_timeout_and_arguments_0(work.unchecked_ref(), pause_ms);
}

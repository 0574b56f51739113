//! Work that goes on beside the screens.

use core::future::Future;
use core::pin::Pin;
use core::time::Duration;

use leptos::prelude::set_timeout;
use wasm_bindgen_futures::spawn_local;

/// Runs `work` until it ends. Boxed, so that the machinery of tasks exists once and not once for each kind of work.
pub(crate) fn spawn(work: impl Future<Output = ()> + 'static) {
    let work: Pin<Box<dyn Future<Output = ()>>> = Box::pin(work);
    spawn_local(work);
}

/// Does `work` after a pause. Boxed for the same reason.
pub(crate) fn later(pause: Duration, work: impl FnOnce() + 'static) {
    let work: Box<dyn FnOnce()> = Box::new(work);
    set_timeout(work, pause);
}

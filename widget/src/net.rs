//! Requests, the event stream, and polling: what the page exchanges with the proxy.

pub mod backoff;
pub mod event_stream;

#[cfg(target_arch = "wasm32")]
mod polling;
#[cfg(target_arch = "wasm32")]
mod requests;

#[cfg(target_arch = "wasm32")]
pub(crate) use polling::Polling;

//! The stream of the order's events.

use std::rc::Rc;
use std::sync::Arc;

use florin_checkout_api::{OrderView, Status};
use js_sys::{Reflect, Uint8Array};
use leptos::prelude::WithUntracked as _;
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, ReadableStreamDefaultReader};

use super::Polling;
use crate::browser::{now_ms, spawn};
use crate::from_js::from_json;
use crate::net::event_stream::EventStream;

/// Pause before a stream that ended or was refused is opened again.
const STREAM_PAUSE_MS: u64 = 30_000;
/// Longest silence of a stream that works: it has a heartbeat every 15 seconds.
const SILENT_MS: u64 = 20_000;

impl Polling {
    /// Returns `true` if the stream brought something recently. A stream that a server in between buffers is open and silent.
    pub(super) fn events_arrive(&self) -> bool {
        let active = self.stream_active_ms.get();
        self.stream.borrow().is_some() && active > 0 && now_ms() < active + SILENT_MS
    }

    /// Returns `true` if a stream may be opened now: not before there is an attempt, which alone makes an order change.
    pub(super) fn may_listen(&self) -> bool {
        let is_open = |order: &Option<Arc<OrderView>>| {
            let order = order.as_ref();
            order.is_none_or(|order| order.status == Status::Open)
        };
        self.stream.borrow().is_none()
            && now_ms() >= self.stream_from_ms.get()
            && self.checkout().is_some_and(|checkout| {
                !checkout.is_at_rest() && !checkout.order.with_untracked(is_open)
            })
    }

    /// Reads the order's events until they end; polling continues either way.
    pub(super) fn listen(&self) {
        let (Ok(controller), Some(polling)) = (AbortController::new(), self.this.upgrade()) else {
            return;
        };
        *self.stream.borrow_mut() = Some(controller.clone());
        self.stream_active_ms.set(0);
        spawn(async move {
            let (requests, signal) = (Rc::clone(&polling.requests), controller.signal());
            let place = JsFuture::from(requests.may_stream(&signal)).await;
            if place.is_ok_and(|place| place.is_truthy())
                && let Some(reader) = requests.events(&signal).await
            {
                polling.read_events(&reader).await;
            }
            polling.on_stream_end(&controller);
        });
    }

    async fn read_events(&self, reader: &ReadableStreamDefaultReader) {
        let mut stream = EventStream::default();
        while let Ok(piece) = JsFuture::from(reader.read()).await {
            if self.on_piece(&piece, &mut stream).is_none() {
                return;
            }
        }
    }

    /// Shows what a piece of a stream brings; `None` at its end.
    fn on_piece(&self, piece: &JsValue, stream: &mut EventStream) -> Option<()> {
        let bytes = Reflect::get(piece, &JsValue::from_str("value")).ok()?;
        let bytes: Uint8Array = bytes.dyn_into().ok()?;
        self.stream_active_ms.set(now_ms());
        for data in stream.push(&bytes.to_vec()).ok()? {
            self.checkout()?.update(from_json(&data).ok()?);
        }
        Some(())
    }

    /// A stream has ended. Another may have begun since then.
    fn on_stream_end(&self, controller: &AbortController) {
        let is_current = self.stream.borrow().as_ref() == Some(controller);
        if is_current {
            self.close_stream();
            self.stream_from_ms.set(now_ms() + STREAM_PAUSE_MS);
            self.schedule();
        }
    }

    pub(super) fn close_stream(&self) {
        if let Some(controller) = self.stream.take() {
            controller.abort();
        }
    }
}

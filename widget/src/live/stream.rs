//! The stream of the order's events, which is merely faster than asking.

use std::rc::Rc;

use js_sys::{Reflect, Uint8Array};
use wasm_bindgen::{JsCast as _, JsValue};
use web_sys::{AbortController, ReadableStreamDefaultReader};

use super::Live;
use super::clock::now_ms;
use super::wake::is_hidden;
use crate::api::read;
use crate::event_stream::EventStream;
use crate::task::when;

/// A stream that ended, or was refused, is not asked for again before.
const STREAM_PAUSE_MS: u64 = 30_000;
/// A stream that is silent for longer is not relied upon: it has a heartbeat every 15 seconds.
const SILENT_MS: u64 = 20_000;

impl Live {
    /// Whether the stream has been heard of late. One that a server in between holds back looks open and says nothing.
    pub(super) fn events_arrive(&self) -> bool {
        let heard = self.stream_heard_ms.get();
        self.stream.borrow().is_some() && heard > 0 && now_ms() < heard + SILENT_MS
    }

    pub(super) fn may_listen(&self) -> bool {
        self.stream.borrow().is_none() && now_ms() >= self.stream_from_ms.get() && !is_hidden()
    }

    /// Listens to the order's events until they end; asking goes on either way.
    pub(super) fn listen(self: &Rc<Self>) {
        let parts = self.checkout.get().and_then(|checkout| checkout.parts());
        let (Ok(controller), Some(parts)) = (AbortController::new(), parts) else {
            return;
        };
        *self.stream.borrow_mut() = Some(controller.clone());
        self.stream_heard_ms.set(0);
        let live = Rc::clone(self);
        let signal = controller.signal();
        parts.api.events(&signal, move |reader| match reader {
            Some(reader) => live.hear(controller, reader, EventStream::default()),
            None => live.unheard(&controller),
        });
    }

    /// Waits for the next piece of a stream, and for those after it.
    fn hear(
        self: Rc<Self>,
        controller: AbortController,
        reader: ReadableStreamDefaultReader,
        mut stream: EventStream,
    ) {
        when(reader.read(), move |piece| {
            if self.take(piece, &mut stream).is_some() {
                self.hear(controller, reader, stream);
            } else {
                self.unheard(&controller);
            }
        });
    }

    /// Shows what a piece of a stream brings; `None` at its end.
    fn take(&self, piece: Result<JsValue, JsValue>, stream: &mut EventStream) -> Option<()> {
        let bytes = Reflect::get(&piece.ok()?, &JsValue::from_str("value")).ok()?;
        let bytes: Uint8Array = bytes.dyn_into().ok()?;
        self.stream_heard_ms.set(now_ms());
        for data in stream.push(&bytes.to_vec()).ok()? {
            let checkout = self.checkout.get()?;
            checkout.parts()?;
            checkout.update(read(&data).ok()?);
        }
        Some(())
    }

    /// A stream has ended. Another may have begun since then.
    fn unheard(&self, controller: &AbortController) {
        let is_mine = self.stream.borrow().as_ref() == Some(controller);
        if is_mine {
            self.hush();
            self.stream_from_ms.set(now_ms() + STREAM_PAUSE_MS);
            self.schedule();
        }
    }

    /// Ends the stream of the order's events.
    pub(crate) fn hush(&self) {
        if let Some(controller) = self.stream.take() {
            controller.abort();
        }
    }
}

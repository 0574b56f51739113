//! The events that wake a page up.

use web_sys::EventTarget;

use crate::browser::{document, window};

/// A page without a network polls as well: the failures show at once that it is offline, long before a silent stream
/// would.
const WAKE_EVENTS: [&str; 5] = ["focus", "offline", "online", "pageshow", "visibilitychange"];

/// The targets of these events, each with its event.
pub(super) fn wake_targets() -> impl Iterator<Item = (EventTarget, &'static str)> {
    WAKE_EVENTS.into_iter().map(|event| {
        // `visibilitychange` is the document's and rises no further in older browsers.
        let target: EventTarget = if event == "visibilitychange" {
            document().into()
        } else {
            window().into()
        };
        (target, event)
    })
}

//! What wakes a page up.

use web_sys::{EventTarget, VisibilityState};

use crate::browser::{document, window};

/// What a page wakes up by, on the window. Without a network it asks as well: the failures tell the customer at once,
/// long before a stream that has gone quiet would.
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

/// Whether nobody looks at the page.
pub(super) fn is_hidden() -> bool {
    document().visibility_state() == VisibilityState::Hidden
}

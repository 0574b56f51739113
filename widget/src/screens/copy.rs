//! A button that copies a text and says so in its own place, without changing its width.

use js_sys::Promise;
use reactive_graph::prelude::*;
use reactive_graph::signal::RwSignal;
use wasm_bindgen::{JsCast as _, JsValue};
use web_sys::{Clipboard, Element, Node};

use crate::browser::window;
use crate::checkout::Checkout;
use crate::markup::tag;
use crate::task::{later, when};

/// How long the button says that it has copied.
const COPIED_FOR_MS: i32 = 2_000;

/// What a button copies.
pub(super) struct ToCopy {
    /// The button's id, under which a test finds it too.
    pub(super) test: &'static str,
    /// Where the text is shown, as a selector: selected when the clipboard is out of reach.
    pub(super) place: &'static str,
    /// The text, exactly.
    pub(super) value: String,
    /// What the button says.
    pub(super) words: String,
    /// The same for who does not see where it stands; begins with `words`. Empty where they say it all.
    pub(super) label: String,
}

/// A button that copies; where it may not, the text is selected and a sentence beside it says so.
pub(super) fn button(checkout: Checkout, copy: ToCopy) -> Node {
    let ToCopy {
        test,
        place,
        value,
        words,
        label,
    } = copy;
    let (copied, refused) = (RwSignal::new(false), RwSignal::new(false));
    let act = move || {
        let done = move |is_copied: bool| {
            let _ = refused.try_set(!is_copied);
            let _ = copied.try_set(is_copied);
            checkout.say(checkout.word(if is_copied { "copied" } else { "selected" }));
            if is_copied {
                later(COPIED_FOR_MS, move || {
                    let _ = copied.try_set(false);
                });
            } else {
                select(checkout, place);
            }
        };
        match write(&value) {
            Some(written) => when(written, move |answer| done(answer.is_ok())),
            None => done(false),
        }
    };
    let button = tag("button", "secondary copy")
        .attr("type", "button")
        .attr("id", test)
        .test(test)
        .flag("data-copied", copied)
        .flag("data-refused", refused)
        .with(tag("span", "").text(words))
        .with(tag("span", "").text(checkout.word("copied")))
        .on_click(act);
    let button = if label.is_empty() {
        button
    } else {
        button.attr("aria-label", label)
    };
    // Shown by the style sheet once it was refused. Heard already, by what is said.
    let hint = tag("p", "quiet")
        .attr("aria-hidden", "true")
        .text(checkout.word("selected"));
    tag("div", "live").with(button).with(hint).into()
}

/// Gives a text to the clipboard. Pages without TLS have none, and a frame may be denied it.
fn write(value: &str) -> Option<Promise> {
    let navigator = window().navigator();
    let clipboard = js_sys::Reflect::get(&navigator, &JsValue::from_str("clipboard"));
    let clipboard = clipboard.ok().filter(JsValue::is_object)?;
    let clipboard: Clipboard = clipboard.unchecked_into();
    Some(clipboard.write_text(value))
}

fn select(checkout: Checkout, place: &str) {
    let place = checkout.parts().and_then(|parts| find(&parts.root, place));
    let selection = window().get_selection().ok().flatten();
    if let (Some(place), Some(selection)) = (place, selection) {
        let _ = selection.select_all_children(&place);
    }
}

fn find(root: &Element, selector: &str) -> Option<Element> {
    root.query_selector(selector).ok().flatten()
}

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

/// Where the text to copy is shown, by class: selected when the clipboard is out of reach.
#[derive(Clone, Copy)]
pub(super) enum Shown {
    Address,
    Amount,
    Reference,
    Transaction,
}

/// A button that copies `value`. `label` names what it is, for who does not see where it stands.
pub(super) fn button(checkout: Checkout, shown: Shown, value: String, label: String) -> Node {
    let (test, place) = match shown {
        Shown::Address => ("copy-address", ".address"),
        Shown::Amount => ("copy-amount", ".number"),
        Shown::Reference => ("copy-reference", ".id"),
        Shown::Transaction => ("copy-transaction", ".hash"),
    };
    let copied = RwSignal::new(false);
    let copy = move || {
        let done = move |is_copied| {
            if is_copied {
                let _ = copied.try_set(true);
                checkout.say(checkout.word("copied"));
                later(COPIED_FOR_MS, move || {
                    let _ = copied.try_set(false);
                });
            } else {
                select(checkout, place);
                checkout.say(checkout.word("selected"));
            }
        };
        match write(&value) {
            Some(written) => when(written, move |answer| done(answer.is_ok())),
            None => done(false),
        }
    };
    tag("button", "secondary copy")
        .attr("type", "button")
        .attr("aria-label", label)
        .test(test)
        .live_attr("data-copied", move || copied.get().then(String::new))
        .with(tag("span", "").text(checkout.word("copy")))
        .with(tag("span", "").text(checkout.word("copied")))
        .on_click(copy)
        .into()
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

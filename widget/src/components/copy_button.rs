//! A button that copies a text and says so in its own place, without changing its width.

use js_sys::{Promise, Reflect};
use leptos::prelude::*;
use wasm_bindgen::{JsCast as _, JsValue};
use web_sys::Clipboard;

use super::{Drawing, TICK};
use crate::browser::task::{later, when};
use crate::browser::window;
use crate::i18n::use_i18n;
use crate::state::{Checkout, use_checkout};

/// Two sheets of paper.
const SHEETS: &str = "M16 1H4a2 2 0 0 0-2 2v13h2V3h12zm3 4H8a2 2 0 0 0-2 2v14a2 2 0 0 0 2 2h11a2 2 0 0 0 2-2V7a2 2 0 0 0-2-2m0 16H8V7h11z";

/// How long the button says that it has copied.
const COPIED_FOR_MS: i32 = 2_000;

/// A button that copies. Where it may not, the text is selected, and a sentence beside it says so.
#[component]
pub(crate) fn CopyButton(
    /// The button's id and its test's name.
    id: &'static str,
    /// Where the text is shown, as a selector: selected when the clipboard is out of reach.
    place: &'static str,
    /// The text, exactly.
    value: String,
    /// What the button says; an icon without it.
    #[prop(optional)]
    text: String,
    /// The same with its context, for a screen reader; begins with `text`.
    #[prop(optional_no_strip)]
    label: Option<String>,
) -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let (is_copied, is_refused) = (RwSignal::new(false), RwSignal::new(false));
    let copy = move |_| {
        let done = move |succeeded: bool| {
            let _ = is_refused.try_set(!succeeded);
            let _ = is_copied.try_set(succeeded);
            checkout.announce(i18n.text(if succeeded { "copied" } else { "selected" }));
            if succeeded {
                later(COPIED_FOR_MS, move || {
                    let _ = is_copied.try_set(false);
                });
            } else {
                select(checkout, place);
            }
        };
        match write(&value) {
            Some(written) => when(written, move |result| done(result.is_ok())),
            None => done(false),
        }
    };
    let is_icon = text.is_empty();
    let faces = if is_icon {
        [SHEETS, TICK]
            .map(|path| view! { <Drawing view_box="0 0 24 24" path=path /> }.into_any())
            .map(|icon| view! { <span>{icon}</span> }.into_any())
    } else {
        [text, i18n.text("copied")].map(|text| view! { <span>{text}</span> }.into_any())
    };
    view! {
        <div class="live">
            <button
                type="button"
                class=if is_icon { "secondary copy icon" } else { "secondary copy" }
                part="button secondary"
                id=id
                data-testid=id
                data-copied=move || is_copied.get().then_some("true")
                data-refused=move || is_refused.get().then_some("true")
                aria-label=label
                on:click=copy
            >
                {faces.into_iter().collect_view()}
            </button>
            // The style sheet shows it after a refusal. It is announced as well.
            <p class="quiet" aria-hidden="true">
                {i18n.text("selected")}
            </p>
        </div>
    }
}

/// Writes to the clipboard. Pages without TLS have none, and a frame may be denied it.
fn write(value: &str) -> Option<Promise> {
    let navigator = window().navigator();
    let clipboard = Reflect::get(&navigator, &JsValue::from_str("clipboard"));
    let clipboard = clipboard.ok().filter(JsValue::is_object)?;
    let clipboard: Clipboard = clipboard.unchecked_into();
    Some(clipboard.write_text(value))
}

fn select(checkout: Checkout, place: &str) {
    let place = checkout
        .shared()
        .and_then(|shared| shared.root.query_selector(place).ok().flatten());
    let selection = window().get_selection().ok().flatten();
    if let (Some(place), Some(selection)) = (place, selection) {
        let _ = selection.select_all_children(&place);
    }
}

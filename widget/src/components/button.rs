//! Buttons.

use js_sys::{Promise, Reflect};
use leptos::prelude::*;
use wasm_bindgen::{JsCast as _, JsValue};
use web_sys::Clipboard;

use super::{Drawing, TICK};
use crate::browser::{later, when, window};
use crate::i18n::use_i18n;
use crate::state::{Checkout, use_checkout};

#[derive(Clone, Copy)]
pub(crate) enum Look {
    /// The one action that the screen is for.
    Primary,
    Secondary,
    /// A text without a border.
    Plain,
}

impl Look {
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Secondary => "secondary",
            Self::Plain => "plain",
        }
    }

    pub(crate) fn part(self) -> &'static str {
        match self {
            Self::Primary => "button primary",
            Self::Secondary => "button secondary",
            Self::Plain => "button plain",
        }
    }
}

pub(crate) struct Press(Box<dyn Fn()>);

impl<F: Fn() + 'static> From<F> for Press {
    fn from(act: F) -> Self {
        Self(Box::new(act))
    }
}

impl Press {
    pub(crate) fn press(&self) {
        self.0();
    }
}

/// A button. `waits`: shown as disabled while a request is under way.
#[component]
pub(crate) fn Button(
    look: Look,
    #[prop(into)] text: String,
    #[prop(into)] on_press: Press,
    #[prop(optional_no_strip)] test_id: Option<&'static str>,
    #[prop(optional)] waits: bool,
) -> impl IntoView {
    let checkout = use_checkout();
    view! {
        <button
            type="button"
            class=look.class()
            part=look.part()
            data-testid=test_id
            aria-disabled=move || (waits && checkout.is_busy.get()).then_some("true")
            on:click=move |_| on_press.press()
        >
            {text}
        </button>
    }
}

/// Opens another attempt in the same asset at today's price.
#[component]
pub(crate) fn NewPriceButton(crypto_code: String) -> impl IntoView {
    let checkout = use_checkout();
    view! {
        <Button
            look=Look::Primary
            text=use_i18n().text("new_price")
            on_press=move || checkout.renew(crypto_code.clone())
            test_id=Some("new-quote")
            waits=true
        />
    }
}

#[component]
pub(crate) fn OtherAssetButton(
    look: Look,
    #[prop(default = "other_asset")] key: &'static str,
    #[prop(optional)] test_id: Option<&'static str>,
) -> impl IntoView {
    let checkout = use_checkout();
    view! {
        <Button
            look=look
            text=use_i18n().text(key)
            on_press=move || checkout.choose_again()
            test_id=test_id
        />
    }
}

const SHEETS: &str = "M16 1H4a2 2 0 0 0-2 2v13h2V3h12zm3 4H8a2 2 0 0 0-2 2v14a2 2 0 0 0 2 2h11a2 2 0 0 0 2-2V7a2 2 0 0 0-2-2m0 16H8V7h11z";

const COPIED_FOR_MS: i32 = 2_000;

/// A button that copies. Where it may not, the text is selected, and a sentence beside it says so.
#[component]
pub(crate) fn CopyButton(
    /// The button's id and its test's name.
    id: &'static str,
    /// Where the text is shown, as a selector: selected when the clipboard is out of reach.
    place: &'static str,
    value: String,
    /// What the button says; an icon without it.
    #[prop(optional)]
    text: String,
    /// `text` with its context, for a screen reader.
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

//! Buttons.

use leptos::html::Div;
use leptos::prelude::*;

use crate::browser::object;
use crate::i18n::use_i18n;
use crate::state::use_checkout;

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
pub(crate) fn NewPriceButton(
    crypto_code: String,
    #[prop(default = "new_price")] key: &'static str,
) -> impl IntoView {
    let checkout = use_checkout();
    view! {
        <Button
            look=Look::Primary
            text=use_i18n().text(key)
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

/// A button that copies, which the page's script draws.
#[component]
pub(crate) fn CopyButton(
    /// The button's id and its test's name.
    id: &'static str,
    /// Where the value is shown, as a selector.
    place: &'static str,
    value: String,
    /// What the button says; an icon without it.
    #[prop(optional)]
    text: String,
    /// `text` with its context, for a screen reader.
    #[prop(optional)]
    label: String,
) -> impl IntoView {
    let checkout = use_checkout();
    let at = NodeRef::<Div>::new();
    at.on_load(move |at| {
        let parts = [
            ("id", id),
            ("place", place),
            ("value", &value),
            ("face", &text),
            ("label", &label),
        ];
        if let Some(shared) = checkout.shared() {
            shared.host.copy_button(&at, &object(&parts));
        }
    });
    view! { <div class="live" node_ref=at></div> }
}

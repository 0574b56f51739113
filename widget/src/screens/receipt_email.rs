//! Where the customer wants the receipt.

use florin_checkout_api::looks_like_email;
use leptos::html::Input;
use leptos::prelude::*;

use crate::components::{Button, Look, Press, focus};
use crate::i18n::use_i18n;
use crate::state::Checkout;

/// The field of an email address, and whether it holds anything else.
#[derive(Clone, Copy)]
pub(super) struct Email {
    field: NodeRef<Input>,
    is_wrong: RwSignal<bool>,
}

impl Email {
    pub(super) fn new() -> Self {
        Self {
            field: NodeRef::new(),
            is_wrong: RwSignal::new(false),
        }
    }

    /// What was typed.
    pub(super) fn typed(self) -> String {
        let field = self.field.get_untracked();
        field.map_or_else(String::new, |field| field.value().trim().to_owned())
    }

    /// Reports below the field that it holds no address.
    pub(super) fn reject(self, checkout: Checkout) {
        self.is_wrong.set(true);
        checkout.announce(checkout.i18n.text("email_wrong"));
        focus(checkout, String::from("#email"));
    }
}

/// Returns `true` if the proxy takes a text: an address, or none.
pub(super) fn is_none_or_email(text: &str) -> bool {
    text.is_empty() || looks_like_email(text)
}

/// The field with its label, what is wrong with it, and a button beside it. `kept`: the address that was kept last;
/// empty for none.
#[component]
pub(super) fn EmailField(
    email: Email,
    #[prop(optional)] kept: RwSignal<String>,
    #[prop(optional)] on_change: Option<Press>,
    #[prop(optional_no_strip)] button: Option<AnyView>,
) -> impl IntoView {
    let i18n = use_i18n();
    let Email { field, is_wrong } = email;
    let change = move |_| {
        if let Some(on_change) = &on_change {
            on_change.press();
        }
    };
    let saved = move || {
        let kept = kept.get();
        (!kept.is_empty()).then(|| view! { <Saved email=&kept /> })
    };
    view! {
        <div class="email">
            <label for="email">{i18n.text("email")}</label>
            <div class="line">
                <input
                    part="input"
                    type="email"
                    id="email"
                    autocomplete="email"
                    maxlength="254"
                    dir="ltr"
                    aria-describedby="email-wrong"
                    aria-invalid=move || is_wrong.get().then_some("true")
                    data-testid="email"
                    node_ref=field
                    on:input=move |_| is_wrong.set(false)
                    on:change=change
                />
                {button}
            </div>
            {saved}
            <div class="bad" id="email-wrong" data-testid="email-wrong">
                {move || is_wrong.get().then(|| view! { <p>{i18n.text("email_wrong")}</p> })}
            </div>
        </div>
    }
}

/// In place of the field: that an address is kept, and a button to name another.
#[component]
pub(super) fn KeptEmail(on_change: Press) -> impl IntoView {
    let i18n = use_i18n();
    view! {
        <div class="email" data-testid="email-kept">
            <p class="quiet">{i18n.text("email_kept")}</p>
            <Button
                look=Look::Plain
                text=i18n.text("email_change")
                on_press=on_change
                test_id=Some("email-change")
            />
        </div>
    }
}

/// Which address was kept.
#[component]
pub(super) fn Saved<'a>(email: &'a str) -> impl IntoView + use<> {
    let text = use_i18n().text_with("email_saved", &[("email", email)]);
    view! {
        <p class="quiet saved" tabindex="-1" data-testid="email-saved">
            {text}
        </p>
    }
}

//! Headings and sentences.

use leptos::attr::custom::custom_attribute;
use leptos::prelude::*;

use crate::i18n::{template::around, use_i18n};
use crate::state::use_checkout;

/// The heading of a screen: it takes the focus when the screen appears. On a page without an order, whose title is the
/// first heading elsewhere, it is the first.
#[component]
pub(crate) fn Heading(#[prop(into)] text: String) -> impl IntoView {
    let checkout = use_checkout();
    let is_first = checkout.is_page() && !checkout.has_screen();
    let level = custom_attribute("aria-level", is_first.then_some("1"));
    view! {
        <h2 tabindex="-1" part="heading" {..level}>
            {text}
        </h2>
    }
}

/// A sentence with an element in its one gap beside that of `{network}`, so that the language around it never reorders an
/// amount.
#[component]
pub(crate) fn Sentence<'a>(
    key: &'static str,
    #[prop(optional)] network: &'a str,
    children: Children,
) -> impl IntoView + use<> {
    let whole = use_i18n().text_with(key, &[("network", network)]);
    let (before, after) = around(&whole);
    view! { <p>{before.to_owned()}{children()}{after.to_owned()}</p> }
}

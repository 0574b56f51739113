//! Amounts and addresses: written from left to right in every language.

use leptos::prelude::*;

/// An amount, an address or a hash.
#[component]
pub(crate) fn Ltr(
    #[prop(into)] text: String,
    #[prop(optional)] class: Option<&'static str>,
    #[prop(optional)] test_id: Option<&'static str>,
) -> impl IntoView {
    view! {
        <bdi dir="ltr" class=class data-testid=test_id>
            {text}
        </bdi>
    }
}

/// `0.00030973 BTC`
pub(crate) fn coins(amount: &str, asset: &str) -> String {
    format!("{amount}\u{a0}{asset}")
}

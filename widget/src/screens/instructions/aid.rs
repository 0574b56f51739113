//! What several parts of the instructions share: help that opens in its place, the amount due, the names in sentences.

use florin_checkout_api::AttemptView;
use leptos::prelude::*;

use crate::components::Press;
use crate::i18n::use_i18n;
use crate::state::phase::is_partly_paid;

/// Help that opens in its place.
#[component]
pub(super) fn Aid(
    /// Its class, its test's name, and the key of its summary.
    name: &'static str,
    #[prop(optional)] on_toggle: Option<Press>,
    children: Children,
) -> impl IntoView {
    let toggle = move |_| {
        if let Some(on_toggle) = &on_toggle {
            on_toggle.press();
        }
    };
    view! {
        <details class=format!("aid {name}") data-testid=format!("{name}-aid")>
            <summary data-testid=name on:click=toggle>
                {use_i18n().text(name)}
            </summary>
            {children()}
        </details>
    }
}

/// What is to be sent: all of it, or the rest.
pub(super) fn due(attempt: &AttemptView) -> &str {
    if is_partly_paid(attempt) {
        attempt.remaining_in_crypto.as_str()
    } else {
        attempt.amount_in_crypto.as_str()
    }
}

/// The two gaps of many sentences.
pub(super) fn names(attempt: &AttemptView) -> [(&'static str, &str); 2] {
    [
        ("asset", attempt.asset.as_str()),
        ("network", attempt.network.as_str()),
    ]
}

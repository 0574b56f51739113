//! How fresh the order's state is.

use leptos::prelude::*;

use crate::i18n::use_i18n;
use crate::state::use_checkout;

/// A line that ticks; a screen reader reads it only on its own.
#[component]
pub(crate) fn CheckedAgo() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let is_known = checkout.follow(|order, _| order.checked_seconds_ago.is_some());
    let text = move || {
        let ago = i18n.ago(checkout.checked_seconds_ago.get());
        i18n.text_with("checked", &[("ago", &ago)])
    };
    move || {
        is_known.get().then(|| {
            view! {
                <p class="quiet" data-testid="checked">
                    {text}
                </p>
            }
        })
    }
}

//! The last minute: a payment that is prepared now could arrive too late, so a new price comes before the address.

use florin_checkout_api::{AttemptView, OrderView};
use leptos::prelude::*;

use crate::components::{Button, Look, NewPriceButton, focus};
use crate::i18n::use_i18n;
use crate::state::phase::is_partly_paid;
use crate::state::use_checkout;

/// Returns `true` until something has arrived or the customer says that it was sent, where a new price is available:
/// without one, to hide the address gains nothing.
pub(super) fn may_renew(order: &OrderView, attempt: &AttemptView) -> bool {
    let is_under_way =
        attempt.marked_as_paid || attempt.confirmations.is_some() || is_partly_paid(attempt);
    order.can_open_attempt && !is_under_way
}

/// A new price first, the address of this one second.
#[component]
pub(super) fn LastMinute(crypto_code: String, insists: RwSignal<bool>) -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    // The focus was in the instructions, which go away.
    let focused = checkout.shared().and_then(|shared| {
        let focused = shared.root.query_selector(".instructions :focus");
        focused.ok().flatten()
    });
    if focused.is_some() {
        focus(checkout, String::from(".guard h3"));
    }
    let (title, hint) = (i18n.text("guard"), i18n.text("guard_hint"));
    checkout.announce(format!("{title}. {hint}"));
    let insist = move || {
        insists.set(true);
        focus(checkout, String::from(".instructions button"));
    };
    view! {
        <div class="box guard" part="box" data-testid="guard">
            <h3 tabindex="-1">{title}</h3>
            <p>{hint}</p>
            <p>{i18n.text("if_sent")}</p>
            <div class="actions">
                <NewPriceButton crypto_code=crypto_code />
                <Button
                    look=Look::Secondary
                    text=i18n.text("guard_anyway")
                    on_press=insist
                    test_id=Some("guard-anyway")
                />
            </div>
        </div>
    }
}

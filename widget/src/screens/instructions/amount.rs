//! What to send, exactly.

use checkout_api::{AttemptView, OrderView};
use leptos::prelude::*;

use super::{due, names};
use crate::components::{CopyButton, Ltr};
use crate::i18n::use_i18n;
use crate::state::phase::is_partly_paid;

/// The amount, or the rest of it. The figure is a label of the button: a press on it copies too, the bare number, since
/// the field of a wallet takes no more.
#[component]
pub(super) fn AmountToSend<'a>(
    order: &'a OrderView,
    attempt: &'a AttemptView,
) -> impl IntoView + use<> {
    let i18n = use_i18n();
    let is_rest = is_partly_paid(attempt);
    let (test, key) = if is_rest {
        ("remaining", "still_to_send")
    } else {
        ("amount", "send_exactly")
    };
    let price = (!is_rest).then(|| i18n.money(order.amount.as_str(), &order.currency));
    view! {
        <div class="amount" part="amount">
            <div>
                <p class="label">{i18n.text(key)}</p>
                <label class="exactly" for="copy-amount" dir="ltr">
                    <span class="number" data-testid=test>
                        {due(attempt).to_owned()}
                    </span>
                    "\u{a0}"
                    <span class="unit">{attempt.asset.clone()}</span>
                </label>
                {price
                    .map(|price| {
                        view! {
                            <p class="price-beside">
                                <Ltr text=format!("≈ {price}") />
                            </p>
                        }
                    })}
            </div>
            <CopyButton
                id="copy-amount"
                place=".number"
                value=due(attempt).to_owned()
                text=i18n.text("copy")
                label=Some(i18n.text_with("copy_amount", &names(attempt)))
            />
        </div>
    }
}

//! What to send, exactly.

use florin_checkout_api::{AttemptView, OrderView};
use leptos::prelude::*;

use super::aid::{due, names};
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
    let price = if is_rest {
        attempt.remaining_in_local_currency.as_ref()
    } else {
        Some(&order.amount)
    };
    let price = price.map(|price| i18n.money(price.as_str(), &order.currency));
    let rate = attempt.rate_in_local_currency.as_ref().map(|rate| {
        let rate = i18n.money(rate.as_str(), &attempt.local_currency_code);
        i18n.text_with("rate", &[("asset", &attempt.asset), ("price", &rate)])
    });
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
                {rate
                    .map(|rate| {
                        view! {
                            <p class="rate quiet" data-testid="rate">
                                <Ltr text=rate />
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

//! Sending the payment.

mod confirm_sent;

use leptos::prelude::*;

use self::confirm_sent::ConfirmSent;
use super::instructions::WhatToSend;
use crate::components::{Countdown, Heading, Look, OtherAssetButton};
use crate::i18n::use_i18n;
use crate::state::use_checkout;

/// How to pay, how long, and what to do afterwards.
#[component]
pub(super) fn Pay() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let order = checkout.order.get_untracked()?;
    let attempt = order.attempt.as_ref()?;
    let names = [
        ("asset", attempt.asset.as_str()),
        ("network", attempt.network.as_str()),
    ];
    let title = i18n.text_with("pay", &names);
    let can_change = order.can_open_attempt;
    Some(view! {
        <div class="screen" data-testid="status-awaiting_payment">
            <div class="top">
                <Heading text=title />
                <Countdown />
            </div>
            <WhatToSend />
            <ConfirmSent />
            {can_change.then(|| view! { <OtherAssetButton look=Look::Plain /> })}
        </div>
    })
}

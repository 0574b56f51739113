//! Sending the payment.

mod confirm_sent;

use florin_checkout_api::{AttemptView, OrderView};
use leptos::prelude::*;

use self::confirm_sent::ConfirmSent;
use super::instructions::WhatToSend;
use crate::components::{Countdown, Look, OtherAssetButton};
use crate::format::networks::{coin_name, is_guest};
use crate::i18n::{I18n, use_i18n};
use crate::state::phase::is_partly_paid;
use crate::state::use_checkout;

/// How to pay, how long, and what to do afterwards.
#[component]
pub(super) fn Pay() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let order = checkout.order.get_untracked()?;
    let attempt = order.attempt.as_ref()?;
    let title = title(i18n, attempt);
    let is_partly = checkout.follow(|_, attempt| is_partly_paid(attempt));
    let is_over = Memo::new(move |_| checkout.seconds_left.get() == 0);
    // The rest of a part payment is still due: its screen stays as it is.
    let is_time_up = Memo::new(move |_| is_over.get() && !is_partly.get());
    let can_change = checkout.follow(|order: &OrderView, _| order.can_open_attempt);
    Some(view! {
        <div class="screen" data-testid="status-awaiting_payment">
            <div class="top">
                <h2 tabindex="-1" part="heading">
                    {move || if is_time_up.get() { i18n.text("time_up") } else { title.clone() }}
                </h2>
                {move || (!is_over.get()).then(|| view! { <Countdown /> })}
            </div>
            <WhatToSend />
            <ConfirmSent />
            {move || {
                can_change
                    .get()
                    .then(|| view! { <OtherAssetButton look=Look::Plain test_id="other-asset" /> })
            }}
        </div>
    })
}

/// `Pay with Bitcoin` for a coin on its own network, `Send USDT on Tron` for an asset that exists on several.
fn title(i18n: I18n, attempt: &AttemptView) -> String {
    let (asset, network) = (attempt.asset.as_str(), attempt.network.as_str());
    if is_guest(asset, network) {
        i18n.text_with("pay", &[("asset", asset), ("network", network)])
    } else {
        i18n.text_with("pay_with", &[("asset", coin_name(asset, network))])
    }
}

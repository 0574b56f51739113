//! The QR code: with the amount in it, or of the address alone for wallets that do not understand more.

use florin_checkout_api::AttemptView;
use leptos::prelude::*;

use super::aid::{due, names};
use crate::components::{LargeQrCode, coins};
use crate::i18n::use_i18n;
use crate::state::phase::is_partly_paid;

/// The code, and the choice of what it contains. The style sheet shows the one that is chosen.
#[component]
pub(super) fn PaymentCode<'a>(attempt: &'a AttemptView) -> impl IntoView + use<> {
    let i18n = use_i18n();
    let address = attempt.address.clone();
    let bare_label = i18n.text_with("qr_address", &names(attempt));
    if attempt.qr_string == address {
        return view! {
            <div class="code">
                <LargeQrCode content=address label=bare_label test="qr" />
            </div>
        }
        .into_any();
    }
    let key = if is_partly_paid(attempt) {
        "qr_rest"
    } else {
        "qr"
    };
    let amount = coins(due(attempt), &attempt.asset);
    let values = [("amount", amount.as_str()), ("network", &attempt.network)];
    let label = i18n.text_with(key, &values);
    view! {
        <div class="code">
            <div class="full">
                <LargeQrCode content=attempt.qr_string.clone() label=label test="qr" />
            </div>
            <div class="bare">
                <LargeQrCode content=address label=bare_label test="qr-bare" />
            </div>
            <div class="segments" role="radiogroup" aria-label=i18n.text("qr_contains")>
                <Segment name="qr-with-amount" key="qr_with_amount" is_first=true />
                <Segment name="qr-address-only" key="qr_address_only" />
            </div>
            <p class="bare note quiet">{i18n.text("qr_plain_hint")}</p>
        </div>
    }
    .into_any()
}

/// One of the two contents. `name`: its class and its test's name.
#[component]
fn Segment(
    name: &'static str,
    key: &'static str,
    #[prop(optional)] is_first: bool,
) -> impl IntoView {
    view! {
        <label class=format!("segment {name}") data-testid=name>
            <input type="radio" name="qr" checked=is_first />
            {use_i18n().text(key)}
        </label>
    }
}

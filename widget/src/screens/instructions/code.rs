//! The QR code: with the amount in it, or of the address alone for wallets that do not understand more.

use checkout_api::AttemptView;
use leptos::prelude::*;

use super::{due, names};
use crate::components::{QrCode, coins};
use crate::i18n::use_i18n;
use crate::state::phase::is_partly_paid;

/// The code. On a phone, which cannot scan itself, it waits behind a switch; another switch shows that of the address.
/// Both are boxes to tick, and the style sheet does the rest.
#[component]
pub(super) fn PaymentCode<'a>(attempt: &'a AttemptView) -> impl IntoView + use<> {
    let i18n = use_i18n();
    let bare_label = i18n.text_with("qr_address", &names(attempt));
    let key = if is_partly_paid(attempt) {
        "qr_rest"
    } else {
        "qr"
    };
    let has_amount = attempt.qr_string != attempt.address;
    let codes = if has_amount {
        let amount = coins(due(attempt), &attempt.asset);
        let values = [("amount", amount.as_str()), ("network", &attempt.network)];
        let label = i18n.text_with(key, &values);
        view! {
            <QrCode content=&attempt.qr_string label=label test="qr" />
            <div class="bare">
                <QrCode content=&attempt.address label=bare_label test="qr-bare" />
                <p class="quiet">{i18n.text("qr_plain_hint")}</p>
            </div>
            <Switch name="qr-toggle" key="qr_plain" />
        }
        .into_any()
    } else {
        view! { <QrCode content=&attempt.address label=bare_label test="qr" /> }.into_any()
    };
    view! {
        <div class="code">
            <Switch name="qr-show" key="qr_show" />
            {codes}
        </div>
    }
}

/// A box to tick. `name`: its class and its test's name.
#[component]
fn Switch(name: &'static str, key: &'static str) -> impl IntoView {
    view! {
        <label class=format!("switch {name}") data-testid=name>
            <input class="tick-box" type="checkbox" />
            {use_i18n().text(key)}
        </label>
    }
}

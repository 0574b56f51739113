//! Continuing this very order on another device.

use leptos::prelude::*;

use super::aid::Aid;
use crate::components::{CopyButton, QrCode};
use crate::i18n::use_i18n;
use crate::state::use_checkout;

/// The link to this order, as a code and to copy. It holds the order's token, which gives access to it: it is drawn
/// only while the customer looks at it.
#[component]
pub(super) fn Handoff(store: String) -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let is_open = RwSignal::new(false);
    let content = move || {
        let shared = checkout.shared().filter(|_| is_open.get())?;
        let link = shared.connection.link(&store);
        Some(view! {
            <p>{i18n.text("handoff_hint")}</p>
            <QrCode content=&link label=i18n.text("handoff_qr") test="handoff-qr" />
            <p class="link quiet" dir="ltr" data-testid="link">
                {link.clone()}
            </p>
            <CopyButton id="copy-link" place=".link" value=link text=i18n.text("copy_link") />
        })
    };
    let toggle = move || is_open.update(|is_open| *is_open = !*is_open);
    view! {
        <Aid name="handoff" on_toggle=toggle.into()>
            {content}
        </Aid>
    }
}

//! The gateway's own page, where a hosted order is paid.
//!
//! The link leads only to an address that the proxy has checked. What its customer does there, and where the page sends
//! them afterwards, proves nothing: this screen stays until the proxy reports another status.

use leptos::prelude::*;

use crate::components::{Heading, HostedPageLink, Look, NewSessionButton, hosted_page};
use crate::i18n::use_i18n;
use crate::state::use_checkout;

/// What the framed page may do: run its program, keep its own storage, send its forms, open a wallet or an explorer. It
/// may not navigate the shop's page.
const SANDBOX: &str = "allow-scripts allow-same-origin allow-forms allow-popups";

/// The page in a frame, or the way to it.
#[component]
pub(super) fn Hosted() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let embeds = checkout.shared().is_some_and(|shared| shared.host.embed());
    match hosted_page(checkout) {
        Some(url) if embeds => view! {
            <div class="embedded" data-testid="status-hosted">
                <h2 class="unseen" part="heading" tabindex="-1">
                    {i18n.text("hosted")}
                </h2>
                <iframe
                    title=i18n.text("hosted")
                    sandbox=SANDBOX
                    allow="clipboard-write"
                    referrerpolicy="strict-origin"
                    src=url
                    data-testid="hosted-frame"
                ></iframe>
                <HostedPageLink look=Look::Plain key="hosted_open" />
            </div>
        }
        .into_any(),
        page => view! {
            <div class="screen" data-testid="status-hosted">
                <Heading text=i18n.text("hosted_continue") />
                <p>{i18n.text("hosted_hint")}</p>
                <p>{i18n.text("come_back")}</p>
                <div class="actions">
                    {if page.is_some() {
                        view! { <HostedPageLink look=Look::Primary key="hosted_go" /> }.into_any()
                    } else {
                        view! { <NewSessionButton key="hosted_go" /> }.into_any()
                    }}
                </div>
            </div>
        }
        .into_any(),
    }
}

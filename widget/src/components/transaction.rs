//! The transaction's hash in full, to copy, and its page in an explorer.

use leptos::prelude::*;

use super::{CopyButton, Ltr};
use crate::format::links;
use crate::i18n::use_i18n;
use crate::state::use_checkout;

/// The transaction of the order's attempt, once there is one.
#[component]
pub(crate) fn Transaction() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let seen = checkout.follow(|_, attempt| {
        let url = attempt.explorer_url.clone();
        (attempt.transaction_hash.clone(), url)
    });
    move || {
        let (hash, url) = seen.get();
        hash.map(|hash| {
            view! {
                <div class="transaction">
                    <p class="label">{i18n.text("transaction")}</p>
                    <Ltr text=hash.clone() class="hash" test_id="transaction" />
                    <div class="line">
                        <CopyButton
                            id="copy-transaction"
                            place=".hash"
                            value=hash
                            text=i18n.text("copy")
                            label=Some(i18n.text("copy_transaction"))
                        />
                        <ExplorerLink url=url />
                    </div>
                </div>
            }
        })
    }
}

/// The transaction's page in an explorer, in a new window.
#[component]
pub(crate) fn ExplorerLink(url: Option<String>) -> impl IntoView {
    let url = url.filter(|url| links::is_page(url));
    url.map(|url| {
        view! {
            <a
                class="plain"
                part="button plain"
                href=url
                target="_blank"
                rel="noopener noreferrer"
                data-testid="explorer"
            >
                {use_i18n().text("explorer")}
            </a>
        }
    })
}

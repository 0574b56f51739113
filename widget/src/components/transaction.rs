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
        let url = url.filter(|url| links::is_page(url));
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
                        {url
                            .map(|url| {
                                view! {
                                    <a
                                        class="plain"
                                        part="button plain"
                                        href=url
                                        target="_blank"
                                        rel="noopener noreferrer"
                                        data-testid="explorer"
                                    >
                                        {i18n.text("explorer")}
                                    </a>
                                }
                            })}
                    </div>
                </div>
            }
        })
    }
}

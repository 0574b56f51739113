//! The address, whole and in groups, and the two ways to carry it into a wallet.

use florin_checkout_api::AttemptView;
use leptos::prelude::*;

use super::aid::names;
use crate::components::CopyButton;
use crate::format::grouping::groups;
use crate::format::links;
use crate::i18n::use_i18n;
use crate::state::phase::is_partly_paid;

/// Where to send it.
#[component]
pub(super) fn Destination<'a>(attempt: &'a AttemptView) -> impl IntoView + use<> {
    let i18n = use_i18n();
    let groups: Vec<_> = groups(&attempt.address)
        .into_iter()
        .map(|group| view! { <span>{group.to_owned()}</span> })
        .collect();
    let link = attempt.qr_string.clone();
    let opens = links::is_wallet(&link, &attempt.address);
    let open_key = if is_partly_paid(attempt) {
        "open_wallet_rest"
    } else {
        "open_wallet"
    };
    view! {
        <div class="destination">
            <p class="label">{i18n.text_with("to_address", &names(attempt))}</p>
            <p class="address" part="address" dir="ltr" data-testid="address">
                {groups}
            </p>
            <div class="line">
                // From within a frame only the whole page may open another program.
                {opens
                    .then(|| {
                        view! {
                            <a
                                class="primary wallet"
                                part="button primary"
                                href=link
                                target="_top"
                                data-testid="wallet-link"
                            >
                                {i18n.text(open_key)}
                            </a>
                        }
                    })}
                <CopyButton
                    id="copy-address"
                    place=".address"
                    value=attempt.address.clone()
                    text=i18n.text_with("copy_on", &names(attempt))
                />
            </div>
        </div>
    }
}

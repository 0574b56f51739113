//! The address, whole and in groups, the ways to carry it into a wallet, and its comparison with the one in the wallet.

use florin_checkout_api::AttemptView;
use leptos::prelude::*;

use super::help::{HelpPanel, due, names};
use crate::components::{CopyButton, LargeQrCode, coins};
use crate::format::address::{Verdict, compare, groups};
use crate::format::links;
use crate::i18n::use_i18n;
use crate::state::phase::is_partly_paid;
use crate::state::use_checkout;

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
            // Filled by `widget/js/wallets.js`.
            <div class="wallet-links" hidden></div>
        </div>
    }
}

/// While it is open, the style sheet marks the address's beginning and end.
#[component]
pub(super) fn CheckAddress(address: String) -> impl IntoView {
    let i18n = use_i18n();
    let pasted = RwSignal::new(String::new());
    let verdict = move || view! { <Comparison verdict=compare(&address, &pasted.get()) /> };
    view! {
        <HelpPanel name="compare">
            <p>{i18n.text("compare_hint")}</p>
            <label for="paste">{i18n.text("paste_back")}</label>
            <input
                part="input"
                id="paste"
                autocomplete="off"
                autocapitalize="none"
                spellcheck="false"
                maxlength="999"
                dir="ltr"
                aria-describedby="pasted"
                data-testid="paste-back"
                on:input=move |event| pasted.set(event_target_value(&event))
            />
            <div class="pasted" id="pasted" data-testid="pasted">
                {verdict}
            </div>
        </HelpPanel>
    }
}

#[component]
fn Comparison(verdict: Verdict) -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let (class, key) = match &verdict {
        Verdict::Nothing => return None,
        Verdict::Part => ("", "paste_part"),
        Verdict::Same => ("good", "paste_same"),
        Verdict::Other(_) => ("bad", "paste_other"),
    };
    let text = i18n.text(key);
    // While the address is typed, every character makes it a part.
    if verdict != Verdict::Part {
        checkout.announce(text.clone());
    }
    // What was pasted, with the difference marked: for eyes, since the sentence says that it differs.
    let marked = match verdict {
        Verdict::Other([before, other, after]) => Some(view! {
            <p class="found" dir="ltr" aria-hidden="true">
                {before}
                <mark>{other}</mark>
                {after}
            </p>
        }),
        _ => None,
    };
    Some(view! {
        <p class=class>{text}</p>
        {marked}
    })
}

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

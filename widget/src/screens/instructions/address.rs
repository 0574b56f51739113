//! The comparison of the address with the one in the customer's wallet.

use leptos::prelude::*;

use super::help::HelpPanel;
use crate::format::address::{Verdict, compare};
use crate::i18n::use_i18n;
use crate::state::use_checkout;

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

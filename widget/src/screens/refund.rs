//! Where the customer wants money back that the store owes.

use florin_checkout_api::OwedIn;
use leptos::html::Input;
use leptos::prelude::*;

use crate::components::{Button, Look};
use crate::i18n::use_i18n;
use crate::state::use_checkout;

/// The field for the address while money is owed, and the address that was named.
#[component]
pub(super) fn AskForRefundAddress() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let order = checkout.order;
    let owed_in = Memo::new(move |_| order.with(|order| order.as_ref()?.owed_in.clone()));
    let kept = Memo::new(move |_| order.with(|order| order.as_ref()?.refund_address.clone()));
    let before = StoredValue::new(kept.get_untracked());
    let saved = move || {
        let (store, address) = (checkout.store_name(), kept.get()?);
        let values = [("store", store.as_str()), ("address", address.as_str())];
        let text = i18n.text_with("refund_address_saved", &values);
        if before.get_value().as_ref() != Some(&address) {
            checkout.announce(text.clone());
        }
        Some(view! {
            <p class="quiet" data-testid="refund-address-saved">
                {text}
            </p>
        })
    };
    let field = NodeRef::<Input>::new();
    let is_wrong = Memo::new(move |_| {
        let problem = checkout.problem.get();
        problem.is_some_and(|problem| problem.is_about_address())
    });
    let save = move || {
        let typed = field.get_untracked().map(|field| field.value());
        checkout.name_refund_address(typed.unwrap_or_default().trim().to_owned());
    };
    move || {
        let OwedIn { asset, network } = owed_in.get()?;
        let names = [("asset", asset.as_str()), ("network", network.as_str())];
        let wrong = i18n.text_with("refund_address_wrong", &names);
        Some(view! {
            <div class="email refund">
                <label for="refund-address">{i18n.text("refund_address")}</label>
                <p class="quiet" id="refund-address-hint">
                    {i18n.text_with("refund_address_hint", &names)}
                </p>
                <div class="line">
                    <input
                        part="input"
                        id="refund-address"
                        autocomplete="off"
                        autocapitalize="off"
                        spellcheck="false"
                        maxlength="90"
                        dir="ltr"
                        aria-describedby="refund-address-hint refund-address-wrong"
                        aria-invalid=move || is_wrong.get().then_some("true")
                        data-testid="refund-address"
                        node_ref=field
                    />
                    <Button
                        look=Look::Secondary
                        text=i18n.text("refund_address_save")
                        on_press=save
                        test_id=Some("refund-address-save")
                    />
                </div>
                {saved}
                <div class="bad" id="refund-address-wrong" data-testid="refund-address-wrong">
                    {move || {
                        is_wrong
                            .get()
                            .then(|| {
                                checkout.announce(wrong.clone());
                                view! { <p>{wrong.clone()}</p> }
                            })
                    }}
                </div>
            </div>
        })
    }
}

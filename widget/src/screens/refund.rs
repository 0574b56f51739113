//! Where the customer wants money back that the store owes.

use florin_checkout_api::OwedIn;
use leptos::html::Input;
use leptos::prelude::*;

use crate::components::{Button, Look, focus};
use crate::i18n::use_i18n;
use crate::state::use_checkout;

/// While money is owed, the address that was named or the field for one.
#[component]
pub(super) fn AskForRefundAddress() -> impl IntoView {
    let checkout = use_checkout();
    let order = checkout.order;
    let owed_in = Memo::new(move |_| order.with(|order| order.as_ref()?.owed_in.clone()));
    let kept = Memo::new(move |_| order.with(|order| order.as_ref()?.refund_address.clone()));
    let named_before = StoredValue::new(kept.get_untracked());
    // The address that the customer changes; another one is shown as soon as it is kept.
    let changed = RwSignal::new(None);
    move || {
        let owed_in = owed_in.get()?;
        let kept = kept.get();
        let content = match kept.clone().filter(|_| kept != changed.get()) {
            Some(address) => {
                let is_new = kept != named_before.get_value();
                view! { <Kept address=address is_new=is_new changed=changed /> }.into_any()
            }
            None => view! { <Field owed_in=owed_in kept=kept changed=changed /> }.into_any(),
        };
        Some(view! { <div class="email refund">{content}</div> })
    }
}

/// `is_new`: it was named on this screen.
#[component]
fn Kept(address: String, is_new: bool, changed: RwSignal<Option<String>>) -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let store = checkout.store_name();
    let values = [("store", store.as_str()), ("address", address.as_str())];
    let text = i18n.text_with("refund_address_saved", &values);
    if is_new {
        checkout.announce(text.clone());
        // The focus was on the button, which goes away.
        focus(checkout, String::from(".refund .saved"));
    }
    let change = move || {
        changed.set(Some(address.clone()));
        focus(checkout, String::from("#refund-address"));
    };
    view! {
        <p class="saved" tabindex="-1" data-testid="refund-address-saved">
            {text}
        </p>
        <Button
            look=Look::Plain
            text=i18n.text("refund_address_change")
            on_press=change
            test_id=Some("refund-address-change")
        />
    }
}

#[component]
fn Field(
    owed_in: OwedIn,
    kept: Option<String>,
    changed: RwSignal<Option<String>>,
) -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let OwedIn { asset, network } = owed_in;
    let names = [("asset", asset.as_str()), ("network", network.as_str())];
    let wrong = i18n.text_with("refund_address_wrong", &names);
    let hint = i18n.text_with("refund_address_hint", &names);
    let field = NodeRef::<Input>::new();
    let is_wrong = Memo::new(move |_| {
        let problem = checkout.problem.get();
        problem.is_some_and(|problem| problem.is_about_address())
    });
    let before = kept.clone();
    let save = move || {
        let typed = field.get_untracked().map(|field| field.value());
        let address = typed.unwrap_or_default().trim().to_owned();
        if before.as_ref() == Some(&address) {
            changed.set(None);
        } else {
            checkout.name_refund_address(address);
        }
    };
    view! {
        <label for="refund-address">{i18n.text("refund_address")}</label>
        <p class="quiet" id="refund-address-hint">
            {hint}
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
                value=kept
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
    }
}

//! "I have paid", with an email address for the receipt.

use checkout_api::looks_like_email;
use leptos::html::Input;
use leptos::prelude::*;

use crate::components::{Button, Look, focus};
use crate::i18n::use_i18n;
use crate::state::use_checkout;

/// The field and the button, until the customer has pressed it.
#[component]
pub(super) fn ConfirmSent() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let is_marked = checkout.follow(|_, attempt| attempt.marked_as_paid);
    let is_wrong = RwSignal::new(false);
    let field = NodeRef::<Input>::new();
    // What was kept last; empty for none.
    let kept = RwSignal::new(String::new());
    let keep = move |event| {
        let email = event_target_value(&event).trim().to_owned();
        let is_new = kept.with_untracked(|kept| *kept != email);
        if is_new && (email.is_empty() || looks_like_email(&email)) {
            let sent = email.clone();
            checkout.keep_email(sent, move |is_kept| {
                if is_kept {
                    kept.set(email);
                }
            });
        }
    };
    let mark = move || {
        let email = field.get_untracked().map(|field| field.value());
        let email = email.unwrap_or_default();
        let email = email.trim();
        // No address, or one that the proxy takes.
        if email.is_empty() || looks_like_email(email) {
            checkout.mark_paid(email);
        } else {
            is_wrong.set(true);
            checkout.announce(i18n.text("email_wrong"));
            focus(checkout, String::from("#email"));
        }
    };
    move || {
        if is_marked.get() {
            return view! {
                <p class="box" part="box">
                    {i18n.text("marked")}
                </p>
            }
            .into_any();
        }
        // No form: Enter in the field of an address must not report a payment.
        view! {
            <div class="sent">
                <label for="email">{i18n.text("email")}</label>
                <div class="line">
                    <input
                        part="input"
                        type="email"
                        id="email"
                        autocomplete="email"
                        maxlength="254"
                        dir="ltr"
                        aria-describedby="email-wrong"
                        aria-invalid=move || is_wrong.get().then_some("true")
                        data-testid="email"
                        node_ref=field
                        on:input=move |_| is_wrong.set(false)
                        on:change=keep
                    />
                    <Button
                        look=Look::Secondary
                        text=i18n.text("i_have_paid")
                        on_press=mark
                        test_id=Some("i-have-paid")
                        waits=true
                    />
                </div>
                {move || {
                    let email = kept.get();
                    (!email.is_empty())
                        .then(|| {
                            let text = i18n.text_with("email_saved", &[("email", &email)]);
                            view! {
                                <p class="quiet" data-testid="email-saved">
                                    {text}
                                </p>
                            }
                        })
                }}
                <div class="bad" id="email-wrong" data-testid="email-wrong">
                    {move || is_wrong.get().then(|| view! { <p>{i18n.text("email_wrong")}</p> })}
                </div>
            </div>
        }
        .into_any()
    }
}

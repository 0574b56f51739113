//! "I have paid", with an email address for the receipt.

use leptos::prelude::*;

use crate::components::{Button, Look, focus};
use crate::i18n::use_i18n;
use crate::screens::receipt_email::{Email, EmailField, KeptEmail, is_none_or_email};
use crate::state::use_checkout;

/// The field and the button, until the customer has pressed it. A small window keeps the button at its lower edge.
#[component]
pub(super) fn ConfirmSent() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let is_marked = checkout.follow(|_, attempt| attempt.marked_as_paid);
    let email = Email::new();
    // What was kept last; empty for none.
    let kept = RwSignal::new(String::new());
    // The address itself is not in the order: it was typed on another page, or before a reload.
    let is_kept = checkout.order.with_untracked(|order| {
        let order = order.as_ref();
        order.is_some_and(|order| order.email_kept)
    });
    let asks = RwSignal::new(!is_kept);
    let change = move || {
        asks.set(true);
        focus(checkout, String::from("#email"));
    };
    let keep = move || {
        let typed = email.typed();
        let is_new = kept.with_untracked(|kept| *kept != typed);
        if is_new && is_none_or_email(&typed) {
            let sent = typed.clone();
            checkout.keep_email(sent, move |is_kept| {
                if is_kept {
                    kept.set(typed);
                }
            });
        }
    };
    let mark = move || {
        let typed = email.typed();
        if is_none_or_email(&typed) {
            checkout.mark_paid(&typed);
        } else {
            email.reject(checkout);
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
                <p class="quiet detected">{i18n.text("detected_automatically")}</p>
                {move || {
                    if asks.get() {
                        view! { <EmailField email=email kept=kept on_change=keep.into() /> }
                            .into_any()
                    } else {
                        view! { <KeptEmail on_change=change.into() /> }.into_any()
                    }
                }}
                <div class="confirm">
                    <Button
                        look=Look::Secondary
                        text=i18n.text("i_have_paid")
                        on_press=mark
                        test_id=Some("i-have-paid")
                        waits=true
                    />
                </div>
            </div>
        }
        .into_any()
    }
}

//! "I have paid", with an address for the receipt.

use checkout_api::looks_like_email;
use reactive_graph::prelude::*;
use reactive_graph::signal::RwSignal;
use web_sys::Node;

use crate::checkout::Checkout;
use crate::markup::{live, nothing, tag};
use crate::screens::{button, focus, paragraph, typed, while_idle};

/// The field and the button, until it was said.
pub(super) fn show(checkout: Checkout) -> Node {
    let marked = checkout.watch(|_, attempt| attempt.marked_as_paid.then(|| String::from("yes")));
    let is_wrong = RwSignal::new(false);
    live(move || {
        if !marked.get().is_empty() {
            return tag("p", "box").text(checkout.word("marked")).into();
        }
        let email = tag("input", "")
            .attr("type", "email")
            .attr("id", "email")
            .attr("autocomplete", "email")
            .attr("maxlength", "254")
            .attr("dir", "ltr")
            .attr("aria-describedby", "email-wrong")
            .test("email")
            .flag("aria-invalid", is_wrong)
            .on_input(Box::new(move |_| is_wrong.set(false)));
        let mark = move || {
            let email = typed(checkout, "#email");
            let email = email.trim();
            // Nothing, or what the proxy takes for an address.
            if email.is_empty() || looks_like_email(email) {
                checkout.mark_paid(email);
            } else {
                is_wrong.set(true);
                checkout.say(checkout.word("email_wrong"));
                focus(checkout, String::from("#email"));
            }
        };
        let paid = button("secondary", checkout.word("i_have_paid"), mark).test("i-have-paid");
        let paid = while_idle(checkout, paid);
        let wrong = live(move || {
            if is_wrong.get() {
                paragraph(checkout.word("email_wrong"))
            } else {
                nothing()
            }
        });
        // No form: Enter in the field of an address must not say that something was paid.
        tag("div", "sent")
            .with(
                tag("label", "")
                    .attr("for", "email")
                    .text(checkout.word("email")),
            )
            .with(tag("div", "line").with(email).with(paid))
            .with(
                tag("div", "bad")
                    .attr("id", "email-wrong")
                    .test("email-wrong")
                    .with(wrong),
            )
            .into()
    })
}

//! How much to give: the one price that a customer names.

use std::rc::Rc;

use checkout_api::{DonationView, ErrorCode};
use reactive_graph::computed::Memo;
use reactive_graph::prelude::*;
use reactive_graph::signal::RwSignal;
use web_sys::Node;

use crate::api::Problem;
use crate::checkout::{Checkout, remember};
use crate::markup::{Tag, live_text, nothing, tag};
use crate::typed_amount::canonical;

use super::{button, focus, heading, ltr, root, typed, while_idle};

/// The amounts that the store suggests, and a field for any other.
pub(super) fn show(checkout: Checkout) -> Node {
    let Some(donation) = checkout.donation() else {
        return nothing();
    };
    let pressed = RwSignal::new(String::new());
    let suggested = donation.suggested.iter().map(|amount| {
        let amount = amount.as_str().to_owned();
        let price = checkout.money(&amount, &donation.currency);
        let test = ["give-", &amount].concat();
        let is_pressed = {
            let amount = amount.clone();
            move || pressed.get() == amount
        };
        let give = move || {
            pressed.set(amount.clone());
            checkout.give(&amount);
        };
        let choice = button("secondary", String::new(), give)
            .test(test)
            .live_attr("aria-pressed", move || {
                Some(String::from(if is_pressed() { "true" } else { "false" }))
            });
        while_idle(checkout, choice).with(ltr(price)).into()
    });
    root("giving")
        .with(heading(checkout.word("give")))
        .with(
            tag("p", "")
                .attr("id", "bounds")
                .text(bounds(checkout, "give_bounds", &donation)),
        )
        .with(tag("div", "line amounts").all(suggested))
        .with(other(checkout, &donation, pressed))
        .into()
}

/// Whether what was refused is the amount: a slip of the pen, which is mended in its field.
pub(super) fn is_slip(checkout: Checkout, problem: &Problem) -> bool {
    matches!(
        problem,
        Problem::Refused(body) if matches!(
            body.code,
            Some(ErrorCode::DonationOutOfRange | ErrorCode::InvalidRequest)
        )
    ) && checkout.donation().is_some()
        && !checkout.is_open()
}

/// The text of a key with the bounds in it: `Choose any amount between $2.00 and $500.00.`
fn bounds(checkout: Checkout, key: &'static str, donation: &DonationView) -> String {
    // Isolated (U+2066, U+2069), so that no language around them reorders their signs.
    let isolated = |amount: &str| {
        let money = checkout.money(amount, &donation.currency);
        ["\u{2066}", &money, "\u{2069}"].concat()
    };
    let (min, max) = (
        isolated(donation.min.as_str()),
        isolated(donation.max.as_str()),
    );
    checkout.sentence(key, &[("min", &min), ("max", &max)])
}

fn other(checkout: Checkout, donation: &Rc<DonationView>, pressed: RwSignal<String>) -> Node {
    let label = checkout.word("give_other");
    let label = [&label, " (", &donation.currency, ")"];
    // Nothing was typed at all, which the proxy need not be asked about.
    let is_empty = RwSignal::new(false);
    let slip = remember(Box::new(move || {
        let problem = checkout.problem.get();
        let is_refused = problem.is_some_and(|problem| is_slip(checkout, &problem));
        String::from(if is_refused || is_empty.get() {
            "true"
        } else {
            ""
        })
    }));
    let go = tag("button", "primary")
        .text(checkout.word("give_go"))
        .test("give-go");
    let give = move || {
        let amount = canonical(&typed(checkout, "#amount"));
        is_empty.set(amount.is_empty());
        pressed.set(String::new());
        if amount.is_empty() {
            focus(checkout, String::from("#amount"));
        } else {
            checkout.give(&amount);
        }
    };
    tag("form", "sent")
        .attr("novalidate", "")
        .with(tag("label", "").attr("for", "amount").text(label.concat()))
        .with(
            tag("div", "line")
                .with(field(checkout, &donation.currency, slip))
                .with(while_idle(checkout, go)),
        )
        .with(refusal(checkout, donation, slip))
        .on_submit(give)
        .into()
}

/// The field, with the currency's sign on the side where the language writes it.
fn field(checkout: Checkout, currency: &str, slip: Memo<String>) -> Tag {
    let input = tag("input", "")
        .attr("id", "amount")
        .attr("inputmode", "decimal")
        .attr("autocomplete", "off")
        .attr("maxlength", "20")
        .attr("aria-describedby", "bounds slip")
        .live_attr("aria-invalid", move || {
            Some(slip.get()).filter(|slip| !slip.is_empty())
        })
        .test("give-other");
    let sign = checkout.sign(currency);
    let beside = tag("label", "")
        .attr("for", "amount")
        .attr("aria-hidden", "true")
        .test("give-sign")
        .text(sign.sign);
    let field = tag("div", "money").attr("dir", "ltr");
    if sign.leads {
        field.with(beside).with(input)
    } else {
        field.with(input).with(beside)
    }
}

/// What is wrong with the amount, beside it; the focus goes back to where it is mended.
fn refusal(checkout: Checkout, donation: &Rc<DonationView>, slip: Memo<String>) -> Tag {
    let donation = Rc::clone(donation);
    let words = move || {
        if slip.get().is_empty() {
            return String::new();
        }
        focus(checkout, String::from("#amount"));
        bounds(checkout, "give_refused", &donation)
    };
    tag("p", "slip")
        .attr("id", "slip")
        .attr("role", "alert")
        .test("give-error")
        .with(live_text(words))
}

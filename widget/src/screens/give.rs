//! How much to give: the one price that a customer names.

use std::rc::Rc;

use checkout_api::DonationView;
use web_sys::Node;

use crate::checkout::Checkout;
use crate::markup::{nothing, tag};
use crate::typed_amount::canonical;

use super::{button, heading, ltr, paragraph, root, typed, while_idle};

/// The amounts that the store suggests, and a field for any other.
pub(super) fn show(checkout: Checkout) -> Node {
    let Some(donation) = checkout.donation() else {
        return nothing();
    };
    let suggested = donation.suggested.iter().map(|amount| {
        let amount = amount.as_str().to_owned();
        let price = checkout.money(&amount, &donation.currency);
        let test = ["give-", &amount].concat();
        let give = move || checkout.give(amount.clone());
        let choice = button("secondary", String::new(), give).test(test);
        choice.with(ltr(price)).into()
    });
    root("giving")
        .with(heading(checkout.word("give")))
        .with(paragraph(bounds(checkout, "give_bounds", &donation)))
        .with(tag("div", "line amounts").all(suggested))
        .with(other(checkout, &donation))
        .into()
}

/// The text of a key with the bounds in it: `Any amount from $2.00 to $500.00.`
pub(super) fn bounds(checkout: Checkout, key: &'static str, donation: &DonationView) -> String {
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

fn other(checkout: Checkout, donation: &Rc<DonationView>) -> Node {
    let label = checkout.word("give_other");
    let label = [&label, " (", &donation.currency, ")"];
    let field = tag("input", "")
        .attr("id", "amount")
        .attr("inputmode", "decimal")
        .attr("autocomplete", "off")
        .attr("maxlength", "20")
        .attr("dir", "ltr")
        .test("give-other");
    let go = tag("button", "primary")
        .attr("part", "button")
        .text(checkout.word("give_go"))
        .test("give-go");
    let go = while_idle(checkout, go);
    tag("form", "sent")
        .attr("novalidate", "")
        .with(tag("label", "").attr("for", "amount").text(label.concat()))
        .with(tag("div", "line").with(field).with(go))
        .on_submit(move || checkout.give(canonical(&typed(checkout))))
        .into()
}

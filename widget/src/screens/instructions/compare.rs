//! Comparing the address with what the wallet shows: by eye, and by pasting it back.

use checkout_api::AttemptView;
use reactive_graph::prelude::*;
use reactive_graph::signal::RwSignal;
use web_sys::Node;

use crate::checkout::Checkout;
use crate::compare::{Verdict, compare};
use crate::markup::{live, nothing, tag};
use crate::screens::paragraph;

use super::{aid, summary};

/// While it is open, the address's beginning and end stand out, by the style sheet.
pub(super) fn show(checkout: Checkout, attempt: &AttemptView) -> Node {
    let pasted = RwSignal::new(String::new());
    let address = attempt.address.clone();
    let answer = live(move || answer(checkout, compare(&address, &pasted.get())));
    let field = tag("input", "")
        .attr("id", "paste")
        .attr("autocomplete", "off")
        .attr("autocapitalize", "none")
        .attr("spellcheck", "false")
        .attr("maxlength", "999")
        .attr("dir", "ltr")
        .attr("aria-describedby", "pasted")
        .test("paste-back")
        .on_input(Box::new(move |typed| pasted.set(typed)));
    aid("compare", summary(checkout, "compare"))
        .with(paragraph(checkout.word("compare_hint")))
        .with(
            tag("label", "")
                .attr("for", "paste")
                .text(checkout.word("paste_back")),
        )
        .with(field)
        .with(
            tag("div", "pasted")
                .attr("id", "pasted")
                .test("pasted")
                .with(answer),
        )
        .into()
}

fn answer(checkout: Checkout, verdict: Verdict) -> Node {
    let (class, key) = match verdict {
        Verdict::Nothing => return nothing(),
        Verdict::Part => ("", "paste_part"),
        Verdict::Same => ("good", "paste_same"),
        Verdict::Other(_) => ("bad", "paste_other"),
    };
    let words = checkout.word(key);
    // Whoever types it would hear after each character that it is a part as yet.
    if key != "paste_part" {
        checkout.say(words.clone());
    }
    let answer = tag("div", "live").with(tag("p", class).text(words));
    let Verdict::Other([before, other, after]) = verdict else {
        return answer.into();
    };
    // What was pasted, with what differs marked: for eyes, since that it differs has been said.
    let marked = tag("p", "found")
        .attr("dir", "ltr")
        .attr("aria-hidden", "true")
        .text(before)
        .with(tag("mark", "").text(other))
        .text(after);
    answer.with(marked).into()
}

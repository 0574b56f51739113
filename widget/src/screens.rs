//! The page of one checkout: the order's summary, and beside it the screen of its phase.

mod banner;
mod choose;
mod coin;
mod copy;
mod ending;
mod give;
mod hosted;
mod instructions;
mod paid;
mod pay;
mod progress;
mod receipt;
mod stopped;
mod summary;

use std::borrow::Cow;
use std::rc::Rc;

use checkout_api::OrderView;
use reactive_graph::graph::untrack;
use reactive_graph::prelude::*;
use wasm_bindgen::JsCast as _;
use web_sys::{HtmlElement, HtmlInputElement, Node, ShadowRoot};

use crate::browser::document;
use crate::checkout::{Checkout, Parts, remember};
use crate::markup::{Tag, live, live_text, nothing, tag, text};
use crate::phase::Phase;
use crate::task::later;
use crate::wording::around;

/// The summary, the screen of the phase, and the live region.
pub(crate) fn all(checkout: Checkout) -> Node {
    let Some(parts) = checkout.parts() else {
        return nothing();
    };
    let said = checkout.said;
    tag("div", "florin")
        .attr("lang", parts.language.locale())
        .attr("dir", parts.language.direction())
        .with(summary::show(checkout))
        .with(
            tag("section", "main")
                .attr("aria-label", checkout.word("payment"))
                .with(banner::show(checkout))
                .with(current(checkout)),
        )
        .with(
            tag("p", "unseen")
                .attr("role", "status")
                .with(live_text(move || said.get())),
        )
        .into()
}

/// The screen of the order's phase. It is built anew when the phase changes, or what is to be sent where: two attempts
/// may share an address.
fn current(checkout: Checkout) -> Node {
    let address = checkout.watch(|_, attempt| {
        let sent = [
            &attempt.crypto_code,
            attempt.amount_in_crypto.as_str(),
            &attempt.address,
        ];
        Some(sent.concat())
    });
    let at = remember(Box::new(move || {
        let phase = checkout.phase();
        // A hosted order's address is that of the service's page, which another session changes.
        let page = |order: &Rc<OrderView>| order.payment_process_url.clone();
        let page = match phase {
            Phase::Hosted => checkout.order.with(|order| page(order.as_ref()?)),
            _ => None,
        };
        let phase = String::from(char::from(phase as u8));
        [&phase, address.get().as_str(), &page.unwrap_or_default()].concat()
    }));
    let mut arrived = false;
    live(move || {
        // Reading it, not just tracking it: a memo that nobody reads follows nothing.
        let _ = at.get();
        let phase = untrack(|| checkout.phase());
        let is_focused = arrived && focus_heading(checkout);
        checkout.arrive(phase, is_focused);
        arrived = arrived || phase != Phase::Loading;
        untrack(|| screen(checkout, phase))
    })
}

fn screen(checkout: Checkout, phase: Phase) -> Node {
    match phase {
        Phase::Loading => stopped::loading(checkout),
        Phase::Stopped => stopped::show(checkout),
        Phase::Giving => give::show(checkout),
        Phase::Hosted => hosted::show(checkout),
        Phase::Choosing => choose::show(checkout),
        Phase::Paying => pay::show(checkout),
        Phase::Checking => progress::checking(checkout),
        Phase::Processing => progress::processing(checkout),
        Phase::Paid | Phase::Overpaid => paid::show(checkout),
        Phase::Underpaid => ending::underpaid(checkout),
        Phase::Failed => ending::failed(checkout),
        Phase::Cancelled => ending::cancelled(checkout),
        Phase::Expired => ending::expired(checkout),
        Phase::Blocked => ending::blocked(checkout),
    }
}

/// Moves the focus to the heading of a new screen, unless the customer is busy elsewhere on the shop's page; answers
/// whether it does.
fn focus_heading(checkout: Checkout) -> bool {
    let document = document();
    let inside = |parts: Rc<Parts>| parts.root.get_root_node().unchecked_into::<ShadowRoot>();
    let own = checkout.parts().map(|parts| inside(parts).host());
    let elsewhere = document
        .active_element()
        .is_some_and(|element| element.tag_name() != "BODY" && own != Some(element));
    // In a frame the customer may be busy on the page around it, which is another document.
    if elsewhere || !document.has_focus().unwrap_or(false) {
        return false;
    }
    focus(checkout, String::from("h2"));
    true
}

/// Moves the focus to the first that a selector finds, once it is there.
fn focus(checkout: Checkout, selector: String) {
    later(0, move || {
        let found = checkout
            .parts()
            .and_then(|parts| parts.root.query_selector(&selector).ok().flatten());
        if let Some(found) = found {
            let _ = found.unchecked_into::<HtmlElement>().focus();
        }
    });
}

/// A screen with the name under which tests find it.
fn root(status: &str) -> Tag {
    tag("div", "screen").test(["status-", status].concat())
}

/// The heading of a screen: where the focus goes.
fn heading(words: String) -> Tag {
    tag("h2", "").attr("tabindex", "-1").text(words)
}

/// An amount or an address: written from left to right in every language.
fn ltr<'a>(words: impl Into<Cow<'a, str>>) -> Tag {
    tag("bdi", "").attr("dir", "ltr").text(words)
}

/// `0.00030973 BTC`
fn coins(amount: &str, asset: &str) -> String {
    [amount, "\u{a0}", asset].concat()
}

/// A button; the first class says how it looks.
fn button(class: &'static str, words: String, act: impl Fn() + 'static) -> Tag {
    tag("button", class)
        .attr("type", "button")
        .text(words)
        .on_click(act)
}

/// What stands in the field that a selector finds.
fn typed(checkout: Checkout, selector: &str) -> String {
    checkout
        .parts()
        .and_then(|parts| parts.root.query_selector(selector).ok().flatten())
        .map(|input| input.unchecked_into::<HtmlInputElement>().value())
        .unwrap_or_default()
}

/// Greyed out while a wish is with the server.
fn while_idle(checkout: Checkout, tag: Tag) -> Tag {
    tag.flag("aria-disabled", checkout.busy)
}

/// A sentence below the heading.
fn paragraph(words: String) -> Node {
    tag("p", "").text(words).into()
}

/// A sentence in which one amount stands apart, so that it is never reordered by the language around it.
fn with_amount(checkout: Checkout, key: &'static str, amount: &str) -> Node {
    with_gap(checkout, key, ltr(amount))
}

/// A sentence with an element in its gap.
fn with_gap(checkout: Checkout, key: &'static str, within: Tag) -> Node {
    let whole = checkout.word(key);
    let (before, after) = around(&whole);
    tag("p", "")
        .with(text(before))
        .with(within)
        .with(text(after))
        .into()
}

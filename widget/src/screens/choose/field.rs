//! The search among many assets.

use checkout_api::Quote;
use js_sys::Reflect;
use reactive_graph::prelude::*;
use reactive_graph::signal::RwSignal;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast as _, JsValue};
use web_sys::{Event, HtmlInputElement, Node};

use crate::checkout::{Checkout, remember};
use crate::decimal::decimal;
use crate::markup::{live, nothing, tag};
use crate::network;
use crate::search::finds;
use crate::task::later;

use super::paragraph;

/// More assets than fit a glance.
const MANY: usize = 6;
/// A screen reader is told how many are left once the customer has stopped typing for so long.
const PAUSE_MS: i32 = 600;

/// What is searched for.
#[derive(Clone, Copy)]
pub(super) struct Field(RwSignal<String>);

impl Field {
    pub(super) fn new() -> Self {
        Self(RwSignal::new(String::new()))
    }

    /// Whether an asset is among what is searched for. Follows the field.
    pub(super) fn finds(self, quote: &Quote) -> bool {
        is_found(&self.0.get(), quote)
    }

    /// The field, where there are many assets, and what it says when nothing is found.
    pub(super) fn show(self, checkout: Checkout) -> Node {
        let are_many = remember(Box::new(move || {
            let are_many = checkout.shown().is_some_and(|quotes| quotes.len() > MANY);
            String::from(if are_many { "yes" } else { "" })
        }));
        live(move || {
            if are_many.get().is_empty() {
                self.0.set(String::new());
                return nothing();
            }
            let words = checkout.word("search");
            let input = tag("input", "search")
                .attr("type", "search")
                .attr("aria-label", words.as_str())
                .attr("placeholder", words)
                .attr("autocomplete", "off")
                .attr("spellcheck", "false")
                .attr("maxlength", "60")
                .attr("dir", "auto")
                .test("search")
                .listen("input", self.on_input(checkout))
                .listen("keydown", self.on_key(checkout));
            tag("div", "find")
                .with(input)
                .with(self.nothing_found(checkout))
                .into()
        })
    }

    fn on_input(self, checkout: Checkout) -> Closure<dyn Fn(Event)> {
        Closure::wrap(Box::new(move |event: Event| {
            if let Some(input) = input(&event) {
                self.search(checkout, input.value());
            }
        }))
    }

    /// Escape empties the field; in an empty one it is left to whatever stands around.
    fn on_key(self, checkout: Checkout) -> Closure<dyn Fn(Event)> {
        Closure::wrap(Box::new(move |event: Event| {
            // A browser that fills fields in sends events of this name without a key.
            let key = Reflect::get(&event, &JsValue::from_str("key"));
            let is_escape = key.is_ok_and(|key| key == "Escape");
            let typed = input(&event).filter(|input| !input.value().is_empty());
            if let Some(input) = typed.filter(|_| is_escape) {
                event.prevent_default();
                event.stop_propagation();
                input.set_value("");
                self.search(checkout, String::new());
            }
        }))
    }

    fn search(self, checkout: Checkout, typed: String) {
        self.0.set(typed.clone());
        let say = move || {
            // Only once the customer has stopped typing, and is still there.
            if self.0.try_get_untracked() != Some(typed) {
                return;
            }
            let found = match self.found(checkout) {
                0 => no_match(checkout, &self.0.get_untracked()),
                found => {
                    let found = checkout.number(&decimal(found));
                    [checkout.word("search").as_str(), ": ", &found].concat()
                }
            };
            checkout.say(found);
        };
        later(PAUSE_MS, say);
    }

    fn found(self, checkout: Checkout) -> u32 {
        let shown = checkout.shown();
        shown.map_or(0, |quotes| {
            quotes
                .iter()
                .map(|quote| u32::from(self.finds(quote)))
                .sum()
        })
    }

    fn nothing_found(self, checkout: Checkout) -> Node {
        live(move || {
            let typed = self.0.get();
            if typed.is_empty() || self.found(checkout) > 0 {
                return nothing();
            }
            paragraph(no_match(checkout, &typed))
        })
    }
}

fn no_match(checkout: Checkout, typed: &str) -> String {
    // Isolated (U+2068, U+2069): the sentence around it stays in order, whatever was typed.
    let typed = ["\u{2068}", typed, "\u{2069}"].concat();
    checkout.sentence("no_match", &[("text", &typed)])
}

fn is_found(typed: &str, quote: &Quote) -> bool {
    let elsewhere = network::known(&quote.network).map_or("", |network| network.names);
    let names = [
        quote.asset_name.as_str(),
        &quote.asset,
        &quote.network,
        &quote.crypto_code,
        elsewhere,
    ];
    finds(typed, &names)
}

fn input(event: &Event) -> Option<HtmlInputElement> {
    Some(event.target()?.unchecked_into())
}

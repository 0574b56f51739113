//! The search among many assets.

use florin_checkout_api::Quote;
use florin_money::Network;
use js_sys::Reflect;
use leptos::prelude::*;
use wasm_bindgen::{JsCast as _, JsValue};
use web_sys::{Event, HtmlInputElement};

use crate::browser::later;
use crate::format::networks::finds;
use crate::i18n::{I18n, use_i18n};
use crate::state::{Checkout, use_checkout};

/// More assets than fit a glance.
const MANY: usize = 10;
/// Pause in typing after which the number of assets that are left is announced.
const PAUSE_MS: i32 = 600;

#[component]
pub(super) fn SearchField(search: RwSignal<String>) -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let are_many = Memo::new(move |_| {
        let quotes = checkout.shown_quotes();
        quotes.is_some_and(|quotes| quotes.len() >= MANY)
    });
    let start = move |typed: String| {
        search.set(typed.clone());
        later(PAUSE_MS, move || announce_found(checkout, search, &typed));
    };
    // Escape empties the field; in an empty one it is left to the page around.
    let on_key = move |event: web_sys::KeyboardEvent| {
        let typed = input(&event).filter(|input| !input.value().is_empty());
        if let Some(input) = typed.filter(|_| is_escape(&event)) {
            event.prevent_default();
            event.stop_propagation();
            input.set_value("");
            start(String::new());
        }
    };
    let is_within = move || checkout.within.with(|row| !row.is_empty());
    move || {
        if !are_many.get() {
            search.set(String::new());
            return None;
        }
        Some(view! {
            <div class="find" hidden=is_within>
                <input
                    class="search"
                    part="input"
                    type="search"
                    aria-label=i18n.text("search")
                    placeholder=i18n.text("search")
                    autocomplete="off"
                    spellcheck="false"
                    maxlength="60"
                    dir="auto"
                    data-testid="search"
                    on:input=move |event| start(event_target_value(&event))
                    on:keydown=on_key
                />
                <NothingFound search=search />
            </div>
        })
    }
}

#[component]
fn NothingFound(search: RwSignal<String>) -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    move || {
        let typed = search.get();
        let is_nothing = !typed.is_empty() && count_found(checkout, &typed) == 0;
        is_nothing.then(|| view! { <p>{no_match(i18n, &typed)}</p> })
    }
}

pub(super) fn is_found(typed: &str, quote: &Quote) -> bool {
    let elsewhere = Network::of(&quote.network).map_or("", |network| network.names);
    let names = [
        quote.asset_name.as_str(),
        &quote.asset,
        &quote.network,
        &quote.crypto_code,
        elsewhere,
    ];
    finds(typed, &names)
}

/// Announces how many assets are left, unless the customer types on.
fn announce_found(checkout: Checkout, search: RwSignal<String>, typed: &str) {
    if search.try_get_untracked().as_deref() != Some(typed) {
        return;
    }
    let i18n = checkout.i18n;
    let found = match untrack(|| count_found(checkout, typed)) {
        0 => no_match(i18n, typed),
        found => format!(
            "{}: {}",
            i18n.text("search"),
            i18n.number(&found.to_string())
        ),
    };
    checkout.announce(found);
}

fn count_found(checkout: Checkout, typed: &str) -> usize {
    let quotes = checkout.shown_quotes();
    quotes.map_or(0, |quotes| {
        quotes.iter().filter(|quote| is_found(typed, quote)).count()
    })
}

fn no_match(i18n: I18n, typed: &str) -> String {
    // Isolated (U+2068, U+2069): the sentence around it stays in order, whatever was typed.
    let typed = format!("\u{2068}{typed}\u{2069}");
    i18n.text_with("no_match", &[("text", &typed)])
}

fn is_escape(event: &Event) -> bool {
    // A browser that fills fields in sends events of this name without a key.
    let key = Reflect::get(event, &JsValue::from_str("key"));
    key.is_ok_and(|key| key == "Escape")
}

fn input(event: &Event) -> Option<HtmlInputElement> {
    Some(event.target()?.unchecked_into())
}

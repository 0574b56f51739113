//! The amount of a donation: the one price that a customer names.

use std::sync::Arc;

use florin_checkout_api::DonationView;
use leptos::html::Input;
use leptos::prelude::*;

use crate::components::{Heading, Ltr, focus};
use crate::format::typed_amount::{Notation, Typed};
use crate::i18n::{I18n, use_i18n};
use crate::state::{Problem, use_checkout};

/// The amounts that the store suggests, and a field for any other.
#[component]
pub(super) fn Donation() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let donation = checkout.donation.get_untracked()?;
    let pressed = RwSignal::new(String::new());
    let suggested = donation.suggested.iter().map(|amount| {
        let price = i18n.money(amount.as_str(), &donation.currency);
        view! { <Suggestion amount=amount.as_str().to_owned() price=price pressed=pressed /> }
    });
    Some(view! {
        <div class="screen" data-testid="status-giving">
            <Heading text=i18n.text("give") />
            <p id="bounds">{with_bounds(i18n, "give_bounds", &donation)}</p>
            <div class="line amounts">{suggested.collect_view()}</div>
            <OtherAmount donation=Arc::clone(&donation) pressed=pressed />
        </div>
    })
}

#[component]
fn Suggestion(amount: String, price: String, pressed: RwSignal<String>) -> impl IntoView {
    let checkout = use_checkout();
    let amount: Arc<str> = amount.into();
    let test = format!("give-{amount}");
    let is_pressed = {
        let amount = Arc::clone(&amount);
        move || pressed.with(|pressed| **pressed == *amount)
    };
    let give = move |_| {
        pressed.set(amount.to_string());
        checkout.donate(&amount);
    };
    view! {
        <button
            type="button"
            class="secondary"
            part="button secondary"
            data-testid=test
            aria-pressed=move || if is_pressed() { "true" } else { "false" }
            aria-disabled=move || checkout.is_busy.get().then_some("true")
            on:click=give
        >
            <Ltr text=price />
        </button>
    }
}

/// The text of a key with the bounds in it: `Choose any amount between $2.00 and $500.00.`
fn with_bounds(i18n: I18n, key: &'static str, donation: &DonationView) -> String {
    // Isolated (U+2066, U+2069), so that no language around them reorders their signs.
    let isolated =
        |amount: &str| format!("\u{2066}{}\u{2069}", i18n.money(amount, &donation.currency));
    let (min, max) = (
        isolated(donation.min.as_str()),
        isolated(donation.max.as_str()),
    );
    i18n.text_with(key, &[("min", &min), ("max", &max)])
}

/// A field for any amount, with the currency's sign on the side where the language writes it.
#[component]
fn OtherAmount(donation: Arc<DonationView>, pressed: RwSignal<String>) -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let label = format!("{} ({})", i18n.text("give_other"), donation.currency);
    let sign = i18n.sign(&donation.currency);
    let field = NodeRef::<Input>::new();
    let notation = Notation::of(
        &i18n.money(Notation::SAMPLE, &donation.currency),
        donation.min.as_str(),
    );
    // No amount was typed: the proxy need not be asked.
    let is_nothing = RwSignal::new(false);
    let meanings = RwSignal::new(Vec::new());
    let is_refused = Memo::new(move |_| {
        let is_refused = checkout
            .problem
            .with(|problem| problem.as_ref().is_some_and(Problem::is_about_amount));
        is_refused || is_nothing.get()
    });
    let give = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        checkout.forget_press();
        let typed = field.get_untracked().map(|field| field.value());
        let typed = notation.read(&typed.unwrap_or_default());
        is_nothing.set(typed == Typed::Nothing);
        pressed.set(String::new());
        meanings.set(Vec::new());
        match typed {
            Typed::Amount(amount) => checkout.donate(&amount),
            Typed::Unclear(amounts) => meanings.set(amounts),
            Typed::Nothing => focus(checkout, String::from("#amount")),
        }
    };
    // Which amount was meant, where the text could be two.
    let currency = donation.currency.clone();
    let question = move || {
        let meanings = meanings.get();
        (!meanings.is_empty()).then(|| {
            let choices = meanings.into_iter().map(|amount| {
                let price = i18n.money(&amount, &currency);
                view! { <Suggestion amount=amount price=price pressed=pressed /> }
            });
            view! {
                <p>{i18n.text("give")}</p>
                <div class="line amounts">{choices.collect_view()}</div>
            }
        })
    };
    // The focus goes back to where the amount is corrected.
    let refusal = move || {
        if !is_refused.get() {
            return String::new();
        }
        focus(checkout, String::from("#amount"));
        with_bounds(i18n, "give_refused", &donation)
    };
    let is_leading = sign.leads;
    let sign = view! {
        <label for="amount" aria-hidden="true" data-testid="give-sign">
            {sign.sign}
        </label>
    };
    let input = view! {
        <input
            part="input"
            id="amount"
            inputmode="decimal"
            autocomplete="off"
            maxlength="20"
            aria-describedby="bounds slip"
            aria-invalid=move || is_refused.get().then_some("true")
            data-testid="give-other"
            node_ref=field
        />
    };
    let fields = if is_leading {
        (sign, input).into_any()
    } else {
        (input, sign).into_any()
    };
    view! {
        <form class="give" novalidate="" on:submit=give>
            <label for="amount">{label}</label>
            <div class="line">
                <div class="money" dir="ltr">
                    {fields}
                </div>
                <button
                    class="primary"
                    part="button primary"
                    data-testid="give-go"
                    aria-disabled=move || checkout.is_busy.get().then_some("true")
                >
                    {i18n.text("give_go")}
                </button>
            </div>
            <p class="slip" id="slip" role="alert" data-testid="give-error">
                {refusal}
            </p>
            <div role="alert" data-testid="give-meanings">
                {question}
            </div>
        </form>
    }
}

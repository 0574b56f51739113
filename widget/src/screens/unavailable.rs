//! Before there is an order: waiting for it, and what to do when it is unavailable.

use leptos::prelude::*;

use crate::browser::reload;
use crate::components::{Button, Heading, Look, problem_text};
use crate::i18n::use_i18n;
use crate::state::{Problem, use_checkout};

/// The order has not arrived yet.
#[component]
pub(super) fn Loading() -> impl IntoView {
    view! { <Placeholder test_id="status-loading" heading=use_i18n().text("loading") /> }
}

/// Grey bars in the place of a screen; its heading is for screen readers.
#[component]
pub(super) fn Placeholder(test_id: &'static str, heading: String) -> impl IntoView {
    let bars = ["bar wide", "bar", "bar", "bar", "bar"];
    view! {
        <div class="screen" data-testid=test_id aria-busy="true">
            <div class="unseen">
                <Heading text=heading />
            </div>
            {bars.map(|class| view! { <div class=class></div> }).to_vec()}
        </div>
    }
}

/// The order cannot be shown. A temporary problem is retried without a press.
#[component]
pub(super) fn Unavailable() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let reason = move || {
        let problem = checkout.problem.get().unwrap_or(Problem::Network);
        let (text, reference) = problem_text(i18n, &problem);
        checkout.announce(text.clone());
        view! {
            <p>{text}</p>
            {reference.map(|reference| view! { <p class="quiet">{reference}</p> })}
        }
    };
    let retry_in = move || match checkout.retry_in_seconds.get() {
        0 => String::new(),
        seconds => i18n.text_with("retrying", &[("in", &i18n.ahead(seconds))]),
    };
    let retry = move || match checkout.problem.get_untracked() {
        // Another version of this page helps; in a shop's page that is the shop's to load again.
        Some(Problem::Unreadable) if checkout.is_page() => reload(),
        _ => checkout.begin(),
    };
    view! {
        <div class="screen" data-testid="status-stopped">
            <Heading text=i18n.text("stopped") />
            {reason}
            <p>{i18n.text("nothing_lost")}</p>
            <div class="actions">
                <Button
                    look=Look::Primary
                    text=i18n.text("retry")
                    on_press=retry
                    test_id=Some("retry")
                />
                <p class="quiet" data-testid="retrying">
                    {retry_in}
                </p>
            </div>
        </div>
    }
}

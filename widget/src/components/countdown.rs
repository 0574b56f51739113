//! The time left: in whole minutes while there is plenty, then by the second.

use leptos::prelude::*;

use crate::format::time;
use crate::i18n::{I18n, use_i18n};
use crate::state::use_checkout;

#[component]
pub(crate) fn Countdown() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let seconds = checkout.seconds_left;
    view! {
        <p
            class="countdown"
            part="countdown"
            role="timer"
            aria-live="off"
            data-testid="countdown"
            data-urgent=move || time::is_urgent(seconds.get()).then_some("")
        >
            {move || words(i18n, seconds.get())}
        </p>
    }
}

fn words(i18n: I18n, seconds: u32) -> String {
    if seconds == 0 {
        return i18n.text("time_up");
    }
    let time = match time::held(seconds) {
        Some((number, unit)) => i18n.duration(number, unit),
        None => time::clock(seconds),
    };
    i18n.text_with("held", &[("time", &time)])
}

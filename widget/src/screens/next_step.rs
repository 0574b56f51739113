//! While the screens after the asset choice are being loaded, and when they do not come.

use leptos::prelude::*;

use super::load_payment_screens;
use super::unavailable::Placeholder;
use crate::browser::reload;
use crate::components::{Button, Heading, Look, focus_heading, is_screen_focused};
use crate::i18n::use_i18n;
use crate::state::{PaymentScreens, use_checkout};

/// Waits for the screens; they take the place of this one.
#[component]
pub(super) fn NextStep() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    // A further failure does not build the button anew, which may have the focus.
    let missing = Memo::new(move |_| match checkout.payment_screens.get() {
        PaymentScreens::OutOfDate => Some(true),
        state if state.failures() > 0 => Some(false),
        _ => None,
    });
    move || {
        // What has the focus goes away with this view: the next heading takes it.
        on_cleanup(move || {
            if is_screen_focused(checkout) {
                focus_heading(checkout);
            }
        });
        if let Some(is_out_of_date) = missing.get() {
            return view! { <Missing is_out_of_date=is_out_of_date /> }.into_any();
        }
        let heading = i18n.text("next_step_loading");
        view! { <Placeholder test_id="status-next_step" heading=heading /> }.into_any()
    }
}

/// What to do: the page of a version that is gone is loaded anew, anything else is tried again.
#[component]
fn Missing(is_out_of_date: bool) -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let (text, action) = if is_out_of_date {
        ("out_of_date", "reload")
    } else {
        ("next_step_failed", "retry")
    };
    let text = i18n.text(text);
    checkout.announce(text.clone());
    let loading = move || {
        let is_loading = matches!(checkout.payment_screens.get(), PaymentScreens::Loading(_));
        is_loading.then(|| i18n.text("next_step_loading"))
    };
    let act = move || {
        if is_out_of_date {
            reload();
        } else {
            load_payment_screens(checkout);
        }
    };
    view! {
        <div class="screen" data-testid="status-next_step">
            <Heading text=i18n.text("stopped") />
            <p>{text}</p>
            <p>{i18n.text("nothing_lost")}</p>
            <div class="actions">
                <Button
                    look=Look::Primary
                    text=i18n.text(action)
                    on_press=act
                    test_id=Some(action)
                />
                <p class="quiet" role="status">
                    {loading}
                </p>
            </div>
        </div>
    }
}

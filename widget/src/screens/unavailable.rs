//! Before there is an order, and while the screens after the asset choice are being loaded: waiting, and what to do when
//! they do not come.

use std::rc::Rc;

use florin_checkout_api::Status;
use leptos::html::Div;
use leptos::prelude::*;

use super::load_payment_screens;
use crate::browser::reload;
use crate::components::{
    Button, Heading, HelpLink, Look, ReturnLink, focus_heading, is_screen_focused, problem_text,
};
use crate::i18n::use_i18n;
use crate::state::phase::is_partly_paid;
use crate::state::{PaymentScreens, Problem, Shared, use_checkout};

#[component]
pub(super) fn Loading() -> impl IntoView {
    view! { <Placeholder test_id="status-loading" heading=use_i18n().text("loading") /> }
}

/// Grey bars in the place of a screen; its heading is for screen readers.
#[component]
fn Placeholder(test_id: &'static str, heading: String) -> impl IntoView {
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
    let retry_in = move || match checkout
        .shared()
        .map_or(0, |shared| shared.retry_in_seconds.get())
    {
        0 => String::new(),
        seconds => i18n.text_with("retrying", &[("in", &i18n.ahead(seconds))]),
    };
    let retry = move || match checkout.problem.get_untracked() {
        // Another version of this page helps; in a shop's page that is the shop's to load again.
        Some(Problem::Unreadable) if checkout.is_page() => reload(),
        _ => checkout.begin(),
    };
    // Where no order exists, nothing was paid.
    let nothing_lost = move || {
        let is_temporary = checkout
            .problem
            .with(|problem| problem.as_ref().is_none_or(Problem::is_temporary));
        let may_exist = |shared: Rc<Shared>| shared.host.may_exist();
        let exists =
            checkout.has_order() || is_temporary && checkout.shared().is_some_and(may_exist);
        exists.then(|| view! { <p>{i18n.text("nothing_lost")}</p> })
    };
    let reason = view! {
        {reason}
        {nothing_lost}
    };
    let remedy = view! {
        <Button look=Look::Primary text=i18n.text("retry") on_press=retry test_id=Some("retry") />
        <p class="quiet" data-testid="retrying">
            {retry_in}
        </p>
    };
    let (reason, remedy) = (reason.into_any(), remedy.into_any());
    view! { <Stopped test_id="status-stopped" reason=reason remedy=remedy /> }
}

/// What is wrong, what to do, and the ways to the shop.
#[component]
fn Stopped(test_id: &'static str, reason: AnyView, remedy: AnyView) -> impl IntoView {
    view! {
        <div class="screen" data-testid=test_id>
            <Heading text=use_i18n().text("stopped") />
            {reason}
            <div class="actions">
                {remedy} <ReturnLink look=Look::Plain />
                <HelpLink class="plain" part="button plain" />
            </div>
        </div>
    }
}

#[component]
pub(super) fn LoadingPayment() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    // A further failure does not build the button anew, which may have the focus.
    let missing = Memo::new(move |_| match checkout.payment_screens.get() {
        PaymentScreens::OutOfDate => Some(true),
        state if state.failures() > 0 => Some(false),
        _ => None,
    });
    let is_due = checkout.follow(|order, attempt| {
        order.status == Status::AwaitingPayment && !is_partly_paid(attempt)
    });
    move || {
        // What has the focus goes away with this view: the next heading takes it.
        on_cleanup(move || {
            if is_screen_focused(checkout) {
                focus_heading(checkout);
            }
        });
        let due = checkout.destination().filter(|_| is_due.get());
        let early = due.and_then(|due| checkout.shared()?.host.early_payment(&due));
        if let Some(screen) = early {
            let place = NodeRef::<Div>::new();
            place.on_load(move |place| {
                let _ = place.append_child(&screen);
            });
            return view! { <div class="early" node_ref=place></div> }.into_any();
        }
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
        if is_loading {
            i18n.text("next_step_loading")
        } else {
            String::new()
        }
    };
    let act = move || {
        if is_out_of_date {
            reload();
        } else {
            load_payment_screens(checkout);
        }
    };
    let reason = view! {
        <p>{text}</p>
        <p>{i18n.text("nothing_lost")}</p>
    };
    let remedy = view! {
        <Button look=Look::Primary text=i18n.text(action) on_press=act test_id=Some(action) />
        <p class="quiet" role="status">
            {loading}
        </p>
    };
    let (reason, remedy) = (reason.into_any(), remedy.into_any());
    view! { <Stopped test_id="status-next_step" reason=reason remedy=remedy /> }
}

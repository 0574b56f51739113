//! The root component: the order's summary, and beside it the screen of its phase.

mod banners;
mod summary;

use leptos::html::Div;
use leptos::prelude::*;

use self::banners::Banners;
use self::summary::Summary;
use crate::browser::{document, later};
use crate::components::{focus_heading, keyed, send_more};
use crate::i18n::use_i18n;
use crate::screens::{Screen, load_payment_screens};
use crate::state::phase::Phase;
use crate::state::{Checkout, use_checkout};

#[component]
pub(crate) fn App(checkout: Checkout) -> impl IntoView {
    provide_context(checkout);
    provide_context(checkout.i18n);
    let i18n = use_i18n();
    follow_state(checkout);
    let is_mounted = RwSignal::new(false);
    // Once what is shown first is on the screen.
    later(0, move || {
        let _ = is_mounted.try_set(true);
        load_payment_screens(checkout);
    });
    // A screen reader announces what changes in a live region, not what it begins with. The page's script announces there too.
    let region = NodeRef::<Div>::new();
    Effect::new(move |_| {
        let announcement = checkout.announcement.get();
        if let Some(region) = region.get().filter(|_| is_mounted.get()) {
            region.set_text_content(Some(&announcement));
        }
    });
    view! {
        <div class="florin" part="checkout" lang=i18n.locale() dir=i18n.direction()>
            <Summary />
            <section class="main" part="main" aria-label=i18n.text("payment")>
                <Banners />
                <CurrentScreen />
            </section>
            <div class="unseen" role="status" node_ref=region></div>
        </div>
    }
}

/// Keeps title, icon and history of the proxy's own page up to date: what is to be paid, then how it stands.
fn follow_state(checkout: Checkout) {
    let i18n = checkout.i18n;
    if !checkout.is_page() {
        return;
    }
    let is_sent = checkout.follow(|_, attempt| attempt.transaction_hint.is_some());
    // Its history and other tabs follow what is shown.
    Effect::new(move |_| {
        let phase = checkout.phase.get();
        let screen = match phase {
            Phase::Choosing => "list",
            phase if phase.is_first() => "",
            _ => "payment",
        };
        let can_be_paid = phase == Phase::Underpaid || icon(title_key(phase)).is_empty();
        let order = checkout.order.get().filter(|_| can_be_paid);
        if let Some(shared) = checkout.shared() {
            let order = order.as_ref().map_or("", |order| &order.id);
            shared.host.shows(screen, order);
        }
    });
    Effect::new(move |_| {
        let phase = checkout.phase.get();
        // Its texts are loaded with its screen.
        if phase == Phase::LoadingPayment {
            return;
        }
        let is_reverted = checkout
            .order
            .with(|order| order.as_ref().is_some_and(|order| order.reverted));
        let title = checkout.offer.with(|offer| {
            let offer = offer.as_ref()?;
            let store = offer.store.name.as_str();
            let price = i18n.money(offer.amount.as_str(), &offer.currency);
            let key = match title_key(phase) {
                _ if is_reverted => Some("payment_problem"),
                Some("checking") if is_sent.get() => Some("payment_sent"),
                key => key,
            };
            if let Some(shared) = checkout.shared() {
                shared.host.mark(icon(key));
            }
            if let Some(key) = key {
                let rest = checkout.order.with(|order| match phase {
                    Phase::Underpaid => send_more(i18n, order.as_deref()),
                    _ => None,
                });
                let state = rest.unwrap_or_else(|| i18n.text_with(key, &[("price", &price)]));
                let values = [("state", state.as_str()), ("store", store)];
                return Some(i18n.text_with("title_state", &values));
            }
            Some(i18n.text_with("title_pay", &[("store", store), ("price", &price)]))
        });
        if let Some(title) = title {
            document().set_title(&title);
        }
    });
}

/// Which icon goes with a state that has this key; the usual one while nothing has ended.
fn icon(key: Option<&str>) -> &'static str {
    match key {
        None | Some("checking" | "payment_sent" | "processing") => "",
        Some("paid_amount") => "paid",
        Some(_) => "problem",
    }
}

fn title_key(phase: Phase) -> Option<&'static str> {
    Some(match phase {
        Phase::Loading
        | Phase::LoadingPayment
        | Phase::Error
        | Phase::EnterAmount
        | Phase::Hosted
        | Phase::Choosing
        | Phase::Paying => return None,
        Phase::Checking => "checking",
        Phase::Processing => "processing",
        Phase::Paid | Phase::Overpaid => "paid_amount",
        Phase::Underpaid => "underpaid",
        Phase::Failed => "failed",
        Phase::Cancelled => "cancelled",
        Phase::NotReceived | Phase::Expired => "expired",
        Phase::Blocked => "blocked",
    })
}

/// The screen of the order's phase. It is built anew when the phase changes, or what is to be sent where: two attempts
/// may share an address.
#[component]
fn CurrentScreen() -> impl IntoView {
    let checkout = use_checkout();
    let key = Memo::new(move |_| (checkout.phase.get(), checkout.destination()));
    let mut has_arrived = false;
    keyed(key, move |(phase, _)| {
        // The page of the shop may have removed the element since.
        if checkout.is_removed() {
            return ().into_any();
        }
        let is_focused = has_arrived && focus_heading(checkout);
        checkout.announce_phase(phase, is_focused);
        has_arrived = has_arrived || !matches!(phase, Phase::Loading | Phase::LoadingPayment);
        view! { <Screen phase=phase /> }.into_any()
    })
}

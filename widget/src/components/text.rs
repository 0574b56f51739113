//! Headings, sentences, amounts, problems in the customer's words, and how fresh the order's state is.

use florin_checkout_api::{ErrorCode, OrderView};
use florin_money::trimmed;
use leptos::attr::custom::custom_attribute;
use leptos::prelude::*;

use crate::i18n::template::around;
use crate::i18n::{I18n, use_i18n};
use crate::state::phase::is_partly_paid;
use crate::state::{Problem, use_checkout};

/// The heading of a screen: it takes the focus when the screen appears. On a page without an order, whose title is the
/// first heading elsewhere, it is the first.
#[component]
pub(crate) fn Heading(#[prop(into)] text: String) -> impl IntoView {
    let checkout = use_checkout();
    let is_first = checkout.is_page() && !checkout.has_screen();
    let level = custom_attribute("aria-level", is_first.then_some("1"));
    view! {
        <h2 tabindex="-1" part="heading" {..level}>
            {text}
        </h2>
    }
}

/// A sentence with an element in its one gap, so that the language around it never reorders an amount.
#[component]
pub(crate) fn Sentence(key: &'static str, children: Children) -> impl IntoView {
    let whole = use_i18n().text(key);
    let (before, after) = around(&whole);
    view! { <p>{before.to_owned()}{children()}{after.to_owned()}</p> }
}

#[component]
pub(crate) fn Ltr(
    #[prop(into)] text: String,
    #[prop(optional)] class: Option<&'static str>,
    #[prop(optional)] test_id: Option<&'static str>,
) -> impl IntoView {
    view! {
        <bdi dir="ltr" class=class data-testid=test_id>
            {text}
        </bdi>
    }
}

/// `0.00030973 BTC`
pub(crate) fn coins(amount: &str, asset: &str) -> String {
    format!("{amount}\u{a0}{asset}")
}

/// A text in isolates (U+2066, U+2069), so that no language around it reorders its signs.
pub(crate) fn isolated(text: &str) -> String {
    format!("\u{2066}{text}\u{2069}")
}

/// `Send 0.00010973 BTC more`, once a part has arrived.
pub(crate) fn send_more(i18n: I18n, order: Option<&OrderView>) -> Option<String> {
    let attempt = order?.attempt.as_ref()?;
    let rest = trimmed(attempt.remaining_in_crypto.as_str());
    let rest = isolated(&coins(&rest, &attempt.asset));
    is_partly_paid(attempt).then(|| i18n.text_with("send_more", &[("amount", &rest)]))
}

pub(crate) fn problem_text(i18n: I18n, problem: &Problem) -> (String, Option<String>) {
    let body = match problem {
        Problem::Network => return (i18n.text("no_network"), None),
        Problem::Unreadable => return (i18n.text("unreadable"), None),
        Problem::Refused(body) => body,
    };
    let text = match body.code {
        Some(ErrorCode::NotFound) => i18n.text("gone"),
        Some(ErrorCode::RateLimited) => i18n.text("too_often"),
        Some(ErrorCode::GatewayUnavailable | ErrorCode::StorageUnavailable) => {
            i18n.text("service_busy")
        }
        Some(ErrorCode::QuoteExpired) => i18n.text("price_moved"),
        Some(ErrorCode::AmountOutOfRange | ErrorCode::AssetUnavailable) => i18n.text("asset_gone"),
        Some(ErrorCode::CurrencyUnavailable) => i18n.text("currency_unavailable"),
        Some(ErrorCode::AttemptInProgress | ErrorCode::RequestInProgress) => {
            i18n.text("in_progress")
        }
        Some(ErrorCode::OrderClosed) => i18n.text("closed"),
        // The rest are mistakes of the shop or of Florin: the proxy's message helps support.
        _ => body.message.clone(),
    };
    let reference = body
        .request_id
        .as_ref()
        .map(|id| i18n.text_with("request", &[("id", id)]));
    (text, reference)
}

/// A line that ticks; a screen reader reads it only on its own.
#[component]
pub(crate) fn CheckedAgo() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let is_known = checkout.follow(|order, _| order.checked_seconds_ago.is_some());
    let text = move || {
        let ago = i18n.ago(checkout.checked_seconds_ago.get());
        i18n.text_with("checked", &[("ago", &ago)])
    };
    move || {
        is_known.get().then(|| {
            view! {
                <p class="quiet" data-testid="checked">
                    {text}
                </p>
            }
        })
    }
}

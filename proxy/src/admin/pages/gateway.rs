//! The state of the gateway and of the polls.

use std::sync::Arc;

use axum::extract::State;
use maud::{Markup, html};

use crate::admin::conditions::MAX_LAG;
use crate::admin::error::PageError;
use crate::admin::pages::layout;
use crate::admin::pages::sign_in::SignedInOperator;
use crate::admin::pages::viewer::SignedIn as _;
use crate::clock::MAX_SKEW;
use crate::payments::currencies::Currencies;
use crate::state::AppState;

pub(crate) async fn page(
    State(app): State<Arc<AppState>>,
    operator: SignedInOperator,
) -> Result<Markup, PageError> {
    let health = app.deps.gateway.health();
    let pace = app.polling_pace();
    let currencies = match app.currencies() {
        Currencies::Compared {
            at,
            unknown,
            not_offered,
        } => html! {
            "compared at " (layout::time(at)) " UTC; " (unknown.len()) " unknown here, "
            (not_offered.len()) " not offered there"
        },
        Currencies::NotAsked | Currencies::NotKnown => html! { "not compared yet" },
    };
    let is_away = app.gateway_unavailable();
    let content = html! {
        dl.facts.wide {
            (fact("Responses", !is_away, &html! { @if is_away { "no" } @else { "yes" } },
                "Whether the latest calls were answered. While they are not, customers see that payments are found later."))
            (fact("Circuit", !health.is_circuit_open, &html! { @if health.is_circuit_open { "open" } @else { "closed" } },
                "Open after repeated failures: single calls probe the gateway, all others wait."))
            (fact("Pause", health.pause.is_zero(), &html! { (health.pause.as_secs()) " s" },
                "What is left of the pause that the gateway asked for with Retry-After."))
            (fact("Budget", true, &html! { (health.requests_per_minute) " calls per minute" },
                "The present rate limit: halved when the gateway answers 429, restored slowly."))
            (fact("Key", !health.is_key_rejected,
                &html! { @if health.is_key_rejected { "rejected" } @else { "accepted" } },
                "Whether the gateway accepts gateway.api_key and gateway.api_secret, by the last call whose key it checked."))
            (fact("Clock", health.skew.is_none_or(|skew| skew.abs() <= MAX_SKEW),
                &html! { @if let Some(skew) = health.skew { (skew.as_secs()) " s ahead of ours" } @else { "not known yet" } },
                "The gateway's clock by its responses. Set this machine's clock by NTP if they differ by more than 2 s."))
            (fact("Poll lag", pace.lag <= MAX_LAG, &html! { (pace.lag.as_secs()) " s" },
                "How late the longest waiting poll is."))
            (fact("Poll stretch", pace.stretch.percent() <= 100, &html! { (pace.stretch.percent()) " %" },
                "100 % is as planned. More: the gateway's limits do not allow all polls."))
            (fact("Currencies", true, &currencies, "The gateway's list, compared with what this version knows."))
        }
        p { "More in " a href="/health/ready" { "/health/ready" } " and " a href="/metrics" { "/metrics" } "." }
    };
    Ok(layout::page(
        &operator.viewer(),
        "/gateway",
        "Gateway",
        &content,
    ))
}

fn fact(name: &str, is_good: bool, value: &Markup, meaning: &str) -> Markup {
    html! {
        div {
            dt { (name) }
            dd {
                strong { (value) }
                @if !is_good { " " span.badge.bad { "look at this" } }
                span.muted.sub { (meaning) }
            }
        }
    }
}

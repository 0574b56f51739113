//! The proxy: the state of the gateway and of the polls, and the configuration as it is in force, with every key of the
//! reference. Of secrets it shows only whether they are set.

use std::sync::Arc;

use axum::extract::State;
use maud::{Markup, html};

use crate::admin::attention::MAX_LAG;
use crate::admin::error::PageError;
use crate::admin::pages::layout;
use crate::admin::pages::sign_in::SignedInOperator;
use crate::admin::pages::viewer::SignedIn as _;
use crate::clock::MAX_SKEW;
use crate::config::{Config, Setting};
use crate::payments::currencies::Currencies;
use crate::state::AppState;

pub(crate) async fn gateway(
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

type Line = (String, String);

pub(crate) async fn configuration(
    State(app): State<Arc<AppState>>,
    operator: SignedInOperator,
) -> Markup {
    let config = app.config();
    let content = html! {
        p {
            "As it was read at the start or by the last reload. Secrets are not shown: " em { "set" }
            " means that there is one."
        }
        (section("Proxy", &proxy(&config)))
        @for store in &config.stores {
            (section(&format!("Store {}", store.id), &below(&config, &format!("store.{}.", store.id))))
        }
        (section("Operators", &below(&config, "operator.")))
    };
    layout::page(
        &operator.viewer(),
        "/configuration",
        "Configuration",
        &content,
    )
}

fn section(name: &str, lines: &[Line]) -> Markup {
    html! {
        section.card {
            h2 { (name) }
            dl.facts {
                @for (key, value) in lines {
                    div { dt { code { (key) } } dd { (value) } }
                }
            }
        }
    }
}

/// The keys outside stores and operators. What follows from other keys is shown as it is in force.
fn proxy(config: &Config) -> Vec<Line> {
    let is_of_proxy = |setting: &&Setting| {
        !setting.key.starts_with("store.") && !setting.key.starts_with("operator.")
    };
    let settings = config.settings.iter().filter(is_of_proxy);
    let value = |setting: &Setting| match setting.key.as_str() {
        "listen" => config.listen.to_string(),
        "admin_listen" => config.admin_listen.to_string(),
        "public_url" => config.public_url.base().to_owned(),
        // The address of a server has a password.
        "database_url" if florin_storage::is_postgres(&config.database_url) => {
            "PostgreSQL".to_owned()
        }
        "database_url" => (*config.database_url).to_owned(),
        _ => setting.value.to_string(),
    };
    settings
        .map(|setting| (setting.key.clone(), value(setting)))
        .collect()
}

fn below(config: &Config, prefix: &str) -> Vec<Line> {
    let settings = config.settings.iter();
    settings
        .filter_map(|setting| {
            let key = setting.key.strip_prefix(prefix)?;
            Some((key.to_owned(), setting.value.to_string()))
        })
        .collect()
}

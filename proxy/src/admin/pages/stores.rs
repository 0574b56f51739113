//! Stores and their webhooks; the gateway, the polls, and the configuration.

use std::sync::Arc;

use axum::Extension;
use axum::extract::rejection::FormRejection;
use axum::extract::{Form, Path, State};
use axum::response::Redirect;
use florin_orders::StoreId;
use florin_storage::AuditAction;
use maud::{Markup, html};

use crate::admin::PageError;
use crate::admin::api::{record, test_as};
use crate::admin::attention::MAX_LAG;
use crate::admin::pages::{self, CsrfForm, Place, Viewer};
use crate::clock::MAX_SKEW;
use crate::config::{Config, Origin, Role, Setting, Store};
use crate::state::AppState;
use crate::webhooks::SendOutcome;

pub(crate) async fn page(
    State(app): State<Arc<AppState>>,
    Extension(viewer): Extension<Viewer>,
) -> Result<Markup, PageError> {
    stores(&app, &viewer, None).await
}

async fn stores(
    app: &AppState,
    viewer: &Viewer,
    tested: Option<(&StoreId, &SendOutcome)>,
) -> Result<Markup, PageError> {
    let config = app.config();
    let mut cards = Vec::new();
    for store in viewer.stores(&config) {
        let status = app.storage.endpoint_status(&store.id).await?;
        let result = tested.filter(|(id, _)| **id == store.id);
        let gone = status.gone.map(|gone| gone.since);
        cards.push(html! {
            article.card aria-labelledby={ "store-" (store.id) } {
                div.title {
                    h2 id={ "store-" (store.id) } { (store.name) }
                    span.muted { (store.id) }
                    @if viewer.sees_all() {
                        a href={ (viewer.base()) "/orders?store=" (store.id) } { "Orders" }
                    }
                }
                dl.facts {
                    div { dt { "Currency" } dd { (store.currency) } }
                    div { dt { "Webhook" } dd { (address(store)) } }
                    div { dt { "Pending events" } dd { (status.waiting) } }
                    @if let Some(since) = gone {
                        div { dt { "Disabled since" } dd { (pages::time(since)) } }
                    }
                }
                @if let Some((_, sent)) = result {
                    @let is_accepted = sent.http_status().is_some_and(|status| (200..300).contains(&status));
                    p class={ "notice " (if is_accepted { "good" } else { "bad" }) } role="status" {
                        "Test event: " (sent.note())
                    }
                }
                @if viewer.role == Role::Write && store.webhook.is_some() {
                    div.buttons {
                        (button(viewer, &store.id, "test", "Send a test event"))
                        @if gone.is_some() { (button(viewer, &store.id, "enable", "Enable the webhook")) }
                    }
                }
            }
        });
    }
    let content = html! { @for card in &cards { (card) } };
    let title = match viewer.place {
        Place::Operator => "Stores",
        Place::Staff => "Webhook",
    };
    Ok(pages::page(viewer, "/stores", title, &content))
}

/// The webhook without its path, which may be a secret of the store.
fn address(store: &Store) -> String {
    match &store.webhook {
        Some(webhook) => Origin::of(&webhook.url).as_str().to_owned(),
        None => "none: the store reads its events by GET /v1/events".to_owned(),
    }
}

fn button(viewer: &Viewer, store: &StoreId, action: &str, name: &str) -> Markup {
    html! {
        form.inline method="post" action={ (viewer.base()) "/stores/" (store) "/" (action) } {
            input type="hidden" name="csrf" value=(viewer.csrf);
            button.plain type="submit" { (name) }
        }
    }
}

/// POST /stores/{id}/test: sends a test event and shows what the store responded.
pub(crate) async fn test(
    State(app): State<Arc<AppState>>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
    form: Result<Form<CsrfForm>, FormRejection>,
) -> Result<Markup, PageError> {
    let Form(form) = form?;
    viewer.check_form(&form.csrf)?;
    let id = viewer.store(&app.config(), &id)?.id.clone();
    let sent = test_as(&app, viewer.actor.clone(), id.as_str()).await?;
    stores(&app, &viewer, Some((&id, &sent))).await
}

/// POST /stores/{id}/enable: enables a webhook that answered 410.
pub(crate) async fn enable(
    State(app): State<Arc<AppState>>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
    form: Result<Form<CsrfForm>, FormRejection>,
) -> Result<Redirect, PageError> {
    let Form(form) = form?;
    viewer.check_form(&form.csrf)?;
    let id = viewer.store(&app.config(), &id)?.id.clone();
    let base = viewer.base();
    record(
        &app,
        viewer.actor,
        AuditAction::EnableWebhook,
        id.to_string(),
    )
    .await?;
    if app.storage.enable_endpoint(&id, app.now()).await? {
        tracing::info!(store = %id, "a person enabled a webhook: events are sent again");
        app.dispatcher_wakeup.send_replace(());
    }
    Ok(Redirect::to(&format!("{base}/stores")))
}

// The proxy: the state of the gateway and of the polls, and the configuration as it is in force, with every key of the
// reference. Of secrets it shows only whether they are set.

pub(crate) async fn gateway(
    State(app): State<Arc<AppState>>,
    Extension(viewer): Extension<Viewer>,
) -> Result<Markup, PageError> {
    let health = app.gateway.health();
    let pace = app.polling_pace();
    let compared = app.currencies.lock().clone();
    let currencies = html! {
        @if let Some(found) = &compared {
            "compared at " (pages::time(found.at)) "; " (found.unknown.len()) " unknown here, "
            (found.not_offered.len()) " not offered there"
        } @else { "not compared yet" }
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
    Ok(pages::page(&viewer, "/gateway", "Gateway", &content))
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
    Extension(viewer): Extension<Viewer>,
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
    pages::page(&viewer, "/configuration", "Configuration", &content)
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

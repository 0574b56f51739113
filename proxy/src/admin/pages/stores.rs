//! Stores and their webhooks; the gateway, the polls, and the configuration.

use std::sync::Arc;

use axum::Extension;
use axum::extract::rejection::FormRejection;
use axum::extract::{Form, Path, State};
use axum::response::Redirect;
use florin_orders::WebhookId;
use florin_storage::{AuditAction, Endpoint};
use maud::{Markup, html};

use crate::admin::api::{record, test_as};
use crate::admin::attention::MAX_LAG;
use crate::admin::pages::{self, CsrfForm, Place, Viewer};
use crate::admin::{OperatorError, PageError};
use crate::clock::MAX_SKEW;
use crate::config::{Config, Origin, Role, Setting};
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
    tested: Option<&(Endpoint, SendOutcome)>,
) -> Result<Markup, PageError> {
    let config = app.config();
    let mut cards = Vec::new();
    for store in viewer.stores(&config) {
        let mut webhooks = Vec::new();
        for webhook in &store.webhooks {
            webhooks.push((webhook, app.storage.endpoint_status(&webhook.key).await?));
        }
        cards.push(html! {
            article.card aria-labelledby={ "store-" (store.id) } {
                div.title {
                    h2 id={ "store-" (store.id) } { (store.name) }
                    span.muted { (store.id) }
                    @if viewer.sees_all() {
                        a href={ (viewer.base()) "/orders?store=" (store.id) } { "Orders" }
                    }
                }
                p { "Currency " (store.currency) }
                @if webhooks.is_empty() { p { "No webhook: the store reads its events by GET /v1/events." } }
                @for (webhook, status) in &webhooks {
                    @let gone = status.gone.map(|gone| gone.since);
                    dl.facts {
                        div { dt { "Webhook " (webhook.key.webhook) } dd { (Origin::of(&webhook.url).as_str()) } }
                        div { dt { "Events" } dd { (webhook.events.as_ref().map_or("all".to_owned(), |them| them.join(", "))) } }
                        div { dt { "Pending events" } dd { (status.waiting) } }
                        @if let Some(since) = gone {
                            div { dt { "Disabled since" } dd { (pages::time(since)) } }
                        }
                    }
                    @if let Some((_, sent)) = tested.filter(|(key, _)| *key == webhook.key) {
                        @let is_accepted = sent.http_status().is_some_and(|status| (200..300).contains(&status));
                        p class={ "notice " (if is_accepted { "good" } else { "bad" }) } role="status" {
                            "Test event: " (sent.note())
                        }
                    }
                    @if viewer.role == Role::Write {
                        div.buttons {
                            (button(viewer, &webhook.key, "test", "Send a test event"))
                            @if gone.is_some() { (button(viewer, &webhook.key, "enable", "Enable the webhook")) }
                        }
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

fn button(viewer: &Viewer, of: &Endpoint, action: &str, name: &str) -> Markup {
    html! {
        form.inline method="post" action={ (viewer.base()) "/stores/" (of.store) "/" (of.webhook) "/" (action) } {
            input type="hidden" name="csrf" value=(viewer.csrf);
            button.plain type="submit" { (name) }
        }
    }
}

pub(crate) async fn test(
    State(app): State<Arc<AppState>>,
    Extension(viewer): Extension<Viewer>,
    Path((id, webhook)): Path<(String, String)>,
    form: Result<Form<CsrfForm>, FormRejection>,
) -> Result<Markup, PageError> {
    let Form(form) = form?;
    viewer.check_form(&form.csrf)?;
    let tested = test_as(&app, viewer.actor.clone(), &id, &webhook).await?;
    stores(&app, &viewer, Some(&tested)).await
}

pub(crate) async fn enable(
    State(app): State<Arc<AppState>>,
    Extension(viewer): Extension<Viewer>,
    Path((id, webhook)): Path<(String, String)>,
    form: Result<Form<CsrfForm>, FormRejection>,
) -> Result<Redirect, PageError> {
    let Form(form) = form?;
    viewer.check_form(&form.csrf)?;
    let store = viewer.store(&app.config(), &id)?.id.clone();
    let webhook = WebhookId::parse(&webhook).map_err(|_| OperatorError::NotFound("webhook"))?;
    let base = viewer.base();
    record(
        &app,
        viewer.actor,
        AuditAction::EnableWebhook,
        store.to_string(),
    )
    .await?;
    let endpoint = Endpoint { store, webhook };
    if app.storage.enable_endpoint(&endpoint, app.now()).await? {
        tracing::info!(store = %endpoint.store, webhook = %endpoint.webhook, "a person enabled a webhook: events are sent again");
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

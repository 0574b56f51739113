//! Stores and their webhooks.

use std::sync::Arc;

use axum::extract::rejection::FormRejection;
use axum::extract::{Form, Path, State};
use axum::response::Redirect;
use florin_orders::StoreId;
use florin_storage::AuditAction;
use maud::{Markup, html};
use serde::Deserialize;

use crate::admin::api::deliveries::{outcome, record, test_as};
use crate::admin::error::OperatorError;
use crate::admin::pages::error::PageError;
use crate::admin::pages::layout;
use crate::admin::pages::signed_in::SignedIn;
use crate::config::{Origin, Role, Store};
use crate::state::AppState;

/// GET /stores.
pub(crate) async fn page(
    State(app): State<Arc<AppState>>,
    operator: SignedIn,
) -> Result<Markup, PageError> {
    stores(&app, &operator, None).await
}

/// All stores, with the outcome of a test.
async fn stores(
    app: &AppState,
    operator: &SignedIn,
    tested: Option<(&StoreId, Option<u16>, &str)>,
) -> Result<Markup, PageError> {
    let config = app.config();
    let mut cards = Vec::with_capacity(config.stores.len());
    for store in &config.stores {
        let status = app.deps.storage.endpoint_status(&store.id).await?;
        let result = tested.filter(|(id, _, _)| **id == store.id);
        let gone = status.gone.map(|gone| gone.since);
        cards.push(html! {
            article.card aria-labelledby={ "store-" (store.id) } {
                div.title {
                    h2 id={ "store-" (store.id) } { (store.name) }
                    span.muted { (store.id) }
                    a href={ "/orders?store=" (store.id) } { "Orders" }
                }
                dl.facts {
                    div { dt { "Currency" } dd { (store.currency) } }
                    div { dt { "Webhook" } dd { (address(store)) } }
                    div { dt { "Events that wait" } dd { (status.waiting) } }
                    @if let Some(since) = gone {
                        div { dt { "Disabled since, UTC" } dd { (layout::time(since)) } }
                    }
                }
                @if let Some((_, status, message)) = result {
                    @let is_accepted = status.is_some_and(|status| (200..300).contains(&status));
                    p class={ "notice " (if is_accepted { "good" } else { "bad" }) } role="status" {
                        "Test event: " (message)
                    }
                }
                @if operator.role == Role::Write && store.webhook.is_some() {
                    div.buttons {
                        (button(operator, &store.id, "test", "Send a test event"))
                        @if gone.is_some() { (button(operator, &store.id, "enable", "Enable the webhook")) }
                    }
                }
            }
        });
    }
    let content = html! { @for card in &cards { (card) } };
    Ok(layout::page(operator, "/stores", "Stores", &content))
}

/// The webhook without its path, which may be a secret of the store.
fn address(store: &Store) -> String {
    match &store.webhook {
        Some(webhook) => Origin::of(&webhook.url).as_str().to_owned(),
        None => "none: the store reads its events by GET /v1/events".to_owned(),
    }
}

fn button(operator: &SignedIn, store: &StoreId, action: &str, name: &str) -> Markup {
    html! {
        form.inline method="post" action={ "/stores/" (store) "/" (action) } {
            input type="hidden" name="csrf" value=(operator.csrf);
            button.plain type="submit" { (name) }
        }
    }
}

/// A form with nothing but its token.
#[derive(Deserialize)]
pub(crate) struct StoreForm {
    csrf: String,
}

/// POST /stores/{id}/test: sends a test event and shows what the store responded.
pub(crate) async fn test(
    State(app): State<Arc<AppState>>,
    operator: SignedIn,
    Path(id): Path<String>,
    form: Result<Form<StoreForm>, FormRejection>,
) -> Result<Markup, PageError> {
    let Form(form) = form?;
    operator.check_form(&form.csrf)?;
    let sent = test_as(&app, operator.name.clone(), &id).await?;
    let (status, message) = outcome(&sent);
    let id = StoreId::parse(&id).map_err(|_| OperatorError::NotFound("store"))?;
    stores(&app, &operator, Some((&id, status, &message))).await
}

/// POST /stores/{id}/enable: enables a webhook that answered 410.
pub(crate) async fn enable(
    State(app): State<Arc<AppState>>,
    operator: SignedIn,
    Path(id): Path<String>,
    form: Result<Form<StoreForm>, FormRejection>,
) -> Result<Redirect, PageError> {
    let Form(form) = form?;
    operator.check_form(&form.csrf)?;
    let id = StoreId::parse(&id).map_err(|_| OperatorError::NotFound("store"))?;
    if app.config().store(&id).is_none() {
        return Err(OperatorError::NotFound("store").into());
    }
    record(
        &app,
        operator.name,
        AuditAction::EnableWebhook,
        id.to_string(),
    )
    .await?;
    if app.deps.storage.enable_endpoint(&id, app.now()).await? {
        tracing::info!(store = %id, "an operator enabled a webhook: events are sent again");
        app.dispatcher_wakeup.send_replace(());
    }
    Ok(Redirect::to("/stores"))
}

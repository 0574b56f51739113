//! Stores and their webhooks.

use std::sync::Arc;

use axum::extract::rejection::FormRejection;
use axum::extract::{Form, Path, State};
use axum::response::Redirect;
use florin_orders::StoreId;
use florin_storage::AuditAction;
use maud::{Markup, html};

use crate::admin::api::deliveries::{outcome, record, test_as};
use crate::admin::error::PageError;
use crate::admin::pages::layout;
use crate::admin::pages::viewer::{CsrfForm, Place, SignedIn, Viewer};
use crate::config::{Origin, Role, Store};
use crate::state::AppState;

pub(crate) async fn page<V: SignedIn>(
    State(app): State<Arc<AppState>>,
    visitor: V,
) -> Result<Markup, PageError> {
    stores(&app, &visitor.viewer(), None).await
}

async fn stores(
    app: &AppState,
    viewer: &Viewer,
    tested: Option<(&StoreId, Option<u16>, &str)>,
) -> Result<Markup, PageError> {
    let config = app.config();
    let mut cards = Vec::new();
    for store in viewer.stores(&config) {
        let status = app.deps.storage.endpoint_status(&store.id).await?;
        let result = tested.filter(|(id, _, _)| **id == store.id);
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
    Ok(layout::page(viewer, "/stores", title, &content))
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
pub(crate) async fn test<V: SignedIn>(
    State(app): State<Arc<AppState>>,
    visitor: V,
    Path(id): Path<String>,
    form: Result<Form<CsrfForm>, FormRejection>,
) -> Result<Markup, PageError> {
    let viewer = visitor.viewer();
    let Form(form) = form?;
    viewer.check_form(&form.csrf)?;
    let id = viewer.store(&app.config(), &id)?.id.clone();
    let sent = test_as(&app, viewer.actor.clone(), id.as_str()).await?;
    let (status, message) = outcome(&sent);
    stores(&app, &viewer, Some((&id, status, &message))).await
}

/// POST /stores/{id}/enable: enables a webhook that answered 410.
pub(crate) async fn enable<V: SignedIn>(
    State(app): State<Arc<AppState>>,
    visitor: V,
    Path(id): Path<String>,
    form: Result<Form<CsrfForm>, FormRejection>,
) -> Result<Redirect, PageError> {
    let viewer = visitor.viewer();
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
    if app.deps.storage.enable_endpoint(&id, app.now()).await? {
        tracing::info!(store = %id, "a person enabled a webhook: events are sent again");
        app.dispatcher_wakeup.send_replace(());
    }
    Ok(Redirect::to(&format!("{base}/stores")))
}

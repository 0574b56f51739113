//! The configuration as it is in force. Each key is named here: what is not named is not shown, and of secrets only whether
//! they are set.

use std::sync::Arc;

use axum::extract::State;
use maud::{Markup, html};

use crate::admin::pages::layout;
use crate::admin::pages::signed_in::SignedIn;
use crate::config::{Origin, Role, Store};
use crate::state::AppState;

/// A key and its value.
type Line = (String, String);

/// GET /configuration.
pub(crate) async fn page(State(app): State<Arc<AppState>>, operator: SignedIn) -> Markup {
    let config = &app.config;
    let content = html! {
        p { "As it was read at the start. Secrets are not shown: " em { "set" } " means that there is one." }
        (section("Proxy", &proxy(&app)))
        @for store in &config.stores {
            (section(&format!("Store {}", store.id), &of_store(store)))
        }
        (section("Operators", &operators(&app)))
    };
    layout::page(&operator, "/configuration", "Configuration", &content)
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

fn line(key: &str, value: &(impl ToString + ?Sized)) -> Line {
    (key.to_owned(), value.to_string())
}

fn set(is_set: bool) -> &'static str {
    if is_set { "set" } else { "not set" }
}

fn list<T: ToString>(values: impl IntoIterator<Item = T>) -> String {
    let values: Vec<String> = values.into_iter().map(|value| value.to_string()).collect();
    if values.is_empty() {
        return "none".to_owned();
    }
    values.join(", ")
}

fn proxy(app: &AppState) -> Vec<Line> {
    let config = &app.config;
    // The address of a server has a password.
    let database = if florin_storage::is_postgres(&config.database_url) {
        "PostgreSQL".to_owned()
    } else {
        (*config.database_url).to_owned()
    };
    vec![
        line("environment", config.environment.as_str()),
        line("listen", &config.listen),
        line("admin_listen", &config.admin_listen),
        line("public_url", config.public_url.base()),
        line("database_url", &database),
        line("roles", &config.roles),
        line("log", &config.log),
        line("trusted_proxies", &list(&config.trusted_proxies)),
        line("gateway.url", Origin::of(&config.gateway.url).as_str()),
        line("gateway.api_secret", set(true)),
        line("gateway.callback_token", set(true)),
        line(
            "rate_limit.orders_per_minute_per_ip",
            &config.rate_limit.orders_per_minute_per_ip,
        ),
        line(
            "rate_limit.connections_per_ip",
            &config.rate_limit.connections_per_ip,
        ),
    ]
}

fn of_store(store: &Store) -> Vec<Line> {
    let webhook = store.webhook.as_ref();
    let keys = store.token_keys.iter().map(|key| &key.kid);
    vec![
        line("name", &store.name),
        line("currency", &store.currency),
        line("origins", &list(store.origins.iter().map(Origin::as_str))),
        line("secret_key", set(store.secret_key.is_some())),
        line("token_keys", &list(keys)),
        // The path may be a secret of the store.
        line(
            "webhook.url",
            &webhook.map_or("not set".to_owned(), |webhook| {
                Origin::of(&webhook.url).as_str().to_owned()
            }),
        ),
        line("webhook.secret", set(webhook.is_some())),
    ]
}

fn operators(app: &AppState) -> Vec<Line> {
    let operators = app.config.operators.iter();
    operators
        .map(|operator| {
            let role = match operator.role {
                Role::Read => "read",
                Role::Write => "write",
            };
            let password = set(operator.password_hash.is_some());
            let token = set(operator.token.is_some());
            line(
                &operator.name,
                &format!("role {role}, password {password}, token {token}"),
            )
        })
        .collect()
}

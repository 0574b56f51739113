//! The configuration as it is in force: every key of the reference, and of secrets only whether they are set.

use std::sync::Arc;

use axum::extract::State;
use maud::{Markup, html};

use crate::admin::pages::layout;
use crate::admin::pages::sign_in::SignedInOperator;
use crate::admin::pages::viewer::SignedIn as _;
use crate::config::{Config, Setting};
use crate::state::AppState;

type Line = (String, String);

pub(crate) async fn page(State(app): State<Arc<AppState>>, operator: SignedInOperator) -> Markup {
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

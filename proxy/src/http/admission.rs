//! GET /admission.js: whether a store lets pages show its checkout, and what to change, for the diagnostics of the element.
//!
//! It is a script and not JSON, because a page whose policy lets in the loader lets in this script too. Nothing of it is secret:
//! the page in a frame names the same origins in its own policy.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::config::{Config, Store};
use crate::http::checkout_page::named;
use crate::http::openapi::information::FILES;
use crate::http::openapi::operation::{Auth, Operation};
use crate::http::openapi::types::Types;
use crate::http::static_files::file::public;
use crate::state::AppState;

/// Pages beyond these are not answered: a page is rarely in more than two frames.
const MAX_PAGES: usize = 10;

/// Which store, and which pages.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct AdmissionQuery {
    /// The store's id; may be left out while the proxy has one store.
    store: Option<String>,
    /// The origins of a page and of the pages around it, with spaces between them.
    #[serde(default)]
    pages: String,
}

#[derive(Debug, PartialEq, Serialize)]
struct Admission<'a> {
    /// The address from which `florin.js` is to be loaded, without a slash at its end.
    public_url: &'a str,
    /// The store's id; `null` if there is no such store.
    store: Option<&'a str>,
    /// Of each page in turn.
    pages: Vec<PageState>,
    /// The store's key `origins` as it has to be for all pages that can be listed; empty without a store.
    line: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum PageState {
    /// Its origin is one of the store's, or the proxy's.
    Listed,
    Unlisted,
    /// Its origin is refused in `origins`.
    Unencrypted,
}

impl<'a> Admission<'a> {
    fn of(config: &'a Config, query: &AdmissionQuery) -> Self {
        let store = named(&config.stores, query.store.as_deref());
        let own = config.public_url.origin();
        let mut unlisted = Vec::new();
        let mut pages = Vec::new();
        for page in query.pages.split_ascii_whitespace().take(MAX_PAGES) {
            let is_listed = store.is_some_and(|store| store.lists_origin(page));
            let can_be_listed = store.is_none_or(|store| store.origins_with(&[page]).is_ok());
            pages.push(if is_listed || page == own.as_str() {
                PageState::Listed
            } else if can_be_listed {
                unlisted.push(page);
                PageState::Unlisted
            } else {
                PageState::Unencrypted
            });
        }
        let line = |store: &Store| store.origins_with(&unlisted).ok();
        Self {
            public_url: config.public_url.base(),
            store: store.map(|store| store.id.as_str()),
            pages,
            line: store.and_then(line).unwrap_or_default(),
        }
    }
}

pub(crate) async fn admission(
    State(app): State<Arc<AppState>>,
    Query(query): Query<AdmissionQuery>,
) -> Response {
    let config = app.config();
    let admission = json!(Admission::of(&config, &query));
    let headers = [
        (CONTENT_TYPE, "text/javascript; charset=utf-8"),
        (CACHE_CONTROL, "no-store"),
    ];
    public((headers, format!("export default {admission};\n")).into_response())
}

pub(crate) fn describe_admission(types: &mut Types) -> Operation {
    Operation::new("admission", FILES, Auth::None)
        .summary(
            "Which pages may show a store's checkout",
            "For the diagnostics of the element: whether the store lists the origins of pages, and the line of the \
             configuration that lists them.",
        )
        .query::<AdmissionQuery>(types)
        .responds_as(
            200,
            "A module whose `default` is `{public_url, store, pages, line}`.",
            "text/javascript",
            &json!({ "type": "string" }),
        )
}

#[cfg(test)]
mod tests {
    use super::PageState::{Listed, Unencrypted, Unlisted};
    use super::*;
    use crate::config::parse;
    use crate::config::tests::EXAMPLE;

    fn config() -> String {
        let origins = r#"origins = ["https://shop.example"]"#;
        let config = EXAMPLE.replace(r#"origins = ["http://127.0.0.1:8081"]"#, origins);
        format!("{config}\n[[store]]\nid = \"other\"\n")
    }

    fn query(store: Option<&str>, pages: &[&str]) -> AdmissionQuery {
        AdmissionQuery {
            store: store.map(str::to_owned),
            pages: pages.join(" "),
        }
    }

    #[test]
    fn each_page_has_its_state_and_a_pasted_line_lists_all_that_can_be() {
        let config = config();
        let parsed = parse(&config).unwrap();
        for (page, state) in [
            ("https://shop.example", Listed),
            ("http://127.0.0.1:8080", Listed),
            ("https://www.shop.example", Unlisted),
            ("https://shop.example:8443", Unlisted),
            ("http://localhost:3000", Unlisted),
            ("http://[::1]:3000", Unlisted),
            ("http://myshop.test", Unencrypted),
            ("null", Unencrypted),
            ("chrome-extension://abcdef", Unencrypted),
            ("\"];x=[\"", Unencrypted),
        ] {
            let query = query(Some("demo"), &[page, "https://around.example"]);
            let found = Admission::of(&parsed, &query);
            assert_eq!(
                (found.store, found.pages[0]),
                (Some("demo"), state),
                "{page}"
            );
            let pasted = config.replace(r#"origins = ["https://shop.example"]"#, &found.line);
            let pasted = parse(&pasted).unwrap();
            let states = Admission::of(&pasted, &query).pages;
            let after = if state == Unencrypted { state } else { Listed };
            assert_eq!(states, [after, Listed], "{page}: {}", found.line);
            assert!(pasted.stores[0].lists_origin("https://shop.example"));
        }
    }

    #[test]
    fn a_store_that_does_not_exist_is_none() {
        let config = parse(&config()).unwrap();
        for (store, found) in [
            (Some("other"), Some("other")),
            (Some("demox"), None),
            (Some(""), None),
            (None, None),
        ] {
            let admission = Admission::of(&config, &query(store, &[]));
            assert_eq!(admission.store, found, "{store:?}");
            assert_eq!(admission.public_url, "http://127.0.0.1:8080");
        }
    }
}

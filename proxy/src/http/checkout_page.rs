//! /pay: the checkout page, and what every frame shows.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::header::{
    ACCESS_CONTROL_EXPOSE_HEADERS, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    REFERRER_POLICY,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use florin_checkout_api::Environment;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::config::{Config, Origin, Store};
use crate::http::body::{Form, Parameters};
use crate::http::checkout::offers::{OfferForm, example_of_form, limit_here};
use crate::http::error::ApiError;
use crate::http::first_page::{PageQuery, first_page};
use crate::http::middleware::ClientAddress;
use crate::http::openapi::FILES;
use crate::http::openapi::operation::{Auth, Operation, Types};
use crate::http::static_files::{describe_file, find, public, response};
use crate::state::AppState;
use crate::widget_files::File;

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const EMBEDDER_POLICY: HeaderName = HeaderName::from_static("cross-origin-embedder-policy");
const PERMISSIONS_POLICY: HeaderName = HeaderName::from_static("permissions-policy");
const POLICIES: &str = "content-security-policy, x-frame-options";

/// The page, under a policy that lets in no script but ours and no embedder but the store's pages.
pub(crate) async fn page(
    State(app): State<Arc<AppState>>,
    ClientAddress(client): ClientAddress,
    Parameters(query): Parameters<PageQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let config = app.config();
    let built = find(match config.environment {
        Environment::Test => "pay.test.html",
        Environment::Production => "pay.html",
    })?;
    let store = named(&config.stores, query.store.as_deref());
    let page = match store {
        Some(store) => first_page(&app, &config, built, store, &query, client, &headers).await,
        None => None,
    };
    let mut response = public(match page {
        Some(page) => response(&page, &headers, "no-store, no-transform"),
        None => response(built, &headers, "no-cache, no-transform"),
    });
    let hosted_page = config.gateway.checkout_url.as_ref().map(Origin::of);
    let embedders = store.map_or(&[][..], |store| &store.origins);
    let pictures = store.map(Store::picture_origins).unwrap_or_default();
    let has_gallery = config.environment == Environment::Test;
    let policy = policy(
        app.inline_sources.get_or_init(|| inline_sources(built)),
        embedders,
        &pictures,
        hosted_page.as_ref(),
        has_gallery,
    );
    let mut fixed = vec![
        (CONTENT_SECURITY_POLICY, policy),
        (REFERRER_POLICY, "no-referrer".to_owned()),
        // Cuts the opener's reference to this window, by which it could navigate the checkout elsewhere.
        (OPENER_POLICY, "same-origin".to_owned()),
        // The diagnostics of the element read what a server in front of this one adds.
        (ACCESS_CONTROL_EXPOSE_HEADERS, POLICIES.to_owned()),
        (PERMISSIONS_POLICY, features(hosted_page.as_ref())),
    ];
    if query.hosted.is_none() {
        fixed.push((EMBEDDER_POLICY, embedder_policy(&pictures).to_owned()));
    }
    for (name, value) in fixed {
        let value =
            HeaderValue::from_str(&value).expect("origins and percent-encoded texts are ASCII");
        response.headers_mut().insert(name, value);
    }
    Ok(response)
}

/// The page of an order token, which stands in no address. A shop's page may hide its origin: `frame-ancestors` decides.
pub(crate) async fn page_of_token(
    app: State<Arc<AppState>>,
    client: ClientAddress,
    Parameters(mut query): Parameters<PageQuery>,
    headers: HeaderMap,
    Form(OfferForm { order_token }): Form<OfferForm>,
) -> Result<Response, ApiError> {
    // It is made for each request.
    limit_here(&app, client.0)?;
    query.order_token = Some(order_token);
    page(app, client, Parameters(query), headers).await
}

pub(crate) fn describe_page_of_token(types: &mut Types) -> Operation {
    let form = example_of_form();
    described("checkout_page_of_token", types).takes_form::<OfferForm>(types, &form)
}

pub(crate) fn describe_page(types: &mut Types) -> Operation {
    described("checkout_page", types)
}

fn described(id: &'static str, types: &mut Types) -> Operation {
    describe_file(Operation::new(id, FILES, Auth::None)
        .summary(
            "The checkout page",
            "With the offer of what the address names, or of an order token in a form. A token in the fragment is seen by no server. Only pages of the store's origins may frame it.",
        )
        .query::<PageQuery>(types)
        .responds_as(200, "The page.", "text/html", &json!({ "type": "string" })))
}

/// A page with a `Cross-Origin-Embedder-Policy` frames only pages that have one too. `WebKit` does not know `credentialless`, and
/// `require-corp` blocks pictures whose servers do not send `Cross-Origin-Resource-Policy`.
///
/// Source: HTML, 7.1.4 "Cross-origin embedder policies", November 2026.
fn embedder_policy(pictures: &[Origin]) -> &'static str {
    if pictures.is_empty() {
        "require-corp"
    } else {
        "credentialless"
    }
}

/// An address may be copied, here and on the gateway's page in a frame of this one; nothing else is asked for.
fn features(hosted_page: Option<&Origin>) -> String {
    let framed = hosted_page.map(|origin| format!(" \"{}\"", origin.as_str()));
    let framed = framed.unwrap_or_default();
    format!("clipboard-write=(self{framed}), camera=(), microphone=(), geolocation=(), payment=()")
}

/// The named store, whose own pages alone may frame the checkout. An only store needs no name. Among several, a page that
/// names none cannot be framed: no shop's page may show another's checkout. An element without a store names an
/// empty one.
pub(crate) fn named<'a>(stores: &'a [Store], id: Option<&str>) -> Option<&'a Store> {
    match (id.filter(|id| !id.is_empty()), stores) {
        (Some(id), _) => stores.iter().find(|store| store.id.as_str() == id),
        (None, [only]) => Some(only),
        (None, _) => None,
    }
}

/// Admits the one style and the one script that stand in the built page: the first screen needs no second request.
fn inline_sources(built: &File) -> [String; 2] {
    let page = str::from_utf8(&built.whole).expect("the page is text");
    ["style", "script"].map(|element| {
        let after = page.split_once(&format!("<{element}>"));
        let inline = after.and_then(|(_, after)| after.split_once(&format!("</{element}>")));
        let (inline, _) = inline.expect("the page is built with its style and its script");
        format!("'sha256-{}'", STANDARD.encode(Sha256::digest(inline)))
    })
}

/// `style` and `script`: what admits the page's own. `pictures`: where the store's logo and its order lines' pictures are.
/// `has_gallery`: this page shows others of its kind in a frame, the states of the checkout.
///
/// Trusted Types: a script of the page cannot turn text into markup or code, but for inert markup that its one policy
/// lets in (`widget/js/host/trusted_types.js`), as the screens need it. Source: Trusted Types (W3C), 4.2.
fn policy(
    [style, script]: &[String; 2],
    embedders: &[Origin],
    pictures: &[Origin],
    hosted_page: Option<&Origin>,
    has_gallery: bool,
) -> String {
    let gallery = has_gallery.then_some("'self'");
    let ancestors = gallery
        .into_iter()
        .chain(embedders.iter().map(Origin::as_str));
    let framed = gallery.into_iter().chain(hosted_page.map(Origin::as_str));
    let (ancestors, framed) = (sources(ancestors), sources(framed));
    let pictures = sources(
        // A wallet announces its icon as a `data:` address.
        ["'self'", "data:"]
            .into_iter()
            .chain(pictures.iter().map(Origin::as_str)),
    );
    format!(
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' {script}; \
         style-src 'self' {style}; \
         require-trusted-types-for 'script'; trusted-types default; \
         img-src {pictures}; font-src 'self'; connect-src 'self'; base-uri 'none'; \
         form-action 'none'; object-src 'none'; frame-src {framed}; frame-ancestors {ancestors}"
    )
}

fn sources<'a>(origins: impl Iterator<Item = &'a str>) -> String {
    let list = origins.collect::<Vec<_>>().join(" ");
    if list.is_empty() {
        "'none'".to_owned()
    } else {
        list
    }
}

// GET /admission.js: whether a store lets pages show its checkout, and what to change, for the diagnostics of the element.
//
// It is a script and not JSON, because a page whose policy lets in the loader lets in this script too. Nothing of it is secret:
// the page in a frame names the same origins in its own policy.

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
    store: Option<&'a str>,
    pages: Vec<PageState>,
    /// The store's key `origins` as it has to be for all pages that can be listed; empty without a store.
    line: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum PageState {
    Listed,
    Unlisted,
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

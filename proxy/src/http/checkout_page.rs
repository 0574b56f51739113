//! GET /pay: the checkout page, and what every frame shows.

use std::sync::{Arc, OnceLock};

use axum::extract::{Query, State};
use axum::http::header::{ACCESS_CONTROL_EXPOSE_HEADERS, CONTENT_SECURITY_POLICY, REFERRER_POLICY};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use florin_checkout_api::Environment;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use url::form_urlencoded;

use crate::config::{Origin, Store};
use crate::http::error::ApiError;
use crate::http::openapi::information::FILES;
use crate::http::openapi::operation::{Auth, Operation};
use crate::http::openapi::types::Types;
use crate::http::static_files;
use crate::http::static_files::describe_file;
use crate::http::static_files::file::public;
use crate::state::AppState;

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const EMBEDDER_POLICY: HeaderName = HeaderName::from_static("cross-origin-embedder-policy");
const PERMISSIONS_POLICY: HeaderName = HeaderName::from_static("permissions-policy");
const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");
const POLICIES: &str = "content-security-policy, x-frame-options";

/// Which store's pages may frame this one. The order itself comes in the fragment, which no server sees.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct PageQuery {
    /// The store's id.
    store: Option<String>,
    /// Present: this page frames the gateway's own page, which sends no `Cross-Origin-Embedder-Policy`.
    hosted: Option<String>,
}

/// The page, under a policy that lets in no script but ours and no embedder but the store's pages.
pub(crate) async fn page(
    State(app): State<Arc<AppState>>,
    Query(framed): Query<PageQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let config = app.config();
    let file = static_files::find(match config.environment {
        Environment::Test => "pay.test.html",
        Environment::Production => "pay.html",
    })?;
    let mut response = public(static_files::file::response(file, &headers, "no-cache"));
    let hosted_page = config.gateway.checkout_url.as_ref().map(Origin::of);
    let store = named(&config.stores, framed.store.as_deref());
    let embedders = store.map_or(&[][..], |store| &store.origins);
    let pictures = store.map(Store::picture_origins).unwrap_or_default();
    let has_gallery = config.environment == Environment::Test;
    let policy = policy(
        style_source(&file.whole),
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
    if framed.hosted.is_none() {
        fixed.push((EMBEDDER_POLICY, embedder_policy(&pictures).to_owned()));
    }
    if let Some(store) = store {
        fixed.push((SERVER_TIMING, theme(store)));
    }
    for (name, value) in fixed {
        let value =
            HeaderValue::from_str(&value).expect("origins and percent-encoded texts are ASCII");
        response.headers_mut().insert(name, value);
    }
    Ok(response)
}

pub(crate) fn describe_page(types: &mut Types) -> Operation {
    describe_file(Operation::new("checkout_page", FILES, Auth::None)
        .summary(
            "The checkout page",
            "The order comes in the fragment, which no server sees. Only pages of the store's origins may frame it.",
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

/// The store's theme, for the time before its order has arrived, so that no light page turns into a dark one before the
/// customer's eyes. The page is a file that is the same for every store; of a document's headers its script can read
/// this one alone. Source: Server Timing (W3C), `PerformanceServerTiming.description`.
fn theme(store: &Store) -> String {
    let mut tokens = form_urlencoded::Serializer::new(String::new());
    tokens.append_pair("theme", &store.theme);
    for (name, value) in &store.theme_tokens {
        tokens.append_pair(name, value);
    }
    format!("theme;desc=\"{}\"", tokens.finish())
}

/// Admits the one style that stands in the page itself, so that the checkout's shape needs no second request.
fn style_source(page: &'static [u8]) -> &'static str {
    static SOURCE: OnceLock<String> = OnceLock::new();
    SOURCE.get_or_init(|| {
        let page = str::from_utf8(page).expect("the page is text");
        let after = page.split_once("<style>").map(|(_, after)| after);
        let style = after.and_then(|after| after.split_once("</style>"));
        let (style, _) = style.expect("the page is built with its style");
        format!("'sha256-{}'", STANDARD.encode(Sha256::digest(style)))
    })
}

/// `style`: what admits the page's own. `pictures`: where the store's logo and its order lines' pictures are.
/// `has_gallery`: this page shows others of its kind in a frame, the states of the checkout.
///
/// Trusted Types: a script of the page cannot turn text into markup or code, but for inert markup that its one policy
/// lets in (`widget/js/host/trusted_types.js`), as the screens need it. Source: Trusted Types (W3C), 4.2.
fn policy(
    style: &str,
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
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' {style}; \
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

//! GET /docs on the admin listener: the description as a page to read.
//!
//! Made from the document and nothing else, without a script and without anything from elsewhere: the browser's own
//! find searches it, and it prints.

mod operation;
mod shape;
mod text;

use std::sync::Arc;

use axum::extract::State;
use axum::http::header::{
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::response::IntoResponse;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use self::text::{members, prose, text_of};
use crate::http::openapi;
use crate::state::AppState;

const STYLE: &str = include_str!("docs/page.css");

/// The page, under a policy that lets in nothing but its own style.
pub(crate) async fn reference(State(app): State<Arc<AppState>>) -> impl IntoResponse {
    let digest = STANDARD.encode(Sha256::digest(STYLE));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'"
    );
    let headers = [
        (CONTENT_TYPE, "text/html; charset=utf-8".to_owned()),
        (CONTENT_SECURITY_POLICY, policy),
        (REFERRER_POLICY, "no-referrer".to_owned()),
        (X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
    ];
    let document = openapi(app.config().public_url.base());
    (headers, page(&document))
}

fn page(document: &Value) -> String {
    let info = &document["info"];
    let title = format!("{} {}", text_of(&info["title"]), text_of(&info["version"]));
    let address = text_of(&document["servers"][0]["url"]);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                meta name="color-scheme" content="light dark";
                title { (title) ": HTTP" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#main" { "To the text" }
                nav aria-label="Contents" {
                    p.name { (title) }
                    ul {
                        @for tag in tags(document) { (contents(document, tag)) }
                        li { a href="#shapes" { "Shapes" } }
                    }
                }
                main #main {
                    h1 { "The proxy's HTTP" }
                    p.address {
                        code { (address) } " · " a href={ (address) "/openapi.json" } { "openapi.json" }
                    }
                    (prose(text_of(&info["description"])))
                    (keys(document))
                    @for tag in tags(document) { (chapter(document, tag)) }
                    section #shapes {
                        h2 { "Shapes" }
                        @for (name, shape) in members(&document["components"]["schemas"]) {
                            (shape::section(name, shape))
                        }
                    }
                }
            }
        }
    };
    page.into_string()
}

fn tags(document: &Value) -> impl Iterator<Item = &Value> {
    document["tags"].as_array().into_iter().flatten()
}

/// A chapter in the list of contents.
fn contents(document: &Value, tag: &Value) -> Markup {
    let name = text_of(&tag["name"]);
    html! {
        li {
            a href={ "#" (anchor(name)) } { (name) }
            ul {
                @for (path, _, operation, is_webhook) in operations_of(document, name) {
                    li {
                        a href={ "#" (text_of(&operation["operationId"])) } {
                            (operation::name(path, operation, is_webhook))
                        }
                    }
                }
            }
        }
    }
}

/// A chapter: its operations and webhooks.
fn chapter(document: &Value, tag: &Value) -> Markup {
    let name = text_of(&tag["name"]);
    html! {
        section id=(anchor(name)) {
            h2 { (name) }
            (prose(text_of(&tag["description"])))
            @for (path, method, operation, is_webhook) in operations_of(document, name) {
                (operation::article(path, method, operation, is_webhook))
            }
        }
    }
}

fn operations_of<'a>(
    document: &'a Value,
    tag: &'a str,
) -> impl Iterator<Item = (&'a str, &'a str, &'a Value, bool)> {
    operations(document).filter(move |(_, _, operation, _)| operation["tags"][0] == tag)
}

/// Path, method and operation of all endpoints, then of all webhooks.
fn operations(document: &Value) -> impl Iterator<Item = (&str, &str, &Value, bool)> {
    let endpoints = members(&document["paths"]).map(|item| (item, false));
    let webhooks = members(&document["webhooks"]).map(|item| (item, true));
    endpoints
        .chain(webhooks)
        .flat_map(|((path, item), is_webhook)| {
            members(item).map(move |(method, operation)| (path, method, operation, is_webhook))
        })
}

fn keys(document: &Value) -> Markup {
    html! {
        section #keys {
            h2 { "Keys" }
            p { "Sent as " code { "Authorization: Bearer …" } "." }
            dl {
                @for (name, scheme) in members(&document["components"]["securitySchemes"]) {
                    dt id={ "key-" (name) } { code { (name) } }
                    dd { (prose(text_of(&scheme["description"]))) }
                }
            }
        }
    }
}

fn anchor(name: &str) -> String {
    format!("chapter-{}", name.to_lowercase().replace(' ', "-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole() -> String {
        page(&openapi("https://pay.shop.example"))
    }

    #[test]
    fn every_operation_shape_and_webhook_is_on_the_page() {
        let (document, page) = (openapi("https://pay.shop.example"), whole());
        let mut found = 0;
        for (path, _, operation, _) in operations(&document) {
            let id = text_of(&operation["operationId"]);
            assert!(page.contains(&format!("<article id=\"{id}\">")), "{path}");
            found += 1;
        }
        assert!(found > 30, "{found}");
        for (name, _) in members(&document["components"]["schemas"]) {
            assert!(page.contains(&format!("id=\"shape-{name}\"")), "{name}");
        }
    }

    #[test]
    fn every_link_on_the_page_leads_somewhere() {
        let page = whole();
        let mut links = 0;
        for link in page.split("href=\"#").skip(1) {
            let target = link.split('"').next().unwrap();
            assert!(page.contains(&format!("id=\"{target}\"")), "#{target}");
            links += 1;
        }
        assert!(links > 100, "{links}");
    }

    #[test]
    fn the_page_needs_nothing_from_elsewhere() {
        let page = whole();
        for sign in ["<script", "src=", "@import", "url("] {
            assert!(!page.contains(sign), "{sign}");
        }
        let elsewhere = page.matches("href=\"http").count();
        assert_eq!(elsewhere, 1, "the link to the document alone leads away");
    }
}

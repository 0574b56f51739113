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
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use self::text::{escaped, members, prose, words};
use crate::http::openapi::openapi;
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
    let document = openapi(app.config.public_url.base());
    (headers, page(&document))
}

fn page(document: &Value) -> String {
    let info = &document["info"];
    let title = escaped(&format!(
        "{} {}",
        words(&info["title"]),
        words(&info["version"])
    ));
    let address = escaped(words(&document["servers"][0]["url"]));
    let introduction = prose(words(&info["description"]));
    let (contents, chapters) = chapters(document);
    let keys = keys(document);
    let shapes = members(&document["components"]["schemas"])
        .map(|(name, shape)| shape::section(name, shape))
        .collect::<String>();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}: HTTP</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">To the text</a>\n\
         <nav aria-label=\"Contents\"><p class=\"name\">{title}</p><ul>{contents}\
         <li><a href=\"#shapes\">Shapes</a></li></ul></nav>\n\
         <main id=\"main\">\n<h1>The proxy's HTTP</h1>\n<p class=\"address\"><code>{address}</code> · \
         <a href=\"{address}/openapi.json\">openapi.json</a></p>\n{introduction}\n{keys}\n{chapters}\n\
         <section id=\"shapes\"><h2>Shapes</h2>\n{shapes}</section>\n</main>\n</body>\n</html>\n"
    )
}

/// The contents' list, and what it leads to: each chapter's operations and webhooks.
fn chapters(document: &Value) -> (String, String) {
    let tags = document["tags"].as_array().into_iter().flatten();
    tags.map(|tag| chapter(document, tag)).unzip()
}

/// One chapter, in the contents' list and as it is.
fn chapter(document: &Value, tag: &Value) -> (String, String) {
    let name = words(&tag["name"]);
    let operations = operations(document);
    let operations = operations.filter(|(_, _, operation, _)| operation["tags"][0] == name);
    let (links, articles): (String, String) = operations
        .map(|(path, method, operation, is_webhook)| {
            let id = escaped(words(&operation["operationId"]));
            let name = operation::name(path, operation, is_webhook);
            let link = format!("<li><a href=\"#{id}\">{name}</a></li>");
            (
                link,
                operation::article(path, method, operation, is_webhook),
            )
        })
        .unzip();
    let (id, name) = (escaped(&anchor(name)), escaped(name));
    let about = prose(words(&tag["description"]));
    (
        format!("<li><a href=\"#{id}\">{name}</a><ul>{links}</ul></li>"),
        format!("<section id=\"{id}\"><h2>{name}</h2>\n{about}\n{articles}</section>\n"),
    )
}

/// Path, method and operation of everything that is called, then of everything that calls.
fn operations(document: &Value) -> impl Iterator<Item = (&str, &str, &Value, bool)> {
    let called = members(&document["paths"]).map(|item| (item, false));
    let calling = members(&document["webhooks"]).map(|item| (item, true));
    called
        .chain(calling)
        .flat_map(|((path, item), is_webhook)| {
            members(item).map(move |(method, operation)| (path, method, operation, is_webhook))
        })
}

fn keys(document: &Value) -> String {
    let rows = members(&document["components"]["securitySchemes"]).map(|(name, scheme)| {
        let (name, about) = (escaped(name), prose(words(&scheme["description"])));
        format!("<dt id=\"key-{name}\"><code>{name}</code></dt><dd>{about}</dd>")
    });
    let rows: String = rows.collect();
    format!(
        "<section id=\"keys\"><h2>Keys</h2>\n<p>Sent as <code>Authorization: Bearer …</code>.</p><dl>{rows}</dl></section>"
    )
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
            let id = words(&operation["operationId"]);
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

    #[test]
    fn every_element_is_closed_in_its_place() {
        let page = whole();
        let mut open = Vec::new();
        for tag in page.split('<').skip(1) {
            let name: String = tag
                .chars()
                .take_while(char::is_ascii_alphanumeric)
                .collect();
            if let Some(closed) = tag.strip_prefix('/') {
                let closed = closed.split('>').next().unwrap();
                assert_eq!(open.pop().as_deref(), Some(closed), "{tag}");
            } else if !["meta", "wbr", ""].contains(&name.as_str()) {
                open.push(name);
            }
        }
        assert!(open.is_empty(), "{open:?}");
    }
}

//! A page of a store, on another origin than the proxy's.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::{Path, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A site of one page, and of scripts for it.
#[derive(Debug)]
pub struct StoreSite {
    url: String,
    page: Arc<Mutex<Page>>,
    serving: JoinHandle<()>,
}

#[derive(Clone, Debug, Default)]
struct Page {
    policy: String,
    html: String,
    files: BTreeMap<String, String>,
    header: Option<(&'static str, String)>,
}

impl StoreSite {
    /// Opens it, empty.
    pub async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let page = Arc::<Mutex<Page>>::default();
        let routes = Router::new()
            .route("/", get(show))
            .route("/{script}", get(script))
            // Browsers ask for it unasked, and complain when it is missing.
            .route("/favicon.ico", get(async || StatusCode::NO_CONTENT))
            .with_state(Arc::clone(&page));
        let serving = async move {
            axum::serve(listener, routes)
                .await
                .expect("a bound listener serves");
        };
        Self {
            url: format!("http://{address}"),
            page,
            serving: tokio::spawn(serving),
        }
    }

    /// Its address, which is also its origin.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Shows this whole page from now on, under no policy.
    pub fn serve_page(&self, html: &str) {
        let mut page = self.page.lock().unwrap_or_else(PoisonError::into_inner);
        page.policy.clear();
        html.clone_into(&mut page.html);
    }

    /// Serves a script such as `shop.js` from now on; `None` removes it.
    pub fn set_script(&self, name: &str, script: Option<&str>) {
        let mut page = self.page.lock().unwrap_or_else(PoisonError::into_inner);
        match script {
            Some(script) => page.files.insert(name.to_owned(), script.to_owned()),
            None => page.files.remove(name),
        };
    }

    /// Shows this body from now on, under this Content-Security-Policy.
    pub fn serve(&self, policy: &str, body: &str) {
        let mut page = self.page.lock().unwrap_or_else(PoisonError::into_inner);
        policy.clone_into(&mut page.policy);
        page.html = format!("<!doctype html><html lang=\"en\"><title>Page</title>{body}");
    }

    /// Sends this header along from now on.
    pub fn set_header(&self, name: &'static str, value: &str) {
        let mut page = self.page.lock().unwrap_or_else(PoisonError::into_inner);
        page.header = Some((name, value.to_owned()));
    }
}

impl Drop for StoreSite {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn show(State(page): State<Arc<Mutex<Page>>>) -> Response {
    let page = page.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let headers = [
        (CONTENT_SECURITY_POLICY, page.policy),
        (CONTENT_TYPE, "text/html; charset=utf-8".to_owned()),
    ];
    let header = page
        .header
        .map(|(name, value)| [(HeaderName::from_static(name), value)]);
    match header {
        Some(header) => (headers, header, page.html).into_response(),
        None => (headers, page.html).into_response(),
    }
}

async fn script(State(page): State<Arc<Mutex<Page>>>, Path(name): Path<String>) -> Response {
    let page = page.lock().unwrap_or_else(PoisonError::into_inner);
    match page.files.get(&name) {
        Some(script) => {
            let headers = [
                (CONTENT_TYPE, "text/javascript; charset=utf-8"),
                (CACHE_CONTROL, "no-store"),
            ];
            (headers, script.clone()).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

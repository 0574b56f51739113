//! An HTTP server of a test, on a separate port of this machine; and a page of a store, on another origin than the proxy's.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use parking_lot::Mutex;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

#[derive(Debug)]
pub(crate) struct LocalServer {
    pub(crate) address: SocketAddr,
    /// Without a slash at its end.
    pub(crate) url: String,
    serving: JoinHandle<()>,
}

impl LocalServer {
    pub(crate) async fn start(routes: Router) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let serving = axum::serve(listener, routes).into_future();
        Self {
            address,
            url: format!("http://{address}"),
            serving: tokio::spawn(async { serving.await.expect("a bound listener serves") }),
        }
    }
}

impl Drop for LocalServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

#[derive(Debug)]
pub struct StoreSite {
    server: LocalServer,
    page: Arc<Mutex<Page>>,
}

#[derive(Clone, Debug, Default)]
struct Page {
    policy: String,
    html: String,
    files: BTreeMap<String, String>,
    header: Option<(&'static str, String)>,
}

impl StoreSite {
    pub async fn open() -> Self {
        let page = Arc::<Mutex<Page>>::default();
        let routes = Router::new()
            .route("/", get(show))
            .route("/{script}", get(script))
            // Browsers ask for it unasked, and complain when it is missing.
            .route("/favicon.ico", get(async || StatusCode::NO_CONTENT))
            .with_state(Arc::clone(&page));
        let server = LocalServer::start(routes).await;
        Self { server, page }
    }

    pub fn url(&self) -> &str {
        &self.server.url
    }

    /// The same pages: browsers take the two names of this machine for two sites.
    pub fn url_of_another_site(&self) -> String {
        self.url().replace("127.0.0.1", "localhost")
    }

    /// Shows this whole page from now on, under no policy.
    pub fn serve_page(&self, html: &str) {
        let mut page = self.page.lock();
        page.policy.clear();
        html.clone_into(&mut page.html);
    }

    /// Serves a script such as `shop.js` from now on; `None` removes it.
    pub fn set_script(&self, name: &str, script: Option<&str>) {
        let mut page = self.page.lock();
        match script {
            Some(script) => page.files.insert(name.to_owned(), script.to_owned()),
            None => page.files.remove(name),
        };
    }

    /// Shows this body from now on, under this Content-Security-Policy.
    pub fn serve(&self, policy: &str, body: &str) {
        let mut page = self.page.lock();
        policy.clone_into(&mut page.policy);
        page.html = format!("<!doctype html><html lang=\"en\"><title>Page</title>{body}");
    }

    pub fn set_header(&self, name: &'static str, value: &str) {
        let mut page = self.page.lock();
        page.header = Some((name, value.to_owned()));
    }
}

async fn show(State(page): State<Arc<Mutex<Page>>>) -> Response {
    let page = page.lock().clone();
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
    let page = page.lock();
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

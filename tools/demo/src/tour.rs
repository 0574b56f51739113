//! The tour: a page with the shop's checkout, a customer's phone, and a light for each step of a payment.
//!
//! The page uses public interfaces only. Those that need a secret, or that another port serves, are reached through the routes
//! here: the store's API of the proxy, the sandbox's control API, the shop's list of orders, and the operator's sign-in. The
//! listener is on loopback, and refuses requests that do not come from its own page.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use axum::body::Bytes;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{any, get, post};
use axum::{Json, Router};
use florin_proxy::clock::{Clock as _, SystemClock};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::proxies::Replicas;
use crate::settings::{OPERATOR, Ports, Secrets, random_hex};

/// How long the killed proxy is down.
const DOWN: Duration = Duration::from_secs(4);
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
const KILLED: u8 = 1;

pub(crate) struct Tour {
    ports: Ports,
    secret_key: String,
    operator_password: String,
    /// `None` if the proxy is a part of this process.
    replicas: Option<Arc<Replicas>>,
    client: reqwest::Client,
}

impl Tour {
    pub(crate) fn new(
        ports: Ports,
        secrets: &Secrets,
        replicas: Option<Arc<Replicas>>,
    ) -> anyhow::Result<Self> {
        let client = reqwest::Client::builder().no_proxy();
        // The response to a sign-in has the cookie.
        let client = client.redirect(reqwest::redirect::Policy::none());
        Ok(Self {
            ports,
            secret_key: secrets.secret_key.clone(),
            operator_password: secrets.operator_password.clone(),
            replicas,
            client: client.timeout(REQUEST_TIMEOUT).build()?,
        })
    }

    pub(crate) fn address(ports: Ports) -> String {
        local(ports.tour()) + "/tour"
    }

    /// Serves the page until the shutdown.
    pub(crate) async fn serve(
        self,
        listener: TcpListener,
        shutdown: CancellationToken,
    ) -> anyhow::Result<()> {
        let tour = Arc::new(self);
        let css = [(header::CONTENT_TYPE, "text/css; charset=utf-8")];
        let script = [(header::CONTENT_TYPE, "text/javascript; charset=utf-8")];
        let routes = Router::new()
            .route("/", get(async || Redirect::to("/tour")))
            .route("/tour", get(page))
            .route("/tour/tour.css", get((css, include_str!("tour/tour.css"))))
            .route("/tour/tour.js", get((script, include_str!("tour/tour.js"))))
            .route("/tour/orders", post(open_order))
            .route("/tour/{part}/{*path}", any(pass_on))
            .route("/tour/kill", post(kill))
            .route("/tour/operator", post(sign_in))
            .layer(from_fn_with_state(tour.clone(), refuse_other_origins))
            .with_state(tour);
        axum::serve(listener, routes)
            .with_graceful_shutdown(shutdown.cancelled_owned())
            .await
            .context("the listener failed")
    }

    /// What may be loaded, framed and sent.
    fn policy(&self) -> String {
        let [proxy, admin, shop] = [self.ports.proxy, self.ports.admin, self.ports.shop].map(local);
        format!(
            "default-src 'none'; style-src 'self'; script-src 'self' {proxy}; connect-src 'self'; \
             img-src 'self' {shop}; frame-src {proxy}; form-action 'self' {admin}; \
             base-uri 'none'; frame-ancestors 'none'"
        )
    }
}

fn local(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}

/// A part of the demo did not do what the page asks for.
struct Failure(anyhow::Error);

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        (StatusCode::BAD_GATEWAY, format!("{:#}", self.0)).into_response()
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

/// Returns `true` for requests of the tour's page. The host keeps out a name that another site resolves to this machine; the
/// origin a page that sends a form here.
fn is_ours(ports: Ports, request: &Request) -> bool {
    let host = format!("127.0.0.1:{}", ports.tour());
    let is = |name, value: &str| {
        let header = request.headers().get(name);
        header.is_some_and(|header| header.as_bytes() == value.as_bytes())
    };
    let reads = request.method() == Method::GET;
    is(header::HOST, &host) && (reads || is(header::ORIGIN, &format!("http://{host}")))
}

async fn refuse_other_origins(
    State(tour): State<Arc<Tour>>,
    request: Request,
    next: Next,
) -> Response {
    if !is_ours(tour.ports, &request) {
        let refusal = format!("Open {}.", Tour::address(tour.ports));
        return (StatusCode::FORBIDDEN, refusal).into_response();
    }
    let policy = tour.policy();
    let headers = [
        (header::CONTENT_SECURITY_POLICY, policy.as_str()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-store"),
        // A form that is sent without a referrer has no origin either.
        (header::REFERRER_POLICY, "same-origin"),
    ];
    (headers, next.run(request).await).into_response()
}

async fn page(State(tour): State<Arc<Tour>>) -> Response {
    let html = include_str!("tour/tour.html")
        .replace("{proxy}", &local(tour.ports.proxy))
        .replace("{shop}", &local(tour.ports.shop));
    axum::response::Html(html).into_response()
}

/// `POST /tour/orders`: opens an order for the mug, as a shop's server does.
async fn open_order(State(tour): State<Arc<Tour>>) -> Result<Json<Value>, Failure> {
    let order = json!({
        "amount": "12.50", "currency": "USD", "title": "Enamel mug",
        "reference": format!("tour-{}", random_hex::<16>()),
    });
    let request = tour.client.post(local(tour.ports.proxy) + "/v1/orders");
    let request = request.bearer_auth(&tour.secret_key).json(&order);
    let opened: Value = request.send().await?.error_for_status()?.json().await?;
    Ok(Json(json!({ "client_token": opened["client_token"] })))
}

/// Passes a request on: to an order at the proxy, to the shop, or to the sandbox's control API.
async fn pass_on(
    State(tour): State<Arc<Tour>>,
    Path((part, path)): Path<(String, String)>,
    method: Method,
    body: Bytes,
) -> Result<Response, Failure> {
    let ports = tour.ports;
    let base = match (part.as_str(), method == Method::GET) {
        ("order", true) => local(ports.proxy) + "/v1/orders",
        ("shop", true) => local(ports.shop),
        ("sandbox", _) => local(ports.sandbox) + "/sandbox",
        _ => return Ok(StatusCode::NOT_FOUND.into_response()),
    };
    let url = format!("{base}/{path}");
    let mut request = tour.client.request(method, url).body(body);
    if part == "order" {
        request = request.bearer_auth(&tour.secret_key);
    }
    let response = request.send().await?;
    Ok((response.status(), response.bytes().await?).into_response())
}

/// `POST /tour/kill`: kills a proxy, and starts it again after a while, also if the page is closed.
async fn kill(State(tour): State<Arc<Tour>>) -> Result<Json<Value>, Failure> {
    let replicas = tour.replicas.clone();
    let replicas = replicas.context("the proxy is a part of the demo's process")?;
    replicas.set_running(KILLED, false)?;
    tokio::spawn(async move {
        SystemClock.sleep(DOWN).await;
        if let Err(error) = replicas.set_running(KILLED, true) {
            tracing::error!("{error:#}");
        }
    });
    Ok(Json(json!({})))
}

/// `POST /tour/operator`: signs in on the operator's page, with the name and the password that the terminal shows, and leads there.
///
/// Browsers send a cookie of a host to all its ports.
async fn sign_in(State(tour): State<Arc<Tour>>) -> Result<Response, Failure> {
    let login = local(tour.ports.admin) + "/login";
    let form = tour.client.get(&login).send().await?;
    let csrf = cookie(form.headers(), "florin_form").context("the sign-in has no form")?;
    let (_, value) = csrf.split_once('=').unwrap_or_default();
    let password = &tour.operator_password;
    let answer = tour
        .client
        .post(&login)
        .header(header::COOKIE, &csrf)
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(format!("csrf={value}&name={OPERATOR}&password={password}"));
    let answer = answer.send().await?;
    let session = cookie(answer.headers(), "florin_operator");
    let session = session.ok_or_else(|| anyhow!("the sign-in was refused: {}", answer.status()))?;
    let session = format!("{session}; Path=/; HttpOnly; SameSite=Strict");
    let to_page = Redirect::to(&local(tour.ports.admin));
    Ok(([(header::SET_COOKIE, session)], to_page).into_response())
}

/// `name=value` of a cookie that a response sets.
fn cookie(headers: &HeaderMap, name: &str) -> Option<String> {
    let set = headers.get_all(header::SET_COOKIE).iter();
    let mut pairs = set.filter_map(|set| set.to_str().ok()?.split(';').next());
    let pair = pairs.find(|pair| pair.split('=').next() == Some(name))?;
    Some(pair.to_owned())
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    /// A tour without a demo around it.
    async fn tour() -> (String, reqwest::Client) {
        // Fails when it is installed already, which is the aim.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let ports = Ports::from_base(port - 4);
        let tour = Tour::new(ports, &Secrets::generate(), None).unwrap();
        let client = tour.client.clone();
        tokio::spawn(tour.serve(listener, CancellationToken::new()));
        (format!("http://127.0.0.1:{port}"), client)
    }

    #[tokio::test]
    async fn only_its_own_page_presses_and_only_its_own_name_reads() {
        let (url, client) = tour().await;
        let page = client.get(format!("{url}/tour"));
        let answer = page.try_clone().unwrap().send().await.unwrap();
        assert_eq!(answer.status(), 200);
        let policy = answer.headers()["content-security-policy"]
            .to_str()
            .unwrap();
        assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
        // A name of another site that was resolved to this machine.
        let rebound = page.header("host", "shop.example").send().await.unwrap();
        assert_eq!(rebound.status(), 403);
        for path in ["orders", "sandbox/mine", "kill", "operator"] {
            let press = client.post(format!("{url}/tour/{path}"));
            for origin in ["http://shop.example", "null", "http://127.0.0.1:8081"] {
                let press = press.try_clone().unwrap().header("origin", origin);
                assert_eq!(press.send().await.unwrap().status(), 403, "{path} {origin}");
            }
            let without = press.try_clone().unwrap().send().await.unwrap();
            assert_eq!(without.status(), 403, "{path}");
            // Its own passes, and finds no demo.
            let ours = press.header("origin", &url).send().await.unwrap();
            assert_eq!(ours.status(), 502, "{path}");
        }
    }
}

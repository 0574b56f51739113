//! The collector: the same HTTP client as everywhere else. A collector that is away costs one warning.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use reqwest::redirect::Policy;
use tokio::runtime::Handle;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// Of a whole request. Spans that it has not taken by then are lost.
const TIMEOUT: Duration = Duration::from_secs(5);
/// How much of a response is read.
const MAX_RESPONSE_BYTES: usize = 16 * 1024;

#[derive(Debug)]
pub(super) struct Collector(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// `None` if the machine's TLS roots cannot be read.
    http: Option<reqwest::Client>,
    /// The library sends from a separate thread, which has no runtime.
    runtime: Handle,
    is_away: AtomicBool,
}

impl Collector {
    pub(super) fn new() -> Self {
        let http = reqwest::Client::builder()
            .redirect(Policy::none())
            .no_proxy()
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(TIMEOUT)
            .user_agent(concat!("Florin/", env!("CARGO_PKG_VERSION")))
            .build();
        Self(Arc::new(Inner {
            http: http.ok(),
            runtime: Handle::current(),
            is_away: AtomicBool::new(false),
        }))
    }
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let inner = self.0.clone();
        let sent = self.0.runtime.spawn(async move {
            let sent = inner.send(request).await;
            inner.report(&sent);
            sent
        });
        sent.await?
    }
}

impl Inner {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let http = self.http.as_ref().ok_or("TLS cannot be set up")?;
        let (parts, body) = request.into_parts();
        let request = http.post(parts.uri.to_string()).headers(parts.headers);
        let mut response = request.body(body).send().await?;
        let status = response.status();
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            body.extend_from_slice(&chunk[..chunk.len().min(MAX_RESPONSE_BYTES - body.len())]);
            if body.len() == MAX_RESPONSE_BYTES {
                break;
            }
        }
        Ok(Response::builder().status(status).body(body.into())?)
    }

    /// Logs once that the collector takes nothing, and once that it does again.
    fn report(&self, sent: &Result<Response<Bytes>, HttpError>) {
        let reason = match sent {
            Ok(response) if response.status().is_success() => None,
            Ok(response) => Some(format!("it answers with {}", response.status().as_u16())),
            Err(error) => Some(innermost(error.as_ref())),
        };
        let was_away = self.is_away.swap(reason.is_some(), Ordering::Relaxed);
        match reason {
            Some(reason) if !was_away => tracing::warn!(
                reason,
                "the collector takes no traces: they are dropped, and nothing else is affected"
            ),
            None if was_away => tracing::info!("the collector takes traces again"),
            _ => {}
        }
    }
}

fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

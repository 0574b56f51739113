//! The spans that wait for the collector, and the task that sends them. A collector that is away costs one warning; what it
//! does not take is counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use florin_gateway_client::Clock as _;
use opentelemetry::Context;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{Span, SpanData, SpanExporter, SpanProcessor};
use reqwest::redirect::Policy;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio_util::sync::CancellationToken;

use crate::clock::SystemClock;

/// Spans that wait, some 1 KiB each. Above it new ones are dropped.
pub(super) const MAX_WAITING: usize = 2048;
const MAX_BATCH: usize = 512;
const BATCH_DELAY: Duration = Duration::from_secs(2);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// Of a whole request. Spans that it has not taken by then are lost.
const TIMEOUT: Duration = Duration::from_secs(5);
const MAX_RESPONSE_BYTES: usize = 16 * 1024;

#[derive(Debug)]
pub(super) struct SpanQueue {
    pub(super) waiting: mpsc::Sender<SpanData>,
    pub(super) lost: Arc<AtomicU64>,
    pub(super) is_overflow_logged: AtomicBool,
}

impl SpanProcessor for SpanQueue {
    fn on_start(&self, _: &mut Span, _: &Context) {}

    fn on_end(&self, span: SpanData) {
        let Err(error) = self.waiting.try_send(span) else {
            return;
        };
        self.lost.fetch_add(1, Ordering::Relaxed);
        let is_full = matches!(error, TrySendError::Full(_));
        if is_full && !self.is_overflow_logged.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                waiting = MAX_WAITING,
                "too many spans wait for the collector: further ones are dropped, and florin_spans_lost_total counts them. \
                 Lower tracing.sample_ratio"
            );
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        Ok(())
    }
}

/// Sends batches of spans until the process ends.
pub(super) struct SpanSender<E> {
    pub(super) waiting: mpsc::Receiver<SpanData>,
    pub(super) exporter: E,
    pub(super) lost: Arc<AtomicU64>,
    pub(super) ending: CancellationToken,
}

impl<E: SpanExporter> SpanSender<E> {
    pub(super) async fn run(mut self) {
        loop {
            let mut batch = Vec::new();
            let is_last = self.fill(&mut batch).await;
            let count = u64::try_from(batch.len()).unwrap_or(u64::MAX);
            if count > 0 && self.exporter.export(batch).await.is_err() {
                self.lost.fetch_add(count, Ordering::Relaxed);
            }
            if is_last {
                return;
            }
        }
    }

    /// Waits until the batch is full or old enough. Returns `true` if the process ends and no span is left.
    async fn fill(&mut self, batch: &mut Vec<SpanData>) -> bool {
        let mut delay = std::pin::pin!(SystemClock.sleep(BATCH_DELAY));
        while batch.len() < MAX_BATCH {
            let room = MAX_BATCH - batch.len();
            let is_open = !self.waiting.is_closed();
            tokio::select! {
                biased;
                () = self.ending.cancelled(), if is_open => self.waiting.close(),
                count = self.waiting.recv_many(batch, room) => if count == 0 { return true },
                () = &mut delay => return false,
            }
        }
        false
    }
}

#[derive(Debug)]
pub(super) struct Collector {
    /// `None` if the machine's TLS roots cannot be read.
    http: Option<reqwest::Client>,
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
        Self {
            http: http.ok(),
            is_away: AtomicBool::new(false),
        }
    }

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
}

#[async_trait]
impl HttpClient for Collector {
    /// Logs once that the collector takes nothing, and once that it does again.
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let sent = self.send(request).await;
        let reason = match &sent {
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
        sent
    }
}

fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use opentelemetry::trace::{Tracer as _, TracerProvider as _};
    use opentelemetry_sdk::error::OTelSdkError;
    use opentelemetry_sdk::trace::SdkTracerProvider;

    use super::*;

    #[derive(Debug, Default)]
    struct TakesOne(AtomicBool);

    impl SpanExporter for TakesOne {
        async fn export(&self, _: Vec<SpanData>) -> OTelSdkResult {
            if self.0.swap(true, Ordering::Relaxed) {
                return Err(OTelSdkError::InternalFailure("away".to_owned()));
            }
            Ok(())
        }
    }

    #[tokio::test]
    async fn spans_without_a_place_and_those_that_did_not_arrive_are_counted() {
        let (sender, waiting) = mpsc::channel(MAX_WAITING);
        let lost = Arc::new(AtomicU64::default());
        let queue = SpanQueue {
            waiting: sender,
            lost: lost.clone(),
            is_overflow_logged: AtomicBool::new(false),
        };
        let provider = SdkTracerProvider::builder().with_span_processor(queue);
        let tracer = provider.build().tracer("test");
        (0..MAX_WAITING).for_each(|_| drop(tracer.start("span")));
        assert_eq!(lost.load(Ordering::Relaxed), 0);
        (0..3).for_each(|_| drop(tracer.start("span")));
        assert_eq!(lost.load(Ordering::Relaxed), 3);
        let sender = SpanSender {
            waiting,
            exporter: TakesOne::default(),
            lost: lost.clone(),
            ending: CancellationToken::new(),
        };
        sender.ending.cancel();
        sender.run().await;
        let missed = u64::try_from(MAX_WAITING - MAX_BATCH).unwrap();
        assert_eq!(lost.load(Ordering::Relaxed), 3 + missed);
    }
}

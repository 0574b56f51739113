//! Spans: what is recorded of a trace, and sent to a collector of OpenTelemetry.
//!
//! A span has the attributes that are written here, and no other. The fields of log lines stay out of it: they may name
//! addresses and customers. That is why spans are not made from those of `tracing`.
//!
//! The decision to record is made once, where a trace begins; it travels in the flags of its `traceparent`. A request that is not
//! recorded costs a comparison.

mod collector;

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use florin_orders::TraceParent;
use opentelemetry::trace::{
    Span as _, SpanBuilder, SpanContext, SpanId, SpanKind, Status, TraceContextExt as _,
    TraceFlags, TraceId, TraceState, Tracer as _, TracerProvider as _,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_otlp::{
    ExporterBuildError, Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{Sampler, SdkTracer, SdkTracerProvider, Span, SpanExporter as _};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::collector::{Collector, MAX_WAITING, SpanQueue, SpanSender};
use crate::config::{Config, Tracing};
use crate::trace;

/// How long a process that ends waits for the collector.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// Records spans, if the configuration names a collector.
#[derive(Debug)]
pub(crate) struct Spans(Option<Recorder>);

#[derive(Debug)]
struct Recorder {
    tracer: SdkTracer,
    sampled_per_million: u32,
    lost: Arc<AtomicU64>,
    sender: TaskTracker,
    ending: CancellationToken,
}

/// A span that is being recorded. One that is dropped before its end is recorded as cancelled: the browser has closed the
/// connection, or the process ends.
pub(crate) struct Recording {
    span: Span,
    has_ended: bool,
}

impl Spans {
    /// Needs a runtime of tokio if the configuration names a collector.
    pub(crate) fn new(config: &Config) -> Self {
        let Some(tracing) = &config.tracing else {
            return Self(None);
        };
        match Recorder::new(tracing, config.environment.as_str()) {
            Ok(recorder) => Self(Some(recorder)),
            Err(error) => {
                tracing::error!(%error, "no traces are sent: check the variables OTEL_*");
                Self(None)
            }
        }
    }

    /// Begins the span of a request. Without a trace of the caller, `draw`, which is random, decides whether it is recorded.
    pub(crate) fn request(
        &self,
        caller: Option<TraceParent>,
        draw: u32,
        name: impl FnOnce() -> String,
    ) -> Option<Recording> {
        let recorder = self.0.as_ref()?;
        let is_recorded = match caller {
            Some(caller) => caller.is_sampled(),
            None => is_drawn(draw, recorder.sampled_per_million),
        };
        is_recorded.then(|| recorder.begin(caller, name().into(), SpanKind::Server))
    }

    #[cfg(test)]
    pub(crate) fn none() -> Self {
        Self(None)
    }

    pub(crate) fn client(&self, name: impl FnOnce() -> Cow<'static, str>) -> Option<Recording> {
        let recorder = self.0.as_ref()?;
        let parent = trace::current().filter(TraceParent::is_sampled)?;
        Some(recorder.begin(Some(parent), name(), SpanKind::Client))
    }

    pub(crate) fn lost(&self) -> u64 {
        let lost = |recorder: &Recorder| recorder.lost.load(Ordering::Relaxed);
        self.0.as_ref().map_or(0, lost)
    }

    /// Sends what waits, in bounded time.
    pub(crate) async fn shutdown(&self) {
        let Some(recorder) = &self.0 else {
            return;
        };
        recorder.ending.cancel();
        recorder.sender.close();
        // What the collector does not take by then is lost.
        let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, recorder.sender.wait()).await;
    }
}

fn is_drawn(draw: u32, per_million: u32) -> bool {
    (u64::from(draw) * 1_000_000) >> 32 < u64::from(per_million)
}

impl Recorder {
    fn new(tracing: &Tracing, environment: &'static str) -> Result<Self, ExporterBuildError> {
        let mut exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(Collector::new())
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(tracing.traces_url.as_str())
            .build()?;
        let resource = Resource::builder_empty()
            .with_service_name("florin-proxy")
            .with_attributes([
                KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
                KeyValue::new("deployment.environment.name", environment),
            ])
            .build();
        exporter.set_resource(&resource);
        let (queue, waiting) = mpsc::channel(MAX_WAITING);
        let (lost, ending) = (Arc::new(AtomicU64::default()), CancellationToken::new());
        let sender = TaskTracker::new();
        sender.spawn(
            SpanSender {
                waiting,
                exporter,
                lost: lost.clone(),
                ending: ending.clone(),
            }
            .run(),
        );
        let provider = SdkTracerProvider::builder()
            .with_span_processor(SpanQueue {
                waiting: queue,
                lost: lost.clone(),
                is_overflow_logged: AtomicBool::new(false),
            })
            // Only what is to be recorded reaches it.
            .with_sampler(Sampler::AlwaysOn)
            .with_resource(resource)
            .build();
        Ok(Self {
            tracer: provider.tracer("florin-proxy"),
            sampled_per_million: tracing.sampled_per_million,
            lost,
            sender,
            ending,
        })
    }

    fn begin(
        &self,
        parent: Option<TraceParent>,
        name: Cow<'static, str>,
        kind: SpanKind,
    ) -> Recording {
        let parent = parent.map_or_else(Context::new, |parent| {
            Context::new().with_remote_span_context(SpanContext::new(
                TraceId::from_bytes(parent.trace_id),
                SpanId::from_bytes(parent.parent_id),
                TraceFlags::SAMPLED,
                true,
                TraceState::NONE,
            ))
        });
        let span = SpanBuilder::from_name(name).with_kind(kind);
        Recording {
            span: self.tracer.build_with_context(span, &parent),
            has_ended: false,
        }
    }
}

impl Recording {
    pub(crate) fn trace(&self) -> TraceParent {
        let context = self.span.span_context();
        TraceParent::recorded(context.trace_id().to_bytes(), context.span_id().to_bytes())
    }

    /// Adds an attribute: of the semantic conventions of OpenTelemetry, or `florin.…`. No secret, no address and nothing about a
    /// customer.
    pub(crate) fn set(&mut self, key: &'static str, value: impl Into<opentelemetry::Value>) {
        self.span.set_attribute(KeyValue::new(key, value));
    }

    pub(crate) fn set_status(&mut self, status: u16) {
        self.set("http.response.status_code", i64::from(status));
    }

    pub(crate) fn fail(&mut self) {
        self.span.set_status(Status::error(""));
    }

    pub(crate) fn end(mut self) {
        self.has_ended = true;
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        if !self.has_ended {
            self.set("error.type", "cancelled");
            self.fail();
        }
        self.span.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drawn_share_is_the_configured_one() {
        let drawn = |per_million| {
            let draws = (0..10_000_u32).map(|n| n * (u32::MAX / 10_000));
            draws.filter(|draw| is_drawn(*draw, per_million)).count()
        };
        assert_eq!(drawn(0), 0);
        assert_eq!(drawn(1_000_000), 10_000);
        assert!((99..=101).contains(&drawn(10_000)));
        assert!(is_drawn(u32::MAX, 1_000_000));
        assert!(!is_drawn(0, 0));
    }
}

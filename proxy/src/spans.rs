//! Spans: what is recorded of a trace, and sent to a collector of OpenTelemetry.
//!
//! A span has the attributes that are written here, and no other. The fields of log lines stay out of it: they may name
//! addresses and customers. That is why spans are not made from those of `tracing`.
//!
//! The decision to record is made once, where a trace begins; it travels in the flags of its `traceparent`. A request that is not
//! recorded costs a comparison.

mod collector;
mod queue;

use std::borrow::Cow;
use std::sync::Arc;
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
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, Sampler, SdkTracer, SdkTracerProvider, Span,
};

use self::collector::Collector;
use self::queue::{CountingExporter, MAX_WAITING, QueueingProcessor, SpanQueue};
use crate::config::{Config, Tracing};
use crate::trace;

const MAX_BATCH: usize = 512;
/// How long a span waits for others.
const BATCH_DELAY: Duration = Duration::from_secs(2);
/// How long a process that ends waits for the collector.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// Records spans, if the configuration names a collector.
#[derive(Debug)]
pub(crate) struct Spans(Option<Recorder>);

#[derive(Debug)]
struct Recorder {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
    sampled_per_million: u32,
    queue: Arc<SpanQueue>,
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
        self.0.as_ref().map_or(0, |recorder| recorder.queue.lost())
    }

    /// Sends what waits, in bounded time.
    pub(crate) async fn shutdown(&self) {
        let Some(recorder) = &self.0 else {
            return;
        };
        let provider = recorder.provider.clone();
        // It blocks. What the collector does not take by then is lost.
        let ended =
            tokio::task::spawn_blocking(move || provider.shutdown_with_timeout(SHUTDOWN_TIMEOUT));
        let _ = ended.await;
    }
}

/// Of all draws, the share of `per_million`.
fn is_drawn(draw: u32, per_million: u32) -> bool {
    (u64::from(draw) * 1_000_000) >> 32 < u64::from(per_million)
}

impl Recorder {
    fn new(tracing: &Tracing, environment: &'static str) -> Result<Self, ExporterBuildError> {
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(Collector::new())
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(tracing.traces_url.as_str())
            .build()?;
        let queue = Arc::new(SpanQueue::default());
        let exporter = CountingExporter {
            next: exporter,
            queue: queue.clone(),
        };
        let batches = BatchConfigBuilder::default()
            .with_max_queue_size(MAX_WAITING)
            .with_max_export_batch_size(MAX_BATCH)
            .with_scheduled_delay(BATCH_DELAY)
            .build();
        let processor = BatchSpanProcessor::builder(exporter)
            .with_batch_config(batches)
            .build();
        let processor = QueueingProcessor {
            next: processor,
            queue: queue.clone(),
        };
        let resource = Resource::builder_empty()
            .with_service_name("florin-proxy")
            .with_attributes([
                KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
                KeyValue::new("deployment.environment.name", environment),
            ])
            .build();
        let provider = SdkTracerProvider::builder()
            .with_span_processor(processor)
            // Only what is to be recorded reaches it.
            .with_sampler(Sampler::AlwaysOn)
            .with_resource(resource)
            .build();
        Ok(Self {
            tracer: provider.tracer("florin-proxy"),
            provider,
            sampled_per_million: tracing.sampled_per_million,
            queue,
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

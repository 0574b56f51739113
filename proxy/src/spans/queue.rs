//! The spans that wait for the collector: as many as fit, and a count of those that are lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use opentelemetry::Context;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{Span, SpanData, SpanExporter, SpanProcessor};

/// Spans that wait for the collector, some 1 KiB each. Above it new ones are dropped.
pub(super) const MAX_WAITING: usize = 2048;

#[derive(Debug, Default)]
pub(super) struct SpanQueue {
    waiting: AtomicUsize,
    lost: AtomicU64,
    is_overflow_logged: AtomicBool,
}

impl SpanQueue {
    pub(super) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Takes a place. Returns `false`, and counts a loss, if none is free.
    fn enter(&self) -> bool {
        let add = |waiting| (waiting < MAX_WAITING).then_some(waiting + 1);
        let (order, read) = (Ordering::AcqRel, Ordering::Acquire);
        let has_place = self.waiting.fetch_update(order, read, add).is_ok();
        if !has_place {
            self.lose(1);
            if !self.is_overflow_logged.swap(true, Ordering::Relaxed) {
                tracing::warn!(
                    waiting = MAX_WAITING,
                    "too many spans wait for the collector: further ones are dropped, and florin_spans_lost_total counts them. \
                     Lower tracing.sample_ratio"
                );
            }
        }
        has_place
    }

    fn leave(&self, spans: usize) {
        self.waiting.fetch_sub(spans, Ordering::AcqRel);
    }

    fn lose(&self, spans: usize) {
        let spans = u64::try_from(spans).unwrap_or(u64::MAX);
        self.lost.fetch_add(spans, Ordering::Relaxed);
    }
}

#[derive(Debug)]
pub(super) struct QueueingProcessor<P> {
    pub(super) next: P,
    pub(super) queue: Arc<SpanQueue>,
}

impl<P: SpanProcessor> SpanProcessor for QueueingProcessor<P> {
    fn on_start(&self, span: &mut Span, context: &Context) {
        self.next.on_start(span, context);
    }

    fn on_end(&self, span: SpanData) {
        if self.queue.enter() {
            self.next.on_end(span);
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.next.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.next.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.next.set_resource(resource);
    }
}

/// Frees the places of the spans that are sent, and counts those that did not arrive.
#[derive(Debug)]
pub(super) struct CountingExporter<E> {
    pub(super) next: E,
    pub(super) queue: Arc<SpanQueue>,
}

impl<E: SpanExporter> SpanExporter for CountingExporter<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len();
        self.queue.leave(spans);
        let sent = self.next.export(batch).await;
        if sent.is_err() {
            self.queue.lose(spans);
        }
        sent
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.next.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.next.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.next.set_resource(resource);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use opentelemetry::trace::{Tracer as _, TracerProvider as _};
    use opentelemetry_sdk::error::OTelSdkError;
    use opentelemetry_sdk::trace::SdkTracerProvider;

    use super::*;

    #[derive(Clone, Debug, Default)]
    struct Kept(Arc<Mutex<Vec<SpanData>>>);

    impl SpanProcessor for Kept {
        fn on_start(&self, _: &mut Span, _: &Context) {}

        fn on_end(&self, span: SpanData) {
            self.0.lock().unwrap().push(span);
        }

        fn force_flush(&self) -> OTelSdkResult {
            Ok(())
        }

        fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
            Ok(())
        }
    }

    #[derive(Debug)]
    struct Collector {
        is_away: AtomicBool,
    }

    impl SpanExporter for Collector {
        async fn export(&self, _: Vec<SpanData>) -> OTelSdkResult {
            if self.is_away.load(Ordering::Relaxed) {
                return Err(OTelSdkError::InternalFailure("away".to_owned()));
            }
            Ok(())
        }
    }

    #[tokio::test]
    async fn spans_without_a_place_and_those_that_did_not_arrive_are_counted() {
        let (kept, queue) = (Kept::default(), Arc::new(SpanQueue::default()));
        let processor = QueueingProcessor {
            next: kept.clone(),
            queue: queue.clone(),
        };
        let provider = SdkTracerProvider::builder().with_span_processor(processor);
        let tracer = provider.build().tracer("test");
        let record = |spans: usize| (0..spans).for_each(|_| drop(tracer.start("span")));
        record(MAX_WAITING);
        assert_eq!(queue.lost(), 0);
        record(3);
        assert_eq!(queue.lost(), 3);
        assert_eq!(kept.0.lock().unwrap().len(), MAX_WAITING);
        let is_away = AtomicBool::new(false);
        let exporter = CountingExporter {
            next: Collector { is_away },
            queue: queue.clone(),
        };
        let batch = || kept.0.lock().unwrap().split_off(MAX_WAITING - 512);
        exporter.export(batch()).await.unwrap();
        record(512);
        assert_eq!(queue.lost(), 3, "there is room again");
        exporter.next.is_away.store(true, Ordering::Relaxed);
        exporter.export(batch()).await.unwrap_err();
        assert_eq!(queue.lost(), 3 + 512);
    }
}

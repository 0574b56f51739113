//! The gateway's client, measured: each call is counted by kind and outcome.

use std::sync::Arc;

use async_trait::async_trait;
use florin_gateway::{
    CallError, CheckoutRequest, Clock, ConfirmRequest, Confirmed, Credentials, Health,
    HostedSession, Invoice, InvoiceId, InvoiceRequest, InvoiceResponse, PaymentGateway, Prices,
    Priority, RawRequest, SettingsError, with_traceparent,
};

use super::Metrics;
use super::labels::Call;
use crate::spans::{Recording, Spans};
use crate::trace;

/// A gateway whose calls are counted.
pub(crate) struct MeasuredGateway {
    /// The client.
    pub inner: Arc<dyn PaymentGateway>,
    /// What records.
    pub spans: Arc<Spans>,
    /// What counts.
    pub metrics: Arc<Metrics>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
}

impl MeasuredGateway {
    async fn measured<T>(
        &self,
        call: Call,
        name: &'static str,
        response: impl Future<Output = Result<T, CallError>> + Send,
    ) -> Result<T, CallError> {
        let began = self.clock.now();
        let span = self.spans.client(|| name.into());
        let trace = span.as_ref().map(Recording::trace).or_else(trace::current);
        let result = with_traceparent(trace.map(trace::header), response).await;
        let elapsed = self.clock.now().duration_since(began);
        let outcome = self.metrics.call(call, &result, elapsed);
        if let Some(mut span) = span {
            span.set("florin.gateway.outcome", outcome);
            if let Err(error) = &result {
                span.fail();
                if let CallError::Refused { status, .. } | CallError::Broken { status } = error {
                    span.set_status(*status);
                }
            }
            span.end();
        }
        result
    }
}

#[async_trait]
impl PaymentGateway for MeasuredGateway {
    async fn prices(&self) -> Result<Prices, CallError> {
        self.measured(Call::Prices, "GET /prices", self.inner.prices())
            .await
    }

    async fn create_invoice(&self, request: &InvoiceRequest) -> Result<Invoice, CallError> {
        let response = self.inner.create_invoice(request);
        self.measured(Call::Create, "POST /invoice", response).await
    }

    async fn invoice(
        &self,
        invoice_id: &InvoiceId,
        priority: Priority,
    ) -> Result<InvoiceResponse, CallError> {
        let response = self.inner.invoice(invoice_id, priority);
        self.measured(Call::Poll, "GET /invoice", response).await
    }

    async fn confirm(&self, request: &ConfirmRequest) -> Result<Confirmed, CallError> {
        self.measured(Call::Other, "POST /confirm", self.inner.confirm(request))
            .await
    }

    async fn checkout(&self, request: &CheckoutRequest) -> Result<HostedSession, CallError> {
        self.measured(Call::Create, "POST /checkout", self.inner.checkout(request))
            .await
    }

    async fn forward(&self, request: &RawRequest) -> Result<String, CallError> {
        self.measured(Call::Other, "forwarded call", self.inner.forward(request))
            .await
    }

    fn available_after(&self, begun: &[Priority], priority: Priority) -> u32 {
        self.inner.available_after(begun, priority)
    }

    fn health(&self) -> Health {
        self.inner.health()
    }

    fn set_credentials(&self, credentials: &Credentials) -> Result<(), SettingsError> {
        self.inner.set_credentials(credentials)
    }
}

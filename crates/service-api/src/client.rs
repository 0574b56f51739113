//! A client of the payment service.
//!
//! What it promises: every call ends within its deadline and reads a bounded answer; nothing that might make a second
//! invoice is sent twice; while the service asks for a pause nothing is sent at all; the secret leaves it only as a
//! signature. What it does not do: remember answers, or judge them.

mod call;
mod effects;
mod error;
mod exchange;
mod https;
mod nonces;
mod pause;
mod retry;
mod settings;
mod transport;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use serde::de::DeserializeOwned;

use self::call::Call;
use self::exchange::{Exchange, Request};
use self::https::Https;
use self::pause::Pause;
use crate::wire::InvoiceLookup;
use crate::{
    CheckoutRequest, CheckoutSession, ConfirmRequest, Confirmed, Invoice, InvoiceId,
    InvoiceRequest, InvoiceStatus, Prices,
};

pub use self::effects::{Clock, Random};
pub use self::error::{CallError, Unclear};
pub use self::retry::RetryPolicy;
pub use self::settings::{Credentials, Deadlines, Settings, SettingsError};
pub use self::transport::{RawAnswer, SignedRequest, Transport};

/// The endpoints of the service that a checkout needs.
///
/// Source: payment-service.md, "Endpoints".
#[async_trait]
pub trait PaymentService: Send + Sync {
    /// GET /prices. Repeated when it fails.
    ///
    /// # Errors
    /// [`CallError`]
    async fn prices(&self) -> Result<Prices, CallError>;

    /// POST /invoice. Sent at most once: see [`CallError::surely_not_done`] before opening another.
    ///
    /// # Errors
    /// [`CallError`]
    async fn create_invoice(&self, request: &InvoiceRequest) -> Result<Invoice, CallError>;

    /// GET /invoice. Repeated when it fails. That the answer is about the invoice asked for is for the judge to see.
    ///
    /// # Errors
    /// [`CallError`]
    async fn invoice(&self, invoice_id: &InvoiceId) -> Result<InvoiceAnswer, CallError>;

    /// POST /confirm. Repeated when it fails. `Assumed:` saying twice that the customer has paid changes nothing; a
    /// refusal of the second time would disprove it.
    ///
    /// # Errors
    /// [`CallError`]
    async fn confirm(&self, request: &ConfirmRequest) -> Result<Confirmed, CallError>;

    /// POST /checkout. Sent at most once.
    ///
    /// # Errors
    /// [`CallError`]
    async fn checkout(&self, request: &CheckoutRequest) -> Result<CheckoutSession, CallError>;
}

/// What one GET /invoice said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvoiceAnswer {
    /// Its `data`.
    pub status: InvoiceStatus,
    /// The whole body as it came, to be kept as evidence.
    pub raw: String,
}

/// The service over HTTPS, or over whatever carries its requests.
///
/// Cloning is cheap, and clones share connections, nonces and pauses.
#[derive(Clone)]
pub struct Client {
    exchange: Arc<Exchange>,
    pause: Arc<Pause>,
    retry: RetryPolicy,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
}

impl Client {
    /// Prepares a client; nothing is sent.
    ///
    /// # Errors
    /// [`SettingsError`]
    pub fn new(
        settings: Settings,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Result<Self, SettingsError> {
        let https = Arc::new(Https::new(&settings)?);
        Self::over(https, settings, clock, random)
    }

    /// Prepares a client whose requests are carried by something else than HTTPS, for tests without a network. All that
    /// a client promises holds, but for the deadlines, which are the transport's.
    ///
    /// # Errors
    /// [`SettingsError`]
    pub fn over(
        transport: Arc<dyn Transport>,
        settings: Settings,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Result<Self, SettingsError> {
        let retry = settings.retry;
        let exchange = Exchange::new(settings, transport, Arc::clone(&clock))?;
        Ok(Self {
            exchange: Arc::new(exchange),
            pause: Arc::default(),
            retry,
            clock,
            random,
        })
    }

    /// Makes a call, as often as the retry policy allows, and reads the answer.
    async fn call<A: DeserializeOwned>(&self, request: Request) -> Result<(A, String), CallError> {
        let mut tries = 1;
        loop {
            let error = match self.attempt(&request).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let Some(delay) = self.retry.delay(request.call, &error, tries, &*self.random) else {
                return Err(error);
            };
            self.clock.sleep(delay).await;
            tries += 1;
        }
    }

    /// Sends a request once, unless the service has asked for a pause.
    async fn attempt<A: DeserializeOwned>(
        &self,
        request: &Request,
    ) -> Result<(A, String), CallError> {
        self.pause.check(self.clock.now())?;
        let answer = self.exchange.send(request).await?;
        let now = self.clock.now();
        let retry_after = self
            .pause
            .learn(now, answer.status, answer.retry_after.as_deref());
        match answer.status {
            200..=299 => {
                let raw = answer.text()?;
                let parsed = serde_json::from_str(&raw)
                    .map_err(|error| CallError::Unclear(Unclear::Garbled(error.to_string())))?;
                Ok((parsed, raw))
            }
            429 => Err(CallError::RateLimited { retry_after }),
            status @ 400..=499 => Err(CallError::Refused {
                status,
                error: answer.explanation(),
            }),
            status @ 500..=599 => Err(CallError::Broken { status }),
            status => Err(CallError::Unclear(Unclear::Status(status))),
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("exchange", &self.exchange)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl PaymentService for Client {
    async fn prices(&self) -> Result<Prices, CallError> {
        let (prices, _) = self
            .call(Request::get(Call::Prices, "/prices".into()))
            .await?;
        Ok(prices)
    }

    async fn create_invoice(&self, request: &InvoiceRequest) -> Result<Invoice, CallError> {
        let (invoice, _) = self
            .call(Request::post(Call::CreateInvoice, "/invoice", request))
            .await?;
        Ok(invoice)
    }

    async fn invoice(&self, invoice_id: &InvoiceId) -> Result<InvoiceAnswer, CallError> {
        let request = Request::get(Call::Invoice, invoice_path(invoice_id));
        let (InvoiceLookup { data: status }, raw) = self.call(request).await?;
        Ok(InvoiceAnswer { status, raw })
    }

    async fn confirm(&self, request: &ConfirmRequest) -> Result<Confirmed, CallError> {
        let (confirmed, _) = self
            .call(Request::post(Call::Confirm, "/confirm", request))
            .await?;
        Ok(confirmed)
    }

    async fn checkout(&self, request: &CheckoutRequest) -> Result<CheckoutSession, CallError> {
        let (session, _) = self
            .call(Request::post(Call::Checkout, "/checkout", request))
            .await?;
        Ok(session)
    }
}

/// The identifier goes into the query encoded, so that what is signed is what is sent.
fn invoice_path(invoice_id: &InvoiceId) -> String {
    let id: String = url::form_urlencoded::byte_serialize(invoice_id.as_str().as_bytes()).collect();
    format!("/invoice?id={id}")
}

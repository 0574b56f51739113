//! A client of the payment service.
//!
//! What it promises: every call ends within its deadline and reads a bounded answer; nothing that might make a second
//! invoice is sent twice; while the service asks for a pause nothing is sent at all; all calls together keep to one
//! budget; one invoice is asked about once at a time; the secret leaves it only as a signature. What it does not do:
//! remember answers, or judge them.

mod error;
mod http;
mod limits;
mod nonces;
mod raw_request;
mod settings;
mod single_flight;
mod transport;

use core::time::Duration;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use jiff::SignedDuration;
use serde::de::{DeserializeOwned, IgnoredAny};

use self::http::{Answer, Call, Exchange, Request};
use self::limits::Manners;
use self::single_flight::Flights;
use self::transport::Https;
use crate::types::InvoiceLookup;
use crate::{
    CheckoutRequest, CheckoutSession, ConfirmRequest, Confirmed, Invoice, InvoiceId,
    InvoiceRequest, InvoiceStatus, Prices,
};

pub use self::error::{CallError, Unclear};
pub use self::limits::{Priority, RetryPolicy};
pub use self::nonces::NonceRule;
pub use self::raw_request::{Endpoint, MAX_PASSED_BYTES, Passage, PassageError};
pub use self::settings::{Clock, Credentials, Deadlines, Random, Settings, SettingsError};
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

    /// GET /invoice. Repeated when it fails. Whoever asks while the same is asked already shares the answer. That the
    /// answer is about the invoice asked for is for the judge to see.
    ///
    /// # Errors
    /// [`CallError`]
    async fn invoice(
        &self,
        invoice_id: &InvoiceId,
        priority: Priority,
    ) -> Result<InvoiceAnswer, CallError>;

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

    /// Any endpoint, its answer as it came: valid JSON, untouched. What reads is repeated when it fails, what changes
    /// something is sent at most once.
    ///
    /// # Errors
    /// [`CallError`]
    async fn pass(&self, passage: &Passage) -> Result<String, CallError>;

    /// How many calls of a priority would be sent at this moment. Whoever has much to ask asks for no more.
    fn room(&self, priority: Priority) -> u32;

    /// How it goes with the service, for the operator.
    fn condition(&self) -> Condition;
}

/// How it goes with the service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// Whether it is taken for down: nothing is sent but now and then a probe.
    pub is_circuit_open: bool,
    /// What is left of the pause it asked for.
    pub pause: Duration,
    /// The most calls a minute that it bears, as far as is known.
    pub requests_per_minute: u64,
    /// How far its clock is ahead of ours, in whole seconds; `None` before its first answer.
    pub skew: Option<SignedDuration>,
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
/// Cloning is cheap, and clones share connections, nonces and budget.
#[derive(Clone)]
pub struct Client {
    exchange: Arc<Exchange>,
    manners: Arc<Manners>,
    flights: Arc<Flights>,
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
        let (retry, now) = (settings.retry, clock.now());
        let manners = match settings.nonces {
            NonceRule::MayRepeat => Manners::of(settings.requests_per_second, now),
            NonceRule::MustIncrease => Manners::one_a_second(now),
        };
        let exchange = Exchange::new(settings, transport, Arc::clone(&clock))?;
        Ok(Self {
            exchange: Arc::new(exchange),
            manners: Arc::new(manners),
            flights: Arc::default(),
            retry,
            clock,
            random,
        })
    }

    /// Makes a call, as often as the retry policy allows, and reads the answer.
    async fn call<A: DeserializeOwned>(
        &self,
        request: Request,
        priority: Priority,
    ) -> Result<(A, String), CallError> {
        let mut tries = 1;
        let mut failed = None;
        let mut clock_was_set = false;
        loop {
            let waits = request.call.longest_wait();
            let failure = match self.attempt(&request, priority, waits).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            let error = match failure.error {
                // What was asked for and failed says more than that there is no room to ask again.
                CallError::OutOfBudget { .. } if failed.is_some() => {
                    return Err(failed.expect("it was seen just now"));
                }
                error => error,
            };
            // A 401 was surely not done: once the clocks agree it is worth another try, whatever it was.
            if failure.clock_was_off && !clock_was_set {
                clock_was_set = true;
                failed = Some(error);
                continue;
            }
            let delay = self.retry.delay(request.call, &error, tries, &*self.random);
            let Some(delay) = delay.filter(|_| self.manners.may_repeat()) else {
                return Err(error);
            };
            failed = Some(error);
            self.clock.sleep(delay).await;
            tries += 1;
        }
    }

    /// Sends a request once when its turn has come, if that is within `waits`.
    async fn attempt<A: DeserializeOwned>(
        &self,
        request: &Request,
        priority: Priority,
        mut waits: Duration,
    ) -> Result<(A, String), Failure> {
        let leave = loop {
            match self.manners.ask(self.clock.now(), priority) {
                Ok(leave) => break leave,
                Err(CallError::OutOfBudget { retry_after }) if retry_after <= waits => {
                    // Never for nothing, so that this ends even on a clock that stands still.
                    let pause = retry_after.max(Duration::from_millis(1));
                    waits = waits.saturating_sub(pause);
                    self.clock.sleep(pause).await;
                }
                Err(error) => return Err(Failure::of(error)),
            }
        };
        let (result, clock_was_off) = match self.exchange.send(request).await {
            Ok(answer) => {
                let clock_was_off = answer.clock_was_off;
                (self.read(answer), clock_was_off)
            }
            Err(error) => (Err(error), false),
        };
        leave.settle(self.clock.now(), &result);
        result.map_err(|error| Failure {
            error,
            clock_was_off,
        })
    }

    /// What the answer means; of a success also how it was written.
    fn read<A: DeserializeOwned>(&self, answer: Answer) -> Result<(A, String), CallError> {
        let (now, asked) = (self.clock.now(), answer.retry_after.as_deref());
        let retry_after = self.manners.learn_pause(now, answer.status, asked);
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

    async fn look(
        &self,
        invoice_id: &InvoiceId,
        priority: Priority,
    ) -> Result<InvoiceAnswer, CallError> {
        let request = Request::get(Call::Invoice, invoice_path(invoice_id));
        let (InvoiceLookup { data: status }, raw) = self.call(request, priority).await?;
        Ok(InvoiceAnswer { status, raw })
    }
}

/// Why a request got no usable answer.
struct Failure {
    error: CallError,
    clock_was_off: bool,
}

impl Failure {
    fn of(error: CallError) -> Self {
        Self {
            error,
            clock_was_off: false,
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
        let request = Request::get(Call::Prices, "/prices".into());
        Ok(self.call(request, Priority::Create).await?.0)
    }

    async fn create_invoice(&self, request: &InvoiceRequest) -> Result<Invoice, CallError> {
        let request = Request::post(Call::CreateInvoice, "/invoice", request);
        Ok(self.call(request, Priority::Create).await?.0)
    }

    async fn invoice(
        &self,
        invoice_id: &InvoiceId,
        priority: Priority,
    ) -> Result<InvoiceAnswer, CallError> {
        let flight = self.flights.join(invoice_id, || {
            let (client, id) = (self.clone(), invoice_id.clone());
            Box::pin(async move { client.look(&id, priority).await })
        });
        flight.await
    }

    async fn confirm(&self, request: &ConfirmRequest) -> Result<Confirmed, CallError> {
        let request = Request::post(Call::Confirm, "/confirm", request);
        Ok(self.call(request, Priority::Watched).await?.0)
    }

    async fn checkout(&self, request: &CheckoutRequest) -> Result<CheckoutSession, CallError> {
        let request = Request::post(Call::Checkout, "/checkout", request);
        Ok(self.call(request, Priority::Create).await?.0)
    }

    async fn pass(&self, passage: &Passage) -> Result<String, CallError> {
        // A store's tools never slow down a payment.
        let passed = self.call::<IgnoredAny>(Request::passing(passage), Priority::Unwatched);
        Ok(passed.await?.1)
    }

    fn room(&self, priority: Priority) -> u32 {
        self.manners.room(self.clock.now(), priority)
    }

    fn condition(&self) -> Condition {
        Condition {
            is_circuit_open: self.manners.is_circuit_open(),
            pause: self.manners.pause_left(self.clock.now()),
            requests_per_minute: self.manners.requests_per_minute(),
            skew: self.exchange.skew(),
        }
    }
}

/// The identifier goes into the query encoded, so that what is signed is what is sent.
fn invoice_path(invoice_id: &InvoiceId) -> String {
    let id: String = url::form_urlencoded::byte_serialize(invoice_id.as_str().as_bytes()).collect();
    format!("/invoice?id={id}")
}

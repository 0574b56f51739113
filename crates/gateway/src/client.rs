//! A client of the gateway.
//!
//! Guarantees: every call ends within its deadline and reads a bounded response; nothing that might
//! make a second invoice is sent twice; nothing is sent during a Retry-After pause; all calls share
//! one budget, which several processes may share; concurrent lookups of one invoice share one request; the secret leaves the client
//! only as a signature. It does not store or assess responses.

mod account_row;
mod error;
mod http;
mod limiter;
mod limits;
mod nonces;
mod raw_request;
mod settings;
mod transport;

use core::time::Duration;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use serde::de::{DeserializeOwned, IgnoredAny};
use url::Url;

use self::error::{Outcome, Response};
use self::http::{Call, SingleFlight};
use self::limiter::Limiter;
use self::limits::{Rules, retry_delay};
use self::settings::{SigningKey, SigningKeys, check_base_url};
use self::transport::Https;
use crate::types::InvoiceLookup;
use crate::{
    CheckoutRequest, ConfirmRequest, Confirmed, GatewayError, HostedSession, Invoice, InvoiceId,
    InvoiceRequest, Method, Prices,
};

pub use self::account_row::{
    AccountRow, AccountRowError, AccountState, AccountStep, NewAccountState,
};
pub use self::error::{AmbiguousOutcome, CallError};
pub use self::http::{InvoiceResponse, with_traceparent};
pub use self::limits::{Health, Priority, retry_after};
pub use self::nonces::NonceRule;
pub use self::raw_request::{Endpoint, MAX_RAW_BODY_BYTES, RawRequest, RawRequestError};
pub use self::settings::{Clock, Credentials, Deadlines, Random, Settings, SettingsError};
pub use self::transport::{RawResponse, SignedRequest, Transport};

/// A call has ended by so much after its deadline, also in a process that is slow.
const LEASE_MARGIN: Duration = Duration::from_secs(5);

/// The endpoints of the gateway that a checkout needs.
///
/// Source: payment-service.md, "Endpoints".
#[async_trait]
pub trait PaymentGateway: Send + Sync {
    /// GET /prices. Repeated when it fails.
    async fn prices(&self) -> Result<Prices, CallError>;

    /// POST /invoice. Executed at most once, and sent again only after a 401: see [`CallError::definitely_not_executed`] before opening another.
    async fn create_invoice(&self, request: &InvoiceRequest) -> Result<Invoice, CallError>;

    /// GET /invoice. Retried when it fails. Concurrent lookups of the same invoice share one
    /// request. The caller checks that the response is about this invoice.
    async fn invoice(
        &self,
        invoice_id: &InvoiceId,
        priority: Priority,
    ) -> Result<InvoiceResponse, CallError>;

    /// POST /confirm. Repeated when it fails. `Assumed:` saying twice that the customer has paid changes nothing; a
    /// refusal of the second time would disprove it.
    async fn confirm(&self, request: &ConfirmRequest) -> Result<Confirmed, CallError>;

    /// POST /checkout. Executed at most once, and sent again only after a 401.
    async fn checkout(&self, request: &CheckoutRequest) -> Result<HostedSession, CallError>;

    /// Any endpoint; returns the response body unchanged: valid JSON. Reads are retried when they
    /// fail; writes are executed at most once, and sent again only after a 401.
    async fn forward(&self, request: &RawRequest) -> Result<String, CallError>;

    /// The number of calls of a priority that would be sent now.
    fn available(&self, priority: Priority) -> u32 {
        self.available_after(&[], priority)
    }

    /// The same once the `begun` calls are sent, in their order.
    fn available_after(&self, begun: &[Priority], priority: Priority) -> u32;

    /// The state of the connection to the gateway, for the operator.
    fn health(&self) -> Health;

    /// Signs later calls with these credentials. Calls in progress end with those that they began
    /// with.
    ///
    /// # Errors
    /// [`SettingsError::ApiKey`]; then nothing is changed.
    fn set_credentials(&self, credentials: &Credentials) -> Result<(), SettingsError>;
}

/// The gateway over HTTPS, or over another [`Transport`].
///
/// Cloning is cheap, and clones share connections, nonces and budget.
#[derive(Clone)]
pub struct Client {
    transport: Arc<dyn Transport>,
    base_url: Url,
    sign_put_body: bool,
    keys: Arc<SigningKeys>,
    limiter: Arc<Limiter>,
    in_flight: Arc<SingleFlight>,
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
        Self::with_transport(https, settings, clock, random)
    }

    /// Prepares a client over another transport than HTTPS, for tests without a network. All
    /// guarantees hold except the deadlines, which belong to the transport.
    ///
    /// # Errors
    /// [`SettingsError`]
    pub fn with_transport(
        transport: Arc<dyn Transport>,
        settings: Settings,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Result<Self, SettingsError> {
        check_base_url(&settings.base_url)?;
        let rules = Rules {
            requests_per_second: settings.requests_per_second,
            nonces: settings.nonces,
            lease: settings.deadlines.total + LEASE_MARGIN,
            is_shared: false,
        };
        let limiter = Limiter::in_memory(rules, clock.clone());
        let keys = SigningKeys::new(&settings.credentials)?;
        Ok(Self {
            transport,
            base_url: settings.base_url,
            sign_put_body: settings.sign_put_body,
            keys: Arc::new(keys),
            limiter,
            in_flight: Arc::default(),
            clock,
            random,
        })
    }

    /// Shares limits and nonces with all processes that use the same row. Without the row nothing is sent. Where nonces
    /// must increase, one call is under way at a time. Needs a runtime of tokio.
    pub fn sharing(self, row: Arc<dyn AccountRow>) -> Self {
        let rules = Rules {
            is_shared: true,
            ..self.limiter.rules()
        };
        let limiter = Limiter::shared(row, rules, self.clock.clone());
        Self { limiter, ..self }
    }

    /// Waits until the shared limits have the outcomes of all calls so far: for a process that ends.
    pub async fn flush(&self) {
        self.limiter.flush().await;
    }

    async fn call<A: DeserializeOwned>(
        &self,
        call: Call,
        request: RawRequest,
        priority: Priority,
    ) -> Result<(A, String), CallError> {
        let mut tries = 1;
        let mut failed = None;
        let mut clock_was_set = false;
        let key = self.keys.current();
        loop {
            let result = self.attempt(call, &request, &key, priority, tries).await;
            if call.proves_key() && accepts_key(&result) {
                key.set_rejected(false);
            }
            let failure = match result {
                Ok(response) => return Ok(response),
                Err(failure) => failure,
            };
            let error = match failure.error {
                // The failure of the call says more than a full budget does.
                CallError::OutOfBudget { .. } if failed.is_some() => {
                    return Err(failed.expect("it was seen just now"));
                }
                error => error,
            };
            // A 401 was definitely not executed: retry once with the gateway's clock, whatever the
            // call.
            if failure.clock_was_off && !clock_was_set {
                clock_was_set = true;
                failed = Some(error);
                continue;
            }
            let is_unauthorized = matches!(error, CallError::Refused { status: 401, .. });
            if is_unauthorized && call.needs_only_key() {
                key.set_rejected(true);
            }
            let Some(delay) = failure.delay else {
                return Err(error);
            };
            failed = Some(error);
            self.clock.sleep(delay).await;
            tries += 1;
        }
    }

    /// Sends a request once, when the budget allows it within the longest wait of the call.
    async fn attempt<A: DeserializeOwned>(
        &self,
        call: Call,
        request: &RawRequest,
        key: &SigningKey,
        priority: Priority,
        tries: u32,
    ) -> Result<(A, String), Failure> {
        let mut max_wait = call.max_wait();
        let permit = loop {
            match self.limiter.acquire(priority).await {
                Ok(permit) => break permit,
                Err(CallError::OutOfBudget { retry_after }) if retry_after <= max_wait => {
                    // Wait at least 1 ms so that the loop ends under a frozen test clock.
                    let pause = retry_after.max(Duration::from_millis(1));
                    max_wait = max_wait.saturating_sub(pause);
                    self.clock.sleep(pause).await;
                }
                Err(error) => return Err(Failure::of(error)),
            }
        };
        let (response, result) = match self.send(request, key, permit.nonce()).await {
            Ok(response) => (Some(Response::of(&response)), read(response)),
            Err(error) => (None, Err(error)),
        };
        let failed = result.as_ref().err();
        let delay = failed.and_then(|error| retry_delay(call, error, tries, &*self.random));
        let outcome = Outcome {
            wants_retry: delay.is_some(),
            ..Outcome::of(response, &result)
        };
        let recorded = permit.complete(outcome).await;
        result.map_err(|error| Failure {
            error: match error {
                CallError::RateLimited { .. } => CallError::RateLimited {
                    retry_after: recorded.pause,
                },
                error => error,
            },
            clock_was_off: recorded.clock_was_off,
            delay: delay.filter(|_| recorded.may_retry),
        })
    }

    async fn lookup(
        &self,
        invoice_id: &InvoiceId,
        priority: Priority,
    ) -> Result<InvoiceResponse, CallError> {
        let request = RawRequest::invoice(invoice_id, false);
        let found = self.call(Call::Invoice, request, priority).await?;
        let (InvoiceLookup { data: status }, raw) = found;
        Ok(InvoiceResponse { status, raw })
    }
}

/// Parses the response; of a success also returns the raw body. The limits know how long a pause lasts.
fn read<A: DeserializeOwned>(response: RawResponse) -> Result<(A, String), CallError> {
    match response.status {
        200..=299 => {
            let invalid = AmbiguousOutcome::InvalidJson;
            let raw = String::from_utf8(response.body?);
            let raw = raw.map_err(|error| invalid(error.to_string()))?;
            let parsed = serde_json::from_str(&raw);
            let parsed = parsed.map_err(|error| invalid(error.to_string()))?;
            Ok((parsed, raw))
        }
        429 => Err(CallError::RateLimited {
            retry_after: Duration::ZERO,
        }),
        status @ 400..=499 => {
            let body = response.body.unwrap_or_default();
            Err(CallError::Refused {
                status,
                error: GatewayError::from_body(&body),
            })
        }
        status @ 500..=599 => Err(CallError::Broken { status }),
        status => Err(CallError::Ambiguous(AmbiguousOutcome::Status(status))),
    }
}

/// Returns `true` if the response is one to a request whose key and signature the gateway has accepted. A rate limit or a
/// failure may come before it looks at them.
fn accepts_key<A>(result: &Result<A, Failure>) -> bool {
    match result {
        Ok(_) => true,
        Err(failure) => matches!(
            failure.error,
            CallError::Refused {
                status: 400 | 404,
                ..
            }
        ),
    }
}

struct Failure {
    error: CallError,
    clock_was_off: bool,
    /// When to try again; `None`: not at all.
    delay: Option<Duration>,
}

impl Failure {
    fn of(error: CallError) -> Self {
        Self {
            error,
            clock_was_off: false,
            delay: None,
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}

#[async_trait]
impl PaymentGateway for Client {
    async fn prices(&self) -> Result<Prices, CallError> {
        let request = RawRequest::get("/prices");
        let prices = self.call(Call::Prices, request, Priority::Create);
        Ok(prices.await?.0)
    }

    async fn create_invoice(&self, request: &InvoiceRequest) -> Result<Invoice, CallError> {
        let request = RawRequest::post("/invoice", request);
        let invoice = self.call(Call::CreateInvoice, request, Priority::Create);
        Ok(invoice.await?.0)
    }

    async fn invoice(
        &self,
        invoice_id: &InvoiceId,
        priority: Priority,
    ) -> Result<InvoiceResponse, CallError> {
        let request = self.in_flight.join(invoice_id, || {
            let (client, id) = (self.clone(), invoice_id.clone());
            Box::pin(async move { client.lookup(&id, priority).await })
        });
        request.await
    }

    async fn confirm(&self, request: &ConfirmRequest) -> Result<Confirmed, CallError> {
        let request = RawRequest::post("/confirm", request);
        let confirmed = self.call(Call::Confirm, request, Priority::Watched);
        Ok(confirmed.await?.0)
    }

    async fn checkout(&self, request: &CheckoutRequest) -> Result<HostedSession, CallError> {
        let request = RawRequest::post("/checkout", request);
        let session = self.call(Call::Checkout, request, Priority::Create);
        Ok(session.await?.0)
    }

    async fn forward(&self, request: &RawRequest) -> Result<String, CallError> {
        let call = match request.method {
            Method::Get => Call::Read,
            Method::Post | Method::Put => Call::Write,
        };
        // A store's tools have the lowest priority, so that they never delay a payment.
        let passed = self.call::<IgnoredAny>(call, request.clone(), Priority::Unwatched);
        Ok(passed.await?.1)
    }

    fn available_after(&self, begun: &[Priority], priority: Priority) -> u32 {
        self.limiter.available(begun, priority)
    }

    fn health(&self) -> Health {
        Health {
            is_key_rejected: self.keys.current().is_rejected(),
            ..self.limiter.health()
        }
    }

    fn set_credentials(&self, credentials: &Credentials) -> Result<(), SettingsError> {
        self.keys.replace(credentials)
    }
}

//! Opening an attempt: the row first, then one call of the gateway, then the checks, then the customer sees it.
//!
//! An invoice with an address (POST /invoice) and a session on the gateway's own page (POST /checkout) take the same path;
//! from there on a session is an invoice like any other: polled, assessed and credited alike.

use std::net::IpAddr;
use std::sync::Arc;

use florin_gateway_client::{CallError, CheckoutRequest, InvoiceRequest};
use florin_money::{Asset, CryptoCode};
use florin_orders::{
    Abandoned, Attempt, CustomTerms, EventType, Flow, Invoice, InvoiceTerms, NewAttempt, NewOrder,
    Order, OrderId, OrderStatus, Snapshot,
};
use florin_storage::{OpenAttemptError, StorageError};
use jiff::{SignedDuration, Timestamp};
use secrecy::ExposeSecret as _;
use tracing::Instrument as _;
use url::Url;

use crate::config::{Config, Store};
use crate::payments::checks::{InvoiceMismatch, SessionMismatch, check_invoice, check_session};
use crate::payments::error::{MissingForHosted, PaymentError, is_about_price, log_rejection};
use crate::payments::fair_queue::{Client, QueuePermit};
use crate::payments::quotes::{self, QuoteError};
use crate::payments::view;
use crate::rate_limit::network;
use crate::state::AppState;
use crate::trace;

/// A payment that begins with less time than this could come too late: a new quote gets a new invoice.
const LAST_MINUTE: SignedDuration = SignedDuration::from_secs(60);

pub(crate) enum PaymentMethod<'a> {
    Address {
        crypto_code: &'a str,
        quote_id: &'a str,
    },
    HostedPage,
}

/// Opens an attempt, unless one is open that fits.
///
/// Runs to its end even if the customer disconnects: an invoice that was requested is never forgotten. An ambiguous
/// outcome is never sent again: a new attempt is opened, and the first one was shown to no customer.
pub(crate) async fn open(
    app: &Arc<AppState>,
    snapshot: &Snapshot,
    method: PaymentMethod<'_>,
    client: Option<IpAddr>,
) -> Result<(), PaymentError> {
    let Some(mut call) = call_for(app, snapshot, &method).await? else {
        return Ok(());
    };
    let order = &snapshot.order.id;
    let next = client.map_or_else(
        || Client::Order(order.clone()),
        |address| Client::Address(network(address)),
    );
    let (gateway, clock) = (&*app.gateway, &*app.clock);
    let turn = app.invoice_queue.take_with_budget(next, gateway, clock);
    let turn = turn.await?;
    if turn.has_waited {
        // Another request may have opened an attempt meanwhile.
        let current = app.storage.snapshot(order).await?;
        let current = current.ok_or(PaymentError::NoOrder)?;
        match call_for(app, &current, &method).await? {
            Some(current) => call = current,
            None => return Ok(()),
        }
    }
    let (app, order) = (app.clone(), order.clone());
    let sent = async move { send(&app, &order, call, turn).await };
    let trace = snapshot.order.terms.traceparent;
    let sent = trace::within(trace.or_else(trace::current), sent.in_current_span());
    tokio::spawn(sent).await?
}

async fn call_for(
    app: &AppState,
    snapshot: &Snapshot,
    method: &PaymentMethod<'_>,
) -> Result<Option<Call>, PaymentError> {
    let order = &snapshot.order;
    let call = match *method {
        PaymentMethod::Address {
            crypto_code,
            quote_id,
        } => {
            if order.terms.flow == Flow::Hosted {
                return Err(PaymentError::HostedOrder);
            }
            if is_open(app, snapshot, crypto_code) {
                return Ok(None);
            }
            let (terms, request) =
                invoice_request(app, &order.terms, crypto_code, quote_id).await?;
            Call::Invoice { terms, request }
        }
        PaymentMethod::HostedPage => {
            if order.terms.flow == Flow::Custom {
                return Err(PaymentError::CustomOrder);
            }
            let config = app.config();
            let checkout_url = config.gateway.checkout_url.as_ref();
            if view::hosted_page(snapshot, checkout_url, app.now()).is_some() {
                return Ok(None);
            }
            session_call(app, order)?
        }
    };
    Ok(Some(call))
}

/// Returns `true` if the asset's invoice can still be paid. In its last minute a new one is better, unless the customer
/// says that it is paid.
fn is_open(app: &AppState, snapshot: &Snapshot, crypto_code: &str) -> bool {
    let needed = match snapshot.order.status {
        OrderStatus::AwaitingPayment => LAST_MINUTE,
        OrderStatus::Checking => SignedDuration::ZERO,
        _ => return false,
    };
    let attempt = snapshot.attempt.as_ref();
    let invoice = attempt.and_then(|attempt| Some((attempt, attempt.invoice()?)));
    invoice.is_some_and(|(Attempt { terms, .. }, invoice)| {
        terms
            .custom()
            .is_some_and(|terms| terms.crypto_code.as_str() == crypto_code)
            && needed < invoice.expires_at.duration_since(app.now())
    })
}

enum Call {
    Invoice {
        terms: CustomTerms,
        request: InvoiceRequest,
    },
    Session {
        request: CheckoutRequest,
        checkout_url: Url,
    },
}

#[derive(Debug, thiserror::Error)]
enum Mismatch {
    #[error(transparent)]
    Invoice(#[from] InvoiceMismatch),
    #[error(transparent)]
    Session(#[from] SessionMismatch),
    #[error("order {order} has an invoice of this id already")]
    Taken { order: OrderId },
}

/// The request for an invoice of this asset at this quote, and what the invoice must be.
pub(crate) async fn invoice_request(
    app: &AppState,
    order: &NewOrder,
    crypto_code: &str,
    quote_id: &str,
) -> Result<(CustomTerms, InvoiceRequest), PaymentError> {
    let code = CryptoCode::parse(crypto_code)
        .map_err(|error| PaymentError::InvalidCryptoCode(error.to_string()))?;
    let asset = Asset::of(&code).ok_or(PaymentError::UnknownAsset)?;
    if !order.assets.is_empty() && !order.assets.contains(&code) {
        return Err(PaymentError::AssetNotAccepted);
    }
    let storage = &**app.storage;
    let price = app.prices.find(storage, &code, quote_id, app.now()).await?;
    let price = price.ok_or(PaymentError::QuoteExpired)?;
    let requested = quotes::quote(order, asset, &price).map_err(|error| match error {
        QuoteError::NotPriced => PaymentError::NotPriced,
        QuoteError::BelowMinimum | QuoteError::AboveMaximum => PaymentError::AmountOutOfRange,
    })?;
    let request = InvoiceRequest {
        conversion_id: price.conversion_id.clone(),
        amount_in_usd: requested.amounts.usd.to_text(),
        amount_in_local_currency: requested.amounts.local.to_text(),
        amount_in_crypto: requested.amounts.crypto.to_text(),
        crypto_code: code.clone(),
    };
    let terms = CustomTerms {
        crypto_code: code,
        conversion_id: price.conversion_id.as_str().to_owned(),
        requested,
    };
    Ok((terms, request))
}

fn session_call(app: &AppState, order: &Order) -> Result<Call, PaymentError> {
    let terms = &order.terms;
    let config = app.config();
    let store = config.store(&terms.store_id);
    let store = store.ok_or(PaymentError::NoOrder)?;
    let email = terms.customer_email.as_deref();
    let needs = HostedNeeds::of(&config, store, email, terms.return_url.as_deref())
        .map_err(PaymentError::MissingForHosted)?;
    let base = config.public_url.base();
    let token = config.gateway.callback_token.newest().expose_secret();
    let request = CheckoutRequest {
        client_email_id: needs.email.to_owned(),
        client_preferred_fiat_currency: terms.currency,
        amount: Some(terms.amount.to_text()),
        merchant_id: store.merchant_id.clone(),
        merchant_website: needs.return_url.to_owned(),
        invoice_callback_url: format!("{base}/callbacks/{token}"),
    };
    Ok(Call::Session {
        request,
        checkout_url: needs.checkout_url.clone(),
    })
}

pub(crate) struct HostedNeeds<'a> {
    email: &'a str,
    return_url: &'a str,
    checkout_url: &'a Url,
}

impl<'a> HostedNeeds<'a> {
    pub(crate) fn of(
        config: &'a Config,
        store: &'a Store,
        email: Option<&'a str>,
        return_url: Option<&'a str>,
    ) -> Result<Self, MissingForHosted> {
        Ok(Self {
            email: email.ok_or(MissingForHosted::Email)?,
            return_url: return_url
                .or(store.return_url.as_deref())
                .ok_or(MissingForHosted::ReturnUrl)?,
            checkout_url: config
                .gateway
                .checkout_url
                .as_ref()
                .ok_or(MissingForHosted::CheckoutUrl)?,
        })
    }
}

async fn send(
    app: &AppState,
    order: &OrderId,
    call: Call,
    turn: QueuePermit,
) -> Result<(), PaymentError> {
    let storage = &app.storage;
    let attempt = NewAttempt {
        id: app.random_attempt_id(),
        invoice: call.terms(),
    };
    storage.begin_attempt(order, &attempt, app.now()).await?;
    // The invoice's time runs from before the call, so that it ends here no later than at the gateway.
    let sent_at = app.now();
    drop(turn);
    let created = match call.create(app, sent_at).await {
        Ok(created) => created,
        Err(error) => {
            let reason = if error.definitely_not_executed() {
                Abandoned::Refused
            } else {
                Abandoned::OutcomeUnknown
            };
            storage
                .abandon_attempt(&attempt.id, reason, app.now())
                .await?;
            return Err(call.failed(app, error).await);
        }
    };
    let (id, checked) = created;
    let stored = match checked {
        Ok(invoice) => save_invoice(app, &attempt, &invoice).await?,
        Err(mismatch) => Err(mismatch),
    };
    let opened = match stored {
        Ok(()) => {
            app.metrics.order_events(&[EventType::AttemptOpened]);
            Ok(())
        }
        Err(mismatch) => {
            storage
                .abandon_attempt(&attempt.id, Abandoned::Blocked, app.now())
                .await?;
            app.metrics.order_events(&[EventType::Blocked]);
            call.blocked(order, &attempt, &id, &mismatch)
        }
    };
    app.wake_dispatcher();
    app.poller_wakeup.notify_one();
    opened
}

/// Stores the invoice of an attempt. The inner error ends the attempt: a second order of one invoice would be credited by
/// the first one's payment.
async fn save_invoice(
    app: &AppState,
    attempt: &NewAttempt,
    invoice: &Invoice,
) -> Result<Result<(), Mismatch>, StorageError> {
    let storage = &app.storage;
    let opened = storage.open_attempt(&attempt.id, invoice, app.now());
    match opened.await {
        Ok(()) => Ok(Ok(())),
        Err(OpenAttemptError::InvoiceTaken { order, .. }) => Ok(Err(Mismatch::Taken { order })),
        Err(OpenAttemptError::Storage(error)) => Err(error),
    }
}

impl Call {
    fn terms(&self) -> InvoiceTerms {
        match self {
            Self::Invoice { terms, .. } => InvoiceTerms::Custom(terms.clone()),
            Self::Session { .. } => InvoiceTerms::Hosted,
        }
    }

    /// Makes an invoice or a session. Returns its id at the gateway, and what the checks made of it.
    async fn create(
        &self,
        app: &AppState,
        sent_at: Timestamp,
    ) -> Result<(String, Result<Invoice, Mismatch>), CallError> {
        let gateway = &app.gateway;
        match self {
            Self::Invoice { terms, request } => {
                let invoice = gateway.create_invoice(request).await?;
                let config = app.config();
                let key = config.gateway.deposit_keys.get(&terms.crypto_code);
                let network = config.gateway.network;
                let checked = check_invoice(terms, &invoice, network, key, sent_at);
                let id = invoice.invoice_id.as_str().to_owned();
                Ok((id, checked.map_err(Mismatch::from)))
            }
            Self::Session {
                request,
                checkout_url,
            } => {
                let session = gateway.checkout(request).await?;
                let checked = check_session(&session, checkout_url, sent_at);
                let id = session.session_id.as_str().to_owned();
                Ok((id, checked.map_err(Mismatch::from)))
            }
        }
    }

    async fn failed(&self, app: &AppState, error: CallError) -> PaymentError {
        match self {
            Self::Invoice { .. } => {
                log_rejection(&error, "no invoice was made");
                if is_about_price(&error) {
                    app.prices.invalidate(&**app.storage).await;
                }
                PaymentError::of_invoice_call(error)
            }
            Self::Session { .. } => {
                log_rejection(&error, "no session was made");
                PaymentError::of_checkout_call(error)
            }
        }
    }

    /// Raises an alert. The page of an order shows a blocked invoice; a hosted order has nothing to show.
    fn blocked(
        &self,
        order: &OrderId,
        attempt: &NewAttempt,
        id: &str,
        mismatch: &Mismatch,
    ) -> Result<(), PaymentError> {
        let attempt = &attempt.id;
        match (self, mismatch) {
            (_, Mismatch::Taken { order: other }) => tracing::error!(
                %order, %attempt, invoice = id, other_order = %other,
                "the gateway gave the invoice of another order: the attempt is blocked, ask the gateway whose invoice it is"
            ),
            (Self::Invoice { .. }, _) => tracing::error!(
                %order, %attempt, invoice = id, %mismatch,
                "the gateway's invoice is not shown: ask the gateway about it"
            ),
            (Self::Session { .. }, _) => tracing::error!(
                %order, %attempt, session = id, %mismatch,
                "no customer is sent to the gateway's page: check gateway.checkout_url, and ask the gateway about it"
            ),
        }
        match self {
            Self::Invoice { .. } => Ok(()),
            Self::Session { .. } => Err(PaymentError::HostedPageBlocked),
        }
    }
}

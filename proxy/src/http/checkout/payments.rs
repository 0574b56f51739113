//! Paying an order: quotes, attempts, hosted sessions, "I've sent it", and the addresses for the receipt and for a refund.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use florin_checkout_api::{
    ErrorCode, MarkPaid, OpenAttempt, OrderView, Quote, ReceiptEmail, RefundAddress,
    looks_like_email,
};
use florin_orders::{Attempt, Destination, EventType, Flow, Snapshot, TransactionHint};
use florin_storage::{EmailChange, KeptEmail, MarkedAsPaid, NamedTransaction, OrderOperationError};
use jiff::SignedDuration;
use serde_json::json;

use crate::http::body::{Body, EmptyBody};
use crate::http::checkout::{CheckoutSession, limit_address, reload, view_of};
use crate::http::error::ApiError;
use crate::http::idempotency::{Caller, Done, Post, idempotent};
use crate::http::middleware::ClientAddress;
use crate::http::openapi::CHECKOUT;
use crate::http::openapi::operation::{Auth, Operation, Types};
use crate::payments::error::{PaymentError, log_rejection};
use crate::payments::open::PaymentMethod;
use crate::payments::view::owed_in;
use crate::payments::{self, confirm, is_marked_as_paid, offers, payable};
use crate::state::AppState;

pub(crate) async fn quotes(
    State(app): State<Arc<AppState>>,
    CheckoutSession(snapshot): CheckoutSession,
) -> Result<Json<Vec<Quote>>, ApiError> {
    if !snapshot.order.takes_attempts(app.now()) {
        return Err(PaymentError::OrderClosed.into());
    }
    let priced = app.fresh_prices().await.map_err(|error| {
        log_rejection(&error, "no prices");
        PaymentError::of_invoice_call(error)
    })?;
    payable::check_currency(snapshot.order.terms.currency, &app.prices.currencies())?;
    Ok(Json(offers::quotes(&app, &snapshot.order.terms, &priced)))
}

pub(crate) fn describe_quotes(types: &mut Types) -> Operation {
    Operation::new("list_quotes", CHECKOUT, Auth::ClientToken)
        .summary(
            "What the order costs in each asset",
            "One quote for each asset that the gateway offers and the order accepts; those that cannot be chosen say why.",
        )
        .errors(&[
            ErrorCode::OrderClosed,
            ErrorCode::CurrencyUnavailable,
            ErrorCode::GatewayUnavailable,
        ])
        .responds::<Vec<Quote>>(200, "The quotes.", types)
        .link_body(
            200,
            "open_attempt",
            &json!({
                "crypto_code": "$response.body#/0/crypto_code",
                "quote_id": "$response.body#/0/quote_id",
            }),
        )
}

pub(crate) async fn attempt(
    State(app): State<Arc<AppState>>,
    ClientAddress(client): ClientAddress,
    CheckoutSession(snapshot): CheckoutSession,
    Post(Body(chosen), request): Post<Body<OpenAttempt>>,
) -> Result<Done<OrderView>, ApiError> {
    limit_address(&app, &app.choice_limit, client).await?;
    let caller = Caller::Customer(snapshot.order.id.clone());
    idempotent(&app, request, caller, move |app| async move {
        let method = PaymentMethod::Address {
            crypto_code: &chosen.crypto_code,
            quote_id: &chosen.quote_id,
        };
        payments::open::open(&app, &snapshot, method, client).await?;
        view_of(&app, &reload(&app, &snapshot).await?)
    })
    .await
}

pub(crate) fn describe_attempt(types: &mut Types) -> Operation {
    Operation::new("open_attempt", CHECKOUT, Auth::ClientToken)
        .summary(
            "Pay in this asset",
            "Opens an attempt at the price that was shown. The response holds the invoice, or is `blocked` when the invoice \
             did not pass our checks.",
        )
        .idempotency_key(1)
        .takes::<OpenAttempt>(
            types,
            &json!({ "crypto_code": "BTC", "quote_id": "conv_0123456789abcdef" }),
        )
        .errors(&[
            ErrorCode::OtherFlow,
            ErrorCode::OrderClosed,
            ErrorCode::QuoteExpired,
            ErrorCode::AttemptInProgress,
            ErrorCode::AmountOutOfRange,
            ErrorCode::AssetUnavailable,
            ErrorCode::RateLimited,
            ErrorCode::GatewayUnavailable,
        ])
        .responds::<OrderView>(200, "The order with its invoice.", types)
}

pub(crate) async fn session(
    State(app): State<Arc<AppState>>,
    ClientAddress(client): ClientAddress,
    CheckoutSession(snapshot): CheckoutSession,
    Post(EmptyBody, request): Post<EmptyBody>,
) -> Result<Done<OrderView>, ApiError> {
    limit_address(&app, &app.choice_limit, client).await?;
    let caller = Caller::Customer(snapshot.order.id.clone());
    idempotent(&app, request, caller, move |app| async move {
        payments::open::open(&app, &snapshot, PaymentMethod::HostedPage, client).await?;
        view_of(&app, &reload(&app, &snapshot).await?)
    })
    .await
}

pub(crate) fn describe_session(types: &mut Types) -> Operation {
    Operation::new("open_session", CHECKOUT, Auth::ClientToken)
        .summary(
            "Go to the gateway's page",
            "For a hosted order: the page of the live session, or of a new one after the last ended.",
        )
        .idempotency_key(1)
        .errors(&[
            ErrorCode::InvalidRequest,
            ErrorCode::OtherFlow,
            ErrorCode::OrderClosed,
            ErrorCode::AttemptInProgress,
            ErrorCode::AmountOutOfRange,
            ErrorCode::GatewayRefused,
            ErrorCode::RateLimited,
            ErrorCode::GatewayUnavailable,
        ])
        .responds::<OrderView>(200, "The order with the URL of its page.", types)
}

/// POST /v1/checkout/paid: the customer presses "I've sent it". It proves nothing; it sends POST /confirm without waiting and
/// brings the next poll forward. An email address for the receipt is stored with the order; without one, the stored one is sent.
pub(crate) async fn paid(
    State(app): State<Arc<AppState>>,
    CheckoutSession(snapshot): CheckoutSession,
    Post(Body(paid), request): Post<Body<MarkPaid>>,
) -> Result<Done<OrderView>, ApiError> {
    let caller = Caller::Customer(snapshot.order.id.clone());
    idempotent(&app, request, caller, move |app| async move {
        Box::pin(mark_as_paid(&app, snapshot, paid)).await
    })
    .await
}

async fn mark_as_paid(
    app: &Arc<AppState>,
    snapshot: Snapshot,
    paid: MarkPaid,
) -> Result<OrderView, ApiError> {
    let email = checked(paid.email)?;
    let address = checked_address(paid.address)?;
    let shown = snapshot.attempt.as_ref().and_then(Attempt::invoice);
    let shown = shown.and_then(|invoice| match &invoice.destination {
        Destination::Address { address, .. } => Some(address.as_str()),
        Destination::Page { .. } => None,
    });
    let receiver = address.as_deref().or(shown);
    let hint = checked_hint(paid.transaction_hash.as_deref(), receiver)?;
    let named = hint.map(|hint| NamedTransaction { hint, address });
    if snapshot.order.terms.flow == Flow::Hosted {
        return Err(ApiError::PaidOnHostedPage);
    }
    let (storage, order) = (&app.storage, &snapshot.order.id);
    let marked = storage.mark_as_paid(order, named.as_ref(), app.now());
    let marked = marked.await.map_err(|error| match error {
        OrderOperationError::Storage(error) => ApiError::from(error),
        OrderOperationError::NoOrder(_) => ApiError::NoSuchOrder,
        OrderOperationError::Closed { .. }
        | OrderOperationError::InProgress
        | OrderOperationError::TooMany => ApiError::from(PaymentError::NothingToPay),
    })?;
    let MarkedAsPaid {
        snapshot: marked,
        is_first,
    } = marked;
    let stored = match &email {
        Some(email) if !marked.order.status.is_settled() => {
            Some(keep(app, &marked, Some(email)).await)
        }
        _ => None,
    };
    // An email address that is not stored is not sent.
    let shown = match &stored {
        Some(Ok(stored)) => stored.snapshot.clone(),
        Some(Err(_)) | None => marked.clone(),
    };
    let is_new = shown.order.receipt_email != marked.order.receipt_email;
    // Of requests at the same time, the first one alone sends it.
    if is_first || is_new && is_marked_as_paid(&snapshot) {
        confirm(app, &shown, shown.order.receipt_email.clone());
    }
    if is_first {
        storage
            .schedule_poll(order, SignedDuration::ZERO, app.now())
            .await?;
        app.poller_wakeup.notify_one();
        app.wake_dispatcher();
    }
    if let Some(stored) = stored {
        stored?;
    }
    view_of(app, &shown)
}

pub(crate) fn describe_paid(types: &mut Types) -> Operation {
    Operation::new("mark_paid", CHECKOUT, Auth::ClientToken)
        .summary(
            "\"I've sent it\"",
            "It proves nothing, and makes the proxy poll at once. The gateway gets it too, with the address for a receipt: \
             the one that is given, else the one that is kept. A transaction that the customer's wallet named is kept with the \
             order as a hint; one for an earlier attempt, by its address, is kept with that one and marks nothing.",
        )
        .idempotency_key(1)
        .takes::<MarkPaid>(types, &json!({ "email": "buyer@shop.example" }))
        .errors(&[ErrorCode::NothingToPay, ErrorCode::OtherFlow])
        .responds::<OrderView>(200, "The order as it stands.", types)
}

/// POST /v1/checkout/email: stores the email address with the order in place of an earlier one; an empty one removes it. A paid
/// order takes one, which the gateway is sent for its receipt: a second one would ask it for a second receipt.
///
/// Assumed: the gateway takes POST /confirm for a completed invoice (payment-service.md, "POST /confirm", which names no
/// status). An error that names the status would disprove it; it is logged, and the order stays paid.
pub(crate) async fn email(
    State(app): State<Arc<AppState>>,
    CheckoutSession(snapshot): CheckoutSession,
    Post(Body(wanted), request): Post<Body<ReceiptEmail>>,
) -> Result<Done<OrderView>, ApiError> {
    let caller = Caller::Customer(snapshot.order.id.clone());
    idempotent(&app, request, caller, move |app| async move {
        keep_email(&app, snapshot, wanted).await
    })
    .await
}

async fn keep_email(
    app: &Arc<AppState>,
    snapshot: Snapshot,
    wanted: ReceiptEmail,
) -> Result<OrderView, ApiError> {
    let email = checked(Some(wanted.email))?;
    if snapshot.order.terms.flow == Flow::Hosted {
        return Err(ApiError::EmailOnHostedPage);
    }
    let KeptEmail { snapshot, change } = keep(app, &snapshot, email.as_deref()).await?;
    let is_marked = is_marked_as_paid(&snapshot);
    // The poller sends the email address that was stored before the credit, unless "I've sent it" came before.
    let is_sent_now = match change {
        EmailChange::First => snapshot.order.status.is_settled() || is_marked,
        EmailChange::Replaced => is_marked,
        EmailChange::Unchanged => false,
        EmailChange::Refused => return Err(ApiError::ReceiptEmailKnown),
    };
    if is_sent_now && email.is_some() {
        confirm(app, &snapshot, email);
    }
    view_of(app, &snapshot)
}

pub(crate) fn describe_email(types: &mut Types) -> Operation {
    Operation::new("set_receipt_email", CHECKOUT, Auth::ClientToken)
        .summary(
            "Store the email address for the receipt",
            "It replaces one that was kept before, and an empty one removes it. It goes to the gateway with \"I've sent it\", or when \
             the payment is found. A paid order takes one address. The order shows only that there is one.",
        )
        .idempotency_key(1)
        .takes::<ReceiptEmail>(types, &json!({ "email": "buyer@shop.example" }))
        .errors(&[ErrorCode::OtherFlow, ErrorCode::OrderClosed])
        .responds::<OrderView>(200, "The order as it stands.", types)
}

/// POST /v1/checkout/refund-address: stores where the customer wants money back that the store owes. Nothing proves that the
/// address is the customer's: a page's link can be shared.
pub(crate) async fn refund_address(
    State(app): State<Arc<AppState>>,
    ClientAddress(client): ClientAddress,
    CheckoutSession(snapshot): CheckoutSession,
    Post(Body(named), request): Post<Body<RefundAddress>>,
) -> Result<Done<OrderView>, ApiError> {
    limit_address(&app, &app.choice_limit, client).await?;
    let caller = Caller::Customer(snapshot.order.id.clone());
    idempotent(&app, request, caller, move |app| async move {
        keep_refund_address(&app, snapshot, &named.address).await
    })
    .await
}

async fn keep_refund_address(
    app: &AppState,
    before: Snapshot,
    address: &str,
) -> Result<OrderView, ApiError> {
    let asset = owed_in(&before).ok_or(ApiError::NothingOwed)?;
    let network = app.config().gateway.network;
    florin_address::check(asset, address, network)
        .map_err(|error| ApiError::invalid("address", format!("It is refused: {error}.")))?;
    let storage = &app.storage;
    let kept = storage.keep_refund_address(&before.order.id, address, app.now());
    let kept = kept.await?.ok_or_else(|| {
        ApiError::invalid(
            "address",
            "You paid to this address. Write one of your own wallet.",
        )
    })?;
    if kept.order.sequence != before.order.sequence {
        app.metrics.order_events(&[EventType::RefundAddressAdded]);
        app.wake_dispatcher();
    }
    view_of(app, &kept)
}

pub(crate) fn describe_refund_address(types: &mut Types) -> Operation {
    Operation::new("set_refund_address", CHECKOUT, Auth::ClientToken)
        .summary(
            "Name an address for a refund",
            "While the order has `owed_in`: the customer's own address of that asset. It replaces one that was named before. The \
             store reads it in the order and in `order.refund_address_added`. Florin sends no money.",
        )
        .idempotency_key(1)
        .takes::<RefundAddress>(
            types,
            &json!({ "address": "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4" }),
        )
        .errors(&[ErrorCode::NothingOwed, ErrorCode::RateLimited])
        .responds::<OrderView>(200, "The order as it stands.", types)
}

pub(crate) fn checked(email: Option<String>) -> Result<Option<String>, ApiError> {
    let email = email.filter(|email| !email.is_empty());
    if email.as_deref().is_none_or(looks_like_email) {
        return Ok(email);
    }
    let message = "Write an address like name@example.com, or none.";
    Err(ApiError::invalid("email", message))
}

/// The transaction that a wallet named, as the chain of `receiver` writes it, in lower case: with 0x where addresses have
/// it, and without elsewhere.
fn checked_hint(
    hash: Option<&str>,
    receiver: Option<&str>,
) -> Result<Option<TransactionHint>, ApiError> {
    let is_evm = receiver.is_some_and(|address| address.starts_with("0x"));
    let prefix = if is_evm { "0x" } else { "" };
    let hint = hash.map(|hash| {
        let hash = hash.to_ascii_lowercase();
        let digits = hash.strip_prefix("0x").unwrap_or(&hash);
        TransactionHint::parse(&format!("{prefix}{digits}")).map_err(|_| {
            let message = "Write the transaction's hash: 64 hexadecimal digits, with or without 0x before them.";
            ApiError::invalid("transaction_hash", message)
        })
    });
    hint.transpose()
}

/// The payment address of the attempt that a transaction pays.
fn checked_address(address: Option<String>) -> Result<Option<String>, ApiError> {
    let is_address =
        |text: &str| (26..=90).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
    if address.as_deref().is_none_or(is_address) {
        return Ok(address);
    }
    let message = "Write the attempt's address, as the order has it.";
    Err(ApiError::invalid("address", message))
}

/// Stores an email address with an order, or removes it. Views show only whether there is one.
pub(crate) async fn keep(
    app: &AppState,
    snapshot: &Snapshot,
    email: Option<&str>,
) -> Result<KeptEmail, ApiError> {
    if snapshot.order.receipt_email.as_deref() == email {
        return Ok(KeptEmail {
            snapshot: snapshot.clone(),
            change: EmailChange::Unchanged,
        });
    }
    let id = &snapshot.order.id;
    let kept = app.storage.keep_receipt_email(id, email, app.now());
    let kept = kept.await?.ok_or(ApiError::NoSuchOrder)?;
    if kept.change == EmailChange::First && kept.snapshot.order.status.is_settled() {
        app.metrics.order_events(&[EventType::EmailAdded]);
    }
    app.wake_dispatcher();
    Ok(kept)
}

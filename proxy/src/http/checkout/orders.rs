//! Opening an order in the browser and seeing it.

use std::net::IpAddr;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header::{CONTENT_TYPE, ETAG};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use florin_checkout_api::{
    ErrorBody, ErrorCode, OpenAttempt, OpenOrderRequest, Opened, OrderView, QrCode, Status,
};
use florin_orders::{NewOrder, Snapshot};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::http::body::Body;
use crate::http::checkout::source::VerifiedRequest;
use crate::http::checkout::{
    ShownOrder, created_or_ok, fresh_token, limit_address, limit_requests, offers, reload,
    request_poll, view_of,
};
use crate::http::error::ApiError;
use crate::http::idempotency::{Caller, Done, Post, Replayed, idempotent_with};
use crate::http::middleware::ClientAddress;
use crate::http::openapi::CHECKOUT;
use crate::http::openapi::operation::{Auth, Operation, Types};
use crate::http::static_files::etag;
use crate::payments::error::PaymentError;
use crate::payments::open::PaymentMethod;
use crate::state::AppState;
use crate::{orders, payments};

/// POST /v1/checkout: opens an order from a product, a donation or a signed order token. 201 for a new one, 200 for the one
/// that a token's reference already names.
pub(crate) async fn open(
    State(app): State<Arc<AppState>>,
    ClientAddress(client): ClientAddress,
    headers: HeaderMap,
    Post(Body(body), request): Post<Body<OpenOrderRequest>>,
) -> Result<(StatusCode, Replayed, Json<Opened>), ApiError> {
    let config = app.config();
    let choice = body.choice().cloned();
    let verified = VerifiedRequest::verify(&config, body, app.now());
    // Orders and client tokens are rows, so a request is counted before any is written. The store limits the orders that
    // its server signs; each use of a token is another client token.
    match &verified {
        Ok(VerifiedRequest::Signed { store, claims }) => {
            let order = (store.id.clone(), claims.reference.clone());
            limit_requests(&app, &app.order_token_limit, order).await?;
        }
        _ => limit_address(&app, &app.choice_limit, client).await?,
    }
    let verified = verified?;
    let store = verified.store(&config, &headers)?;
    let caller = Caller::Anyone(store.id.clone());
    // The reference of the order, so that a retry after a crash finds it.
    let reference = request.generated_reference(&caller);
    let reference = reference.unwrap_or_else(|| app.random_bits());
    let terms = verified.price(store, reference, app.now())?;
    let done = idempotent_with(&app, request, caller, move |app| async move {
        payments::payable::check(&app, &terms).await?;
        if let Some(choice) = &choice {
            check_choice(&app, &terms, choice).await?;
        }
        let opening = orders::open(&app, &terms).await?;
        let mut snapshot = opening.snapshot;
        let mut refusal = None;
        if let Some(choice) = &choice {
            refusal = open_attempt(&app, &snapshot, choice, client).await?;
            snapshot = reload(&app, &snapshot).await?;
        }
        let opened = OpenedOrder {
            is_new: opening.is_new,
            order: view_of(&app, &snapshot)?,
            refusal,
        };
        Ok((opened, opening.token))
    })
    .await?;
    let replayed = done.replayed();
    let (opened, token) = match done {
        Done::Executed(opened, token) => (opened, token),
        Done::Replayed(opened) => {
            let token = fresh_token(&app, &opened.order.id).await?;
            (opened, token)
        }
    };
    let is_awaited = opened.order.status == Status::AwaitingPayment;
    let attempt = opened.order.attempt.as_ref().filter(|_| is_awaited);
    let response = Opened {
        client_token: token.expose().to_owned(),
        qr_code: attempt.and_then(|attempt| QrCode::draw(&attempt.qr_string)),
        order: opened.order,
        refusal: opened.refusal,
    };
    Ok((created_or_ok(opened.is_new), replayed, Json(response)))
}

/// Refuses a choice that no invoice can be made of, before anything is written. A reference that names an order leads to that
/// order all the same.
async fn check_choice(
    app: &Arc<AppState>,
    terms: &NewOrder,
    choice: &OpenAttempt,
) -> Result<(), ApiError> {
    let (code, quote_id) = (&choice.crypto_code, &choice.quote_id);
    let error = match payments::open::invoice_request(app, terms, code, quote_id).await {
        Ok(_) => return Ok(()),
        Err(PaymentError::Storage(error)) => return Err(error.into()),
        Err(error) => error,
    };
    if payments::payable::is_known(app, terms).await? {
        return Ok(());
    }
    let config = app.config();
    let store = config.store(&terms.store_id).ok_or(ApiError::NoSuchOrder)?;
    let offer = Box::new(offers::current(app, store, terms).await);
    Err(ApiError::ChoiceRefused { error, offer })
}

/// Opens the attempt of an order that was opened with a choice. An attempt that fails leaves the order: its customer chooses
/// again. An order that takes no attempts, since its reference named it before, is returned as it is.
async fn open_attempt(
    app: &Arc<AppState>,
    snapshot: &Snapshot,
    choice: &OpenAttempt,
    client: Option<IpAddr>,
) -> Result<Option<ErrorBody>, ApiError> {
    if !snapshot.order.takes_attempts(app.now()) {
        return Ok(None);
    }
    let method = PaymentMethod::Address {
        crypto_code: &choice.crypto_code,
        quote_id: &choice.quote_id,
    };
    match payments::open::open(app, snapshot, method, client).await {
        Ok(()) => Ok(None),
        Err(error @ (PaymentError::Storage(_) | PaymentError::Interrupted(_))) => Err(error.into()),
        Err(error) => Ok(Some(ApiError::from(error).body())),
    }
}

#[derive(Serialize, Deserialize)]
struct OpenedOrder {
    is_new: bool,
    order: OrderView,
    refusal: Option<ErrorBody>,
}

pub(crate) fn describe_open(types: &mut Types) -> Operation {
    Operation::new("open_checkout", CHECKOUT, Auth::None)
        .summary(
            "Open an order",
            "In exactly one way: a product of the catalogue, a declared donation, or a token that the store's server \
             signed. Only a donation's amount is the customer's, within its bounds. Each call with a product or a \
             donation opens a new order; every call with a token returns the order of its reference. With `crypto_code` \
             and `quote_id` of an offer its attempt is opened as well: a choice that cannot be paid is refused with a fresh \
             offer, and opens no order.",
        )
        .errors(&[ErrorCode::OriginNotAllowed, ErrorCode::Internal, ErrorCode::StorageUnavailable])
        .idempotency_key(16)
        .takes::<OpenOrderRequest>(types, &json!({ "store": "demo", "product": "ebook", "quantity": 1 }))
        .errors(&[
            ErrorCode::InvalidOrderToken,
            ErrorCode::UnknownStore,
            ErrorCode::UnknownProduct,
            ErrorCode::UnknownDonation,
            ErrorCode::OrderConflict,
            ErrorCode::QuantityOutOfRange,
            ErrorCode::DonationOutOfRange,
            ErrorCode::CurrencyUnavailable,
            ErrorCode::AssetUnavailable,
            ErrorCode::AmountOutOfRange,
            ErrorCode::QuoteExpired,
            ErrorCode::RateLimited,
        ])
        .responds::<Opened>(201, "The order, and the token that opens it.", types)
        .responds::<Opened>(
            200,
            "The order that the token's reference already names, or one that a crash kept from being answered, with a \
             fresh client token.",
            types,
        )
}

pub(crate) async fn show(
    State(app): State<Arc<AppState>>,
    ShownOrder { view, at, is_held }: ShownOrder,
) -> Result<Response, ApiError> {
    request_poll(&app, &view).await?;
    let mut response = Response::default();
    if is_held {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    } else {
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(CONTENT_TYPE, json);
        *response.body_mut() = view.json(at).into();
    }
    response.headers_mut().insert(ETAG, etag(&view.etag));
    Ok(response)
}

pub(crate) fn describe_show(types: &mut Types) -> Operation {
    Operation::new("show_checkout", CHECKOUT, Auth::ClientToken)
        .summary("See the order", "All that a checkout shows of it.")
        .header(
            "If-None-Match",
            "The `ETag` of the response that the page holds.",
            &json!({ "type": "string" }),
        )
        .responds::<OrderView>(200, "The order as it stands.", types)
        .with_header(200, "ETag", "ETag")
        .responds_empty(304, "Nothing changed since that response.")
        .with_header(304, "ETag", "ETag")
}

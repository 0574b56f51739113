//! Orders as the store's server opens, reads and cancels them.

use std::str::FromStr as _;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use florin_checkout_api::{ErrorCode, MAX_TITLE_CHARS, check_title, looks_like_email};
use florin_money::{Amount, CryptoCode, Currency, Price};
use florin_orders::{
    EventType, Flow, NewOrder, OrderId, OrderRecord, OrderStatus, PriceSource, Reference,
};
use florin_storage::{OrderFilter, OrderOperationError};
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::auth::token::Token;
use crate::config::{Config, Store};
use crate::http::body::{Body, EmptyBody, Parameters};
use crate::http::checkout::{created_or_ok, fresh_token, reload};
use crate::http::error::ApiError;
use crate::http::idempotency::{Caller, Done, Post, Replayed, idempotent, idempotent_with};
use crate::http::openapi::ORDERS;
use crate::http::openapi::operation::{Auth, Operation, Types};
use crate::http::store_api::{AuthenticatedStore, DEFAULT_PAGE, MAX_PAGE, order_id, page_size};
use crate::orders;
use crate::orders::Opening;
use crate::orders::lines::{self, Line, MAX_LINES};
use crate::payments::error::PaymentError;
use crate::payments::open::{HostedNeeds, PaymentMethod};
use crate::payments::{self, view};
use crate::state::AppState;

/// How long an order takes attempts: a day, unless the store says 1 minute to 30 days.
const DEFAULT_LIFETIME_SECONDS: u32 = 24 * 3600;
const LIFETIME_SECONDS: std::ops::RangeInclusive<u32> = 60..=30 * 24 * 3600;
/// The store's own notes, as JSON.
const MAX_METADATA_BYTES: usize = 4096;

/// What the store wants paid.
#[derive(Deserialize, JsonSchema)]
#[schemars(extend(
    "if" = { "properties": { "flow": { "const": "hosted" } }, "required": ["flow"] },
    "then" = {
        "properties": { "customer_email": { "type": "string" }, "assets": { "maxItems": 0 } },
        "required": ["customer_email"],
    },
))]
#[serde(deny_unknown_fields)]
pub(crate) struct OpenOrder {
    /// The price, above zero, with no more decimals than its currency has; zeros at the end do not count.
    amount: Amount,
    currency: Currency,
    /// The store's own name for it: one order per reference, also after the order has ended.
    #[schemars(regex(pattern = "^[A-Za-z0-9_.:-]{1,64}$"), extend("examples" = ["order-1017"]))]
    reference: String,
    /// What is sold, for the customer; the shop's name when absent.
    #[schemars(length(min = 1, max = MAX_TITLE_CHARS), extend("examples" = ["Two tickets"]))]
    title: Option<String>,
    /// What it is made of, for the customer: at most 50 lines. They are for show, the price is `amount`; when every line has
    /// an amount, they must add up to it.
    #[serde(default)]
    #[schemars(length(max = MAX_LINES))]
    lines: Vec<Line>,
    /// Where the customer gets mail: handed back to the store. A hosted order needs it, since the gateway's page
    /// does; it is sent to no one else.
    #[schemars(extend("format" = "email", "examples" = ["buyer@shop.example"]))]
    customer_email: Option<String>,
    /// Where the customer goes afterwards: an address on one of the store's origins, or on that of its `return_url`.
    #[schemars(extend("format" = "uri", "examples" = ["https://shop.example/thanks"]))]
    return_url: Option<String>,
    /// Where the customer goes instead from an order that is not paid: cancelled, expired, failed. As `return_url`, which is
    /// used when this is absent, here and in the store's configuration.
    #[schemars(extend("format" = "uri", "examples" = ["https://shop.example/cart"]))]
    cancel_url: Option<String>,
    /// The store's own notes, handed back untouched: at most 4096 bytes as JSON.
    #[serde(default)]
    #[schemars(extend("examples" = [{"seats": "A1"}]))]
    metadata: serde_json::Map<String, Value>,
    /// The assets it may be paid in; all when empty or absent. A hosted order takes none: its page offers its own.
    #[serde(default)]
    assets: Vec<CryptoCode>,
    /// How long the order takes attempts: one minute to 30 days; a day when absent.
    #[schemars(
        range(min = *LIFETIME_SECONDS.start(), max = *LIFETIME_SECONDS.end()),
        extend("examples" = [DEFAULT_LIFETIME_SECONDS])
    )]
    expires_in_seconds: Option<u32>,
    #[serde(default)]
    flow: FlowRequest,
}

/// Who shows the customer how to pay.
#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum FlowRequest {
    /// The checkout page of this proxy.
    #[default]
    Custom,
    /// The gateway's own page.
    Hosted,
}

impl From<FlowRequest> for Flow {
    fn from(wanted: FlowRequest) -> Self {
        match wanted {
            FlowRequest::Custom => Self::Custom,
            FlowRequest::Hosted => Self::Hosted,
        }
    }
}

/// The order, and how its customer gets to it.
#[derive(JsonSchema, Serialize)]
pub(crate) struct OpenedOrder {
    /// The order.
    #[schemars(with = "OrderRecord")]
    order: Value,
    /// A fresh token at every call. It grants access to this order: to see and to pay it.
    client_token: String,
    /// The checkout page, token included.
    checkout_url: String,
    /// The gateway's page; there while a hosted order can be paid.
    #[serde(skip_serializing_if = "Option::is_none")]
    payment_process_url: Option<String>,
    /// What to do if the reference names an order that ended without a payment; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<&'static str>,
}

const ENDED: &str = "The order of this reference has ended without a payment, and no payment of it can be started: a reference is one \
                     order for ever. To sell the same again, use a new reference, like cart-1234-2. A payment that was already \
                     sent may still arrive, and counts.";

#[derive(Serialize, Deserialize)]
struct StoredOrder {
    is_new: bool,
    id: String,
    order: Value,
    payment_process_url: Option<String>,
    ended_unpaid: bool,
}

/// POST /v1/orders: opens an order. The same reference at the same price is the same order; at another price a conflict.
pub(crate) async fn open_order(
    State(app): State<Arc<AppState>>,
    store: AuthenticatedStore,
    Post(Body(wanted), request): Post<Body<OpenOrder>>,
) -> Result<(StatusCode, Replayed, Json<OpenedOrder>), ApiError> {
    let terms = terms(&store.config, store.store(), wanted, app.now())?;
    let caller = Caller::Store(store.id.clone());
    let work = move |app: Arc<AppState>| async move { open_and_prepare(&app, &terms).await };
    let done = idempotent_with(&app, request, caller, work).await?;
    let replayed = done.replayed();
    let (stored, token) = match done {
        Done::Executed(stored, token) => (stored, token),
        Done::Replayed(stored) => {
            let token = fresh_token(&app, &stored.id).await?;
            (stored, token)
        }
    };
    let (base, token) = (store.config.public_url.base(), token.expose());
    let opened = OpenedOrder {
        order: stored.order,
        client_token: token.to_owned(),
        checkout_url: format!("{base}/pay?store={}#client_token={token}", store.id),
        payment_process_url: stored.payment_process_url,
        notice: stored.ended_unpaid.then_some(ENDED),
    };
    Ok((created_or_ok(stored.is_new), replayed, Json(opened)))
}

/// Opens an order; for a hosted one also its session on the gateway's page.
async fn open_and_prepare(
    app: &Arc<AppState>,
    terms: &NewOrder,
) -> Result<(StoredOrder, Token), ApiError> {
    payments::payable::check(app, terms).await?;
    let Opening {
        mut snapshot,
        is_new,
        token,
    } = orders::open(app, terms).await?;
    if terms.flow == Flow::Hosted && snapshot.order.takes_attempts(app.now()) {
        payments::open::open(app, &snapshot, PaymentMethod::HostedPage, None).await?;
        snapshot = reload(app, &snapshot).await?;
    }
    let stored = StoredOrder {
        is_new,
        id: snapshot.order.id.to_string(),
        order: json!(OrderRecord::of(&snapshot)),
        payment_process_url: view::hosted_page(
            &snapshot,
            app.config().gateway.checkout_url.as_ref(),
            app.now(),
        ),
        ended_unpaid: snapshot.order.ended_unpaid(app.now()),
    };
    Ok((stored, token))
}

pub(crate) fn describe_open_order(types: &mut Types) -> Operation {
    let example = json!({
        "amount": "19.90",
        "currency": "USD",
        "reference": "order-1017",
        "title": "Two tickets",
        "metadata": { "seats": ["A1", "A2"] },
    });
    let again = "The order of this reference at this price was there already: the same, with a fresh token.";
    Operation::new("open_order", ORDERS, Auth::StoreKey)
        .summary(
            "Open an order",
            "The same `reference` at the same price is the same order; at another price it is refused.",
        )
        .idempotency_key(1)
        .header(
            "traceparent",
            "The trace in which the order is opened, of W3C Trace Context. Its webhooks carry it. A malformed one is ignored.",
            &json!({ "type": "string" }),
        )
        .takes::<OpenOrder>(types, &example)
        .errors(&[
            ErrorCode::OrderConflict,
            ErrorCode::OtherFlow,
            ErrorCode::OrderClosed,
            ErrorCode::AttemptInProgress,
            ErrorCode::AmountOutOfRange,
            ErrorCode::CurrencyUnavailable,
            ErrorCode::AssetUnavailable,
            ErrorCode::GatewayRefused,
            ErrorCode::RateLimited,
            ErrorCode::GatewayUnavailable,
        ])
        .responds::<OpenedOrder>(201, "The order, and how its customer gets to it.", types)
        .link(201, "get_order", "id", "/order/id")
        .link(201, "cancel_order", "id", "/order/id")
        .responds::<OpenedOrder>(200, again, types)
        .link(200, "get_order", "id", "/order/id")
}

fn terms(
    config: &Config,
    store: &Store,
    wanted: OpenOrder,
    now: Timestamp,
) -> Result<NewOrder, ApiError> {
    let reference = Reference::parse(&wanted.reference)
        .map_err(|error| ApiError::invalid("reference", error.to_string()))?;
    let price = Price::new(wanted.amount, wanted.currency)
        .map_err(|error| ApiError::invalid("amount", format!("It is refused: {error}.")))?;
    let title = wanted.title.unwrap_or_else(|| store.name.clone());
    let title = check_title(title)
        .map_err(|error| ApiError::invalid("title", format!("It is refused: {error}.")))?;
    let lines = lines::check(store, wanted.lines, price)
        .map_err(|wrong| ApiError::invalid(wrong.field, wrong.message))?;
    for (field, link) in [
        ("return_url", &wanted.return_url),
        ("cancel_url", &wanted.cancel_url),
    ] {
        let link = link.as_ref();
        if link.is_some_and(|link| !store.is_allowed_return_url(link)) {
            let message = "Write an http or https address on one of the store's origins, like https://shop.example/thanks.";
            return Err(ApiError::invalid(field, message));
        }
    }
    let email = wanted.customer_email.as_deref();
    if email.is_some_and(|email| !looks_like_email(email)) {
        let message = "Write an address like name@example.com.";
        return Err(ApiError::invalid("customer_email", message));
    }
    if matches!(wanted.flow, FlowRequest::Hosted) {
        HostedNeeds::of(config, store, email, wanted.return_url.as_deref())
            .map_err(PaymentError::MissingForHosted)?;
        if !wanted.assets.is_empty() {
            let message =
                "The gateway's page offers its own assets. Leave this out, or use the custom flow.";
            return Err(ApiError::invalid("assets", message));
        }
    }
    let metadata_bytes = serde_json::to_string(&wanted.metadata).map_or(usize::MAX, |s| s.len());
    if metadata_bytes > MAX_METADATA_BYTES {
        let message = "Metadata has 4096 bytes at most, as JSON.";
        return Err(ApiError::invalid("metadata", message));
    }
    let lifetime = wanted
        .expires_in_seconds
        .unwrap_or(DEFAULT_LIFETIME_SECONDS);
    if !LIFETIME_SECONDS.contains(&lifetime) {
        let message = "Write 60 to 2592000 seconds, a minute to 30 days, like 86400.";
        return Err(ApiError::invalid("expires_in_seconds", message));
    }
    Ok(NewOrder {
        store_id: store.id.clone(),
        reference,
        amount: price.amount(),
        currency: price.currency(),
        price_source: PriceSource::StoreServer,
        title,
        lines,
        customer_email: wanted.customer_email,
        return_url: wanted.return_url,
        cancel_url: wanted.cancel_url,
        metadata: wanted.metadata,
        assets: wanted.assets,
        flow: wanted.flow.into(),
        tolerance: store.tolerance_of(price),
        expires_at: now + SignedDuration::from_secs(i64::from(lifetime)),
        traceparent: None,
    })
}

/// Which orders.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OrdersQuery {
    /// Only the order of this reference.
    #[schemars(regex(pattern = "^[A-Za-z0-9_.:-]{1,64}$"))]
    reference: Option<String>,
    /// Only orders with this status.
    #[schemars(with = "Option<florin_checkout_api::Status>")]
    status: Option<String>,
    /// The `next` of the page before: only what is older than this order.
    #[schemars(regex(pattern = "^ord_[0-9a-f]{32}$"))]
    after: Option<String>,
    /// The largest number on a page; 20 when absent.
    #[schemars(range(min = 1, max = MAX_PAGE), extend("examples" = [DEFAULT_PAGE]))]
    limit: Option<u32>,
}

/// A page of orders, newest first.
#[derive(JsonSchema, Serialize)]
pub(crate) struct OrderPage {
    orders: Vec<OrderRecord>,
    /// What to pass as `after` for the next page; absent on the last.
    next: Option<String>,
}

pub(crate) async fn order(
    State(app): State<Arc<AppState>>,
    store: AuthenticatedStore,
    Path(id): Path<String>,
) -> Result<Json<OrderRecord>, ApiError> {
    Ok(Json(OrderRecord::of(&store.order(&app, &id).await?)))
}

pub(crate) fn describe_order(types: &mut Types) -> Operation {
    Operation::new("get_order", ORDERS, Auth::StoreKey)
        .summary("See an order", "")
        .path("id", "The order.", &order_id())
        .errors(&[ErrorCode::NotFound])
        .responds::<OrderRecord>(200, "The order.", types)
}

pub(crate) async fn orders(
    State(app): State<Arc<AppState>>,
    store: AuthenticatedStore,
    Parameters(wanted): Parameters<OrdersQuery>,
) -> Result<Json<OrderPage>, ApiError> {
    let filter = filter(&wanted)?;
    if let Some(after) = &filter.after {
        let unknown = |_| ApiError::invalid("after", "The store has no such order.");
        store.order(&app, after.as_str()).await.map_err(unknown)?;
    }
    let found = app.storage.orders(&store.id, &filter).await?;
    let is_full = found.len() == filter.limit as usize;
    let next = found
        .last()
        .filter(|_| is_full)
        .map(|last| last.order.id.to_string());
    Ok(Json(OrderPage {
        orders: found.iter().map(OrderRecord::of).collect(),
        next,
    }))
}

pub(crate) fn describe_orders(types: &mut Types) -> Operation {
    Operation::new("list_orders", ORDERS, Auth::StoreKey)
        .summary("List orders", "Newest first.")
        .query::<OrdersQuery>(types)
        .responds::<OrderPage>(200, "A page of orders.", types)
}

fn filter(wanted: &OrdersQuery) -> Result<OrderFilter, ApiError> {
    let refuse = |field: &'static str| {
        move |error: florin_orders::InvalidId| ApiError::invalid(field, error.to_string())
    };
    let status = wanted.status.as_deref().map(|word| {
        let unknown =
            |_| ApiError::invalid("status", "There is no such status: write one like open.");
        OrderStatus::from_str(word).map_err(unknown)
    });
    let reference = wanted.reference.as_deref().map(Reference::parse);
    let after = wanted.after.as_deref().map(OrderId::parse);
    Ok(OrderFilter {
        reference: reference.transpose().map_err(refuse("reference"))?,
        status: status.transpose()?,
        after: after.transpose().map_err(refuse("after"))?,
        limit: page_size(wanted.limit)?,
    })
}

/// POST /v1/orders/{id}/cancel: cancels an order, only while no payment was detected. A late payment is still found.
pub(crate) async fn cancel(
    State(app): State<Arc<AppState>>,
    store: AuthenticatedStore,
    Path(id): Path<String>,
    Post(EmptyBody, request): Post<EmptyBody>,
) -> Result<Done<Value>, ApiError> {
    let caller = Caller::Store(store.id.clone());
    idempotent(&app, request, caller, move |app| async move {
        let order = store.order(&app, &id).await?.order.id;
        let now = app.now();
        let cancelled = app.storage.cancel_order(&order, now).await;
        let cancelled = cancelled.map_err(|error| match error {
            OrderOperationError::Storage(error) => ApiError::from(error),
            OrderOperationError::NoOrder(_) => ApiError::NoSuchOrder,
            OrderOperationError::Closed { .. }
            | OrderOperationError::InProgress
            | OrderOperationError::TooMany => ApiError::NotCancellable,
        })?;
        // A repetition finds an earlier cancellation.
        let cancelled_at = cancelled.order.cancelled_at.map(Timestamp::as_millisecond);
        if cancelled_at == Some(now.as_millisecond()) {
            app.metrics.order_events(&[EventType::Cancelled]);
        }
        app.wake_dispatcher();
        Ok(json!(OrderRecord::of(&cancelled)))
    })
    .await
}

pub(crate) fn describe_cancel(types: &mut Types) -> Operation {
    Operation::new("cancel_order", ORDERS, Auth::StoreKey)
        .summary(
            "Cancel an order",
            "Only while no payment was detected. It is final, though a payment that arrives later is still credited, and its event delivered.",
        )
        .idempotency_key(1)
        .path("id", "The order.", &order_id())
        .errors(&[ErrorCode::NotFound, ErrorCode::OrderClosed])
        .responds::<OrderRecord>(200, "The order, cancelled.", types)
}

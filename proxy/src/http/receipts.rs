//! Receipts: those of customers and stores, and their verification.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use florin_checkout_api::{ErrorCode, SignedReceipt};
use florin_orders::OrderRecord;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::config::{Config, Store};
use crate::http::body::Body;
use crate::http::checkout::{CheckoutSession, store_of};
use crate::http::error::ApiError;
use crate::http::idempotency::{Caller, Done, Post, idempotent};
use crate::http::openapi::operation::{Auth, Operation, Types};
use crate::http::openapi::{CHECKOUT, ORDERS};
use crate::http::store_api::{AuthenticatedStore, order_id};
use crate::receipts::{PresentedReceipt, issue};
use crate::state::AppState;

pub(crate) async fn customer_receipt(
    State(app): State<Arc<AppState>>,
    CheckoutSession(snapshot): CheckoutSession,
) -> Result<Json<SignedReceipt>, ApiError> {
    let config = app.config();
    receipt_of(&config, store_of(&config, &snapshot)?, &snapshot)
}

pub(crate) fn describe_customer_receipt(types: &mut Types) -> Operation {
    Operation::new("show_receipt", CHECKOUT, Auth::ClientToken)
        .summary(
            "The receipt",
            "What was paid, in two forms that the store can verify: a JSON Web Token, and a code for print.",
        )
        .errors(&[ErrorCode::NotPaid])
        .responds::<SignedReceipt>(200, "The receipt.", types)
}

/// The receipt of an order.
///
/// # Errors
/// [`ApiError::NotPaid`] while it is not credited, or its payment is taken back.
pub(crate) fn receipt_of(
    config: &Config,
    store: &Store,
    snapshot: &florin_orders::Snapshot,
) -> Result<Json<SignedReceipt>, ApiError> {
    let issued = issue(config, store, snapshot);
    issued.map(Json).ok_or(ApiError::NotPaid {
        reverted: snapshot.order.reverted.is_some(),
    })
}

const CODE: &str = "7K3QM-2XW9P-0D4HT-V8NZC-J5RGB-1EYSA-6FQMW-3KTXP";

/// A receipt to verify.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VerifyReceipt {
    /// The token, or the printed code.
    #[schemars(extend("examples" = [CODE]))]
    receipt: String,
}

/// The outcome of a verification.
#[derive(Deserialize, JsonSchema, Serialize)]
pub(crate) struct VerifiedReceipt {
    /// `true` if it is genuine.
    valid: bool,
    /// The order as it stands; absent when the receipt is not genuine.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<OrderRecord>")]
    order: Option<Value>,
}

pub(crate) async fn store_receipt(
    State(app): State<Arc<AppState>>,
    store: AuthenticatedStore,
    Path(id): Path<String>,
) -> Result<Json<SignedReceipt>, ApiError> {
    let snapshot = store.order(&app, &id).await?;
    receipt_of(&store.config, store.store(), &snapshot)
}

pub(crate) fn describe_store_receipt(types: &mut Types) -> Operation {
    Operation::new("get_receipt", ORDERS, Auth::StoreKey)
        .summary("An order's receipt", "The same that its customer gets.")
        .path("id", "The order.", &order_id())
        .errors(&[ErrorCode::NotFound, ErrorCode::NotPaid])
        .responds::<SignedReceipt>(200, "The receipt.", types)
}

/// POST /v1/receipts/verify: whether a receipt is genuine. A forged one, another store's and any other text get the same
/// answer.
pub(crate) async fn verify(
    State(app): State<Arc<AppState>>,
    store: AuthenticatedStore,
    Post(Body(presented), request): Post<Body<VerifyReceipt>>,
) -> Result<Done<VerifiedReceipt>, ApiError> {
    let caller = Caller::Store(store.id.clone());
    idempotent(&app, request, caller, move |app| async move {
        verify_receipt(&app, &store, &presented.receipt).await
    })
    .await
}

async fn verify_receipt(
    app: &AppState,
    store: &AuthenticatedStore,
    receipt: &str,
) -> Result<VerifiedReceipt, ApiError> {
    let order = match PresentedReceipt::parse(receipt) {
        None => None,
        Some(presented) => {
            let found = app.storage.snapshot(presented.order()).await?;
            found.filter(|order| {
                order.order.terms.store_id == store.id
                    && presented.is_genuine(&store.config, store.store(), order)
            })
        }
    };
    Ok(VerifiedReceipt {
        valid: order.is_some(),
        order: order.map(|order| json!(OrderRecord::of(&order))),
    })
}

pub(crate) fn describe_verify(types: &mut Types) -> Operation {
    let example = json!({ "receipt": CODE });
    Operation::new("verify_receipt", ORDERS, Auth::StoreKey)
        .summary(
            "Is this receipt genuine?",
            "Takes a token or a printed code. One that was forged, is another store's, or was never one, is all the same.",
        )
        .idempotency_key(1)
        .takes::<VerifyReceipt>(types, &example)
        .responds::<VerifiedReceipt>(200, "Whether it is, and the order as it stands.", types)
}

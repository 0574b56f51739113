//! Refunds as they are recorded by the store's server, its staff and operators. Each sends the money by itself.

use std::sync::Arc;

use axum::extract::{Path, State};
use florin_checkout_api::ErrorCode;
use florin_money::{Amount, CryptoCode};
use florin_orders::{AuditId, EventType, NewRefund, OrderId, OrderRecord, RefundError, Snapshot};
use florin_storage::{Actor, DecideError, StoreScope};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::http::body::Body;
use crate::http::error::ApiError;
use crate::http::idempotency::{Caller, Done, Post, idempotent};
use crate::http::openapi::ORDERS;
use crate::http::openapi::operation::{Auth, Operation, Types};
use crate::http::store_api::{AuthenticatedStore, order_id};
use crate::state::AppState;

/// Money that was sent back.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Refund {
    /// How much was sent back, in the asset: above zero, and no more than has arrived and was not refunded before.
    pub(crate) amount_in_crypto: Amount,
    /// The asset; may be absent unless the order was paid in several.
    pub(crate) crypto_code: Option<CryptoCode>,
    /// The transaction that sent it. Each is recorded once for an order; hexadecimal digits in lower case, without `0x`.
    #[schemars(regex(pattern = "^[A-Za-z0-9]{1,128}$"), extend("examples" = ["4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b"]))]
    pub(crate) transaction: Option<String>,
}

/// Records a refund. Its transaction, or else `name`, makes its id: it is recorded once.
pub(crate) async fn record(
    app: &AppState,
    actor: Actor,
    order: &OrderId,
    mut sent: Refund,
    name: Option<String>,
    version: Option<u64>,
) -> Result<Snapshot, DecideError> {
    // Hexadecimal digits are written in several ways.
    if let Some(hash) = &mut sent.transaction {
        let digits = hash.strip_prefix("0x").unwrap_or(hash);
        if digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            *hash = digits.to_ascii_lowercase();
        }
    }
    let id = match sent.transaction.as_ref().or(name.as_ref()) {
        None => app.random_bits(),
        Some(name) => {
            let digest: [u8; 32] = Sha256::digest(format!("{order} {name}")).into();
            *digest.first_chunk().expect("a digest has 32 bytes")
        }
    };
    let new = NewRefund {
        id: AuditId::from_random(id),
        amount_in_crypto: sent.amount_in_crypto,
        crypto_code: sent.crypto_code,
        transaction_hash: sent.transaction,
        version,
    };
    let refunded = app.storage.refund(order, &new, &actor, app.now()).await?;
    tracing::info!(%order, person = actor.name, "a refund is recorded");
    app.metrics.order_events(&[EventType::Refunded]);
    app.wake_dispatcher();
    Ok(refunded)
}

pub(crate) async fn refund(
    State(app): State<Arc<AppState>>,
    store: AuthenticatedStore,
    Path(id): Path<String>,
    Post(Body(sent), request): Post<Body<Refund>>,
) -> Result<Done<Value>, ApiError> {
    let caller = Caller::Store(store.id.clone());
    // A repetition after a crash finds what was recorded.
    let key = request.generated_reference(&caller);
    let name = key.map(|key| format!("key {}", hex::encode(key)));
    let actor = Actor {
        name: "server".to_owned(),
        scope: StoreScope::Store(store.id),
    };
    idempotent(&app, request, caller, move |app| async move {
        let order = OrderId::parse(&id).map_err(|_| ApiError::NoSuchOrder)?;
        let recorded = record(&app, actor, &order, sent, name, None).await;
        let refunded = recorded.map_err(|error| match error {
            DecideError::Storage(error) => error.into(),
            DecideError::Refund(error) => {
                let field = match error {
                    RefundError::Amount(_) | RefundError::Open => "amount_in_crypto",
                    RefundError::SeveralAssets => "crypto_code",
                    RefundError::Transaction | RefundError::Recorded => "transaction",
                };
                ApiError::invalid(field, format!("It is refused: {error}."))
            }
            _ => ApiError::NoSuchOrder,
        })?;
        Ok(json!(OrderRecord::of(&refunded)))
    })
    .await
}

pub(crate) fn describe_refund(types: &mut Types) -> Operation {
    let example = json!({ "amount_in_crypto": "1.50", "transaction": "4a5e1e4baab89f3a" });
    Operation::new("refund_order", ORDERS, Auth::StoreKey)
        .summary(
            "Record a refund",
            "The store sends the money itself, and records it here: the order, its events and the settlements show it.",
        )
        .idempotency_key(1)
        .path("id", "The order.", &order_id())
        .takes::<Refund>(types, &example)
        .errors(&[ErrorCode::NotFound])
        .responds::<OrderRecord>(200, "The order, with its refunds.", types)
}

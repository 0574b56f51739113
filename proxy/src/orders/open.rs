//! Opening an order, and the client tokens that let its customer see and pay it.

use florin_orders::{EventType, NewOrder, OrderId, Snapshot};
use florin_storage::{OpenError, StorageError};
use jiff::{SignedDuration, Timestamp};

use crate::auth::token::Token;
use crate::state::AppState;
use crate::trace;

/// A client token works for a month after the order's end, so that a page that stayed open shows a late payment.
const TOKEN_LIFETIME_AFTER_ORDER: SignedDuration = SignedDuration::from_hours(30 * 24);

#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenOrderError {
    #[error(
        "This reference already names an order of another price or currency, also after that order has ended. \
         Use a new reference for every order, like cart-1234-2."
    )]
    Conflict,
    #[error("This reference already names an order of the other flow. Use a new reference.")]
    OtherFlow,
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// An order, and a fresh token that lets its customer see and pay it.
#[derive(Debug)]
pub(crate) struct Opening {
    /// The order: a new one, or the one that the reference already names.
    pub snapshot: Snapshot,
    pub is_new: bool,
    pub token: Token,
}

/// # Errors
/// [`OpenOrderError::Conflict`] if the reference names an order of another price, [`OpenOrderError::OtherFlow`] if it names
/// one of the other flow.
pub(crate) async fn open(app: &AppState, terms: &NewOrder) -> Result<Opening, OpenOrderError> {
    let token = Token::draw(&*app.deps.random);
    let (id, now) = (app.random_order_id(), app.now());
    let ends_at = terms.expires_at + TOKEN_LIFETIME_AFTER_ORDER;
    let storage = &app.deps.storage;
    let terms = &NewOrder {
        traceparent: trace::current(),
        ..terms.clone()
    };
    let opened = storage.open_order(&id, terms, token.client_hash(), ends_at, now);
    let opened = opened.await.map_err(|error| refused(terms, error, now))?;
    app.wake_dispatcher();
    let (order, is_new) = (opened.order, opened.is_new);
    if is_new {
        app.metrics.order_events(&[EventType::Created]);
    }
    if order.terms.flow != terms.flow {
        return Err(OpenOrderError::OtherFlow);
    }
    let known = if is_new {
        None
    } else {
        storage.snapshot(&order.id).await?
    };
    Ok(Opening {
        snapshot: known.unwrap_or(Snapshot {
            order,
            attempt: None,
        }),
        is_new,
        token,
    })
}

/// Issues another token for an order; `None` if the order does not exist.
pub(crate) async fn issue_client_token(
    app: &AppState,
    order: &OrderId,
) -> Result<Option<Token>, StorageError> {
    let storage = &app.deps.storage;
    let Some(known) = storage.snapshot(order).await? else {
        return Ok(None);
    };
    let token = Token::draw(&*app.deps.random);
    let ends_at = known.order.terms.expires_at + TOKEN_LIFETIME_AFTER_ORDER;
    storage
        .add_token(order, token.client_hash(), ends_at)
        .await?;
    Ok(Some(token))
}

/// Two prices under one reference: the store's code is wrong, or its key has leaked. A person should look, unless the store sells
/// again what was not paid.
fn refused(terms: &NewOrder, error: OpenError, now: Timestamp) -> OpenOrderError {
    let known = match error {
        OpenError::Storage(error) => return OpenOrderError::Storage(error),
        OpenError::Conflict(known) => known,
    };
    if known.ended_unpaid(now) {
        return OpenOrderError::Conflict;
    }
    tracing::error!(
        store = %terms.store_id,
        order = %known.id,
        reference = %terms.reference,
        known = format!("{} {}", known.terms.amount, known.terms.currency),
        wanted = format!("{} {}", terms.amount, terms.currency),
        "a reference came again at another price: find out which of the two the store means"
    );
    OpenOrderError::Conflict
}

//! Opening an order: whichever door it came through, it becomes a row here, and a person is called when a reference comes
//! again at another price.

use checkout_api::ErrorCode;
use jiff::SignedDuration;
use ledger::{NewOrder, OpenError, Order, OrderId, Snapshot};

use crate::auth::client_token::ClientToken;
use crate::http::error::ApiError;
use crate::state::AppState;

/// A client token works for a month after the order's end: a page that was kept shows what became of a late payment.
const TOKEN_LIFETIME_AFTER_ORDER: SignedDuration = SignedDuration::from_hours(30 * 24);

/// An order, and a fresh token that lets its customer see and pay it.
#[derive(Debug)]
pub(crate) struct Opening {
    /// The order: a new one, or the one that the reference already names.
    pub snapshot: Snapshot,
    /// Whether it is new.
    pub is_new: bool,
    /// Fresh at every call.
    pub token: ClientToken,
}

/// Opens an order, or finds the one of the same store, reference and price.
///
/// # Errors
/// [`ErrorCode::OrderConflict`] when the reference names an order of another price.
pub(crate) async fn open(app: &AppState, terms: &NewOrder) -> Result<Opening, ApiError> {
    let token = ClientToken::draw(&*app.deps.random);
    let (id, now) = (app.random_order_id(), app.now());
    let ends_at = terms.expires_at + TOKEN_LIFETIME_AFTER_ORDER;
    let ledger = &app.deps.ledger;
    let opened = ledger
        .open_order(&id, terms, token.hash(), ends_at, now)
        .await;
    let opened = opened.map_err(|error| refusal(terms, error))?;
    app.order_changed(&opened.order.id);
    let (order, is_new) = (opened.order, opened.is_new);
    let found = if is_new {
        None
    } else {
        ledger.snapshot(&order.id).await?
    };
    Ok(Opening {
        snapshot: found.unwrap_or(Snapshot {
            order,
            attempt: None,
        }),
        is_new,
        token,
    })
}

/// Lets another token see an order that is known to exist.
///
/// # Errors
/// A failure of the ledger.
pub(crate) async fn issue_client_token(
    app: &AppState,
    order: &OrderId,
) -> Result<ClientToken, ApiError> {
    let ledger = &app.deps.ledger;
    let known = ledger.snapshot(order).await?;
    let known = known.ok_or_else(ApiError::not_found)?;
    let token = ClientToken::draw(&*app.deps.random);
    let ends_at = known.order.terms.expires_at + TOKEN_LIFETIME_AFTER_ORDER;
    ledger.admit(order, token.hash(), ends_at).await?;
    Ok(token)
}

/// Two prices under one reference: either the store's own code is wrong, or somebody has its key.
fn refusal(terms: &NewOrder, error: OpenError) -> ApiError {
    let known: Box<Order> = match error {
        OpenError::Ledger(error) => return ApiError::from(error),
        OpenError::Conflict(known) => known,
    };
    tracing::error!(
        store = %terms.store_id,
        order = %known.id,
        reference = %terms.reference,
        known = format!("{} {}", known.terms.amount, known.terms.currency),
        wanted = format!("{} {}", terms.amount, terms.currency),
        "a reference came again at another price and was refused: see which of the two the store means"
    );
    let message = "This reference already names an order of another price or currency. Use a \
                   reference of its own for every order.";
    ApiError::new(ErrorCode::OrderConflict, message)
}

//! A token that the store's server signed. The browser carries it and can change nothing of it.

use axum::http::HeaderMap;
use checkout_api::ErrorCode;
use ledger::{Flow, NewOrder, PriceSource};
use money::Amount;

use super::ORDER_LIFETIME;
use crate::app::App;
use crate::http::cors::admit;
use crate::http::error::ApiError;
use crate::order_token::verify;

/// Whether a store's server signed it, and it still holds.
pub(super) fn is_valid(app: &App, token: &str) -> bool {
    let config = &app.config;
    verify(token, &config.stores, config.public_url.base(), app.now()).is_ok()
}

/// Outwards every refusal is the same; why, the log says, without the token.
pub(super) fn terms(app: &App, token: &str, headers: &HeaderMap) -> Result<NewOrder, ApiError> {
    let (config, now) = (&app.config, app.now());
    let verified = verify(token, &config.stores, config.public_url.base(), now);
    let (store, claims) = verified.map_err(|reason| {
        tracing::warn!(%reason, "an order token was refused");
        let message = "This checkout link is not valid, or no longer. Go back to the shop and \
                       start again.";
        ApiError::new(ErrorCode::InvalidOrderToken, message)
    })?;
    admit(app, store, headers)?;
    let (amount, currency) = (claims.amount, claims.currency);
    Ok(NewOrder {
        store_id: store.id.clone(),
        reference: claims.reference,
        amount,
        currency,
        price_source: PriceSource::OrderToken,
        title: claims.title.unwrap_or_else(|| store.name.clone()),
        lines: claims.lines,
        customer_email: None,
        return_url: claims.return_url,
        metadata: serde_json::Map::new(),
        assets: Vec::new(),
        flow: Flow::Custom,
        tolerance: if currency == store.currency {
            store.tolerance_of(amount)
        } else {
            Amount::ZERO
        },
        expires_at: now + ORDER_LIFETIME,
    })
}

//! What a page sells: a product, a donation, or the order that a token names, each verified and priced.

use axum::http::HeaderMap;
use florin_checkout_api::OpenOrderRequest;
use florin_money::AmountText;
use florin_orders::{NewOrder, StoreId};
use jiff::Timestamp;

use crate::auth::order_token::{Claims, verify};
use crate::config::{Config, Store};
use crate::http::error::ApiError;
use crate::http::middleware::require_listed_origin;
use crate::orders;
use crate::orders::PriceError;

pub(crate) enum VerifiedRequest<'a> {
    Product {
        store: String,
        sku: String,
        quantity: u32,
    },
    Donation {
        store: String,
        id: String,
        amount: AmountText,
    },
    Signed {
        store: &'a Store,
        claims: Claims,
    },
}

impl<'a> VerifiedRequest<'a> {
    /// Verifies an order token. Every refusal is the same to the outside; the log says why, without the token.
    pub(crate) fn verify(
        config: &'a Config,
        request: OpenOrderRequest,
        now: Timestamp,
    ) -> Result<Self, ApiError> {
        match request {
            OpenOrderRequest::Product {
                store,
                product,
                quantity,
                ..
            } => Ok(Self::Product {
                store,
                sku: product,
                quantity: quantity.unwrap_or(1),
            }),
            OpenOrderRequest::Donation {
                store,
                donation,
                amount,
                ..
            } => Ok(Self::Donation {
                store,
                id: donation,
                amount,
            }),
            OpenOrderRequest::OrderToken { order_token, .. } => {
                Self::verify_token(config, &order_token, now)
            }
        }
    }

    pub(crate) fn verify_token(
        config: &'a Config,
        order_token: &str,
        now: Timestamp,
    ) -> Result<Self, ApiError> {
        let (stores, audience) = (&config.stores, config.public_url.base());
        let verified = verify(order_token, stores, audience, now);
        let (store, claims) = verified.map_err(|reason| {
            tracing::warn!(%reason, "an order token was rejected");
            ApiError::InvalidOrderToken(Box::new(reason))
        })?;
        Ok(Self::Signed { store, claims })
    }

    /// The store, if it lists the origin of the page.
    pub(crate) fn store(
        &self,
        config: &'a Config,
        headers: &HeaderMap,
    ) -> Result<&'a Store, ApiError> {
        match self {
            Self::Product { store, .. } | Self::Donation { store, .. } => {
                store_of_page(config, store, headers)
            }
            Self::Signed { store, .. } => {
                require_listed_origin(config, store, headers)?;
                Ok(store)
            }
        }
    }

    /// The order with its price. `reference` is for an order to which the store gives none.
    pub(crate) fn price(
        self,
        store: &Store,
        reference: [u8; 16],
        now: Timestamp,
    ) -> Result<NewOrder, PriceError> {
        match self {
            Self::Product { sku, quantity, .. } => {
                orders::product(store, reference, &sku, quantity, now)
            }
            Self::Donation { id, amount, .. } => {
                orders::donation(store, reference, &id, &amount, now)
            }
            Self::Signed { claims, .. } => Ok(orders::order_token(store, claims, now)),
        }
    }
}

pub(crate) fn store_of_page<'a>(
    config: &'a Config,
    id: &str,
    headers: &HeaderMap,
) -> Result<&'a Store, ApiError> {
    let store = StoreId::parse(id).ok().and_then(|id| config.store(&id));
    let store = store.ok_or_else(|| ApiError::UnknownStore(id.to_owned()))?;
    require_listed_origin(config, store, headers)?;
    Ok(store)
}

//! The three doors of the browser: a product, a declared donation and a signed order token, each with its price.

use axum::http::HeaderMap;
use checkout_api::ErrorCode;
use jiff::SignedDuration;
use ledger::{Flow, NewOrder, OrderLine, PriceSource, Reference};
use money::{Amount, AmountText};

use crate::auth::order_token::verify;
use crate::config::{Donation, Store};
use crate::http::checkout::orders::declared;
use crate::http::error::ApiError;
use crate::http::middleware::cors::require_listed_origin;
use crate::state::AppState;

/// An order that a browser opened takes attempts for a day.
const ORDER_LIFETIME: SignedDuration = SignedDuration::from_hours(24);

pub(crate) fn product(
    app: &AppState,
    store: &Store,
    name: [u8; 16],
    sku: &str,
    quantity: u32,
) -> Result<NewOrder, ApiError> {
    let product = store.product(sku).ok_or_else(|| {
        let message = "The shop does not sell this. Go back to the shop and choose again.";
        ApiError::new(ErrorCode::UnknownProduct, message)
    })?;
    let out_of_range = |most: u32| {
        let message = format!("The shop sells 1 to {most} of this at once.");
        ApiError::new(ErrorCode::QuantityOutOfRange, &message)
    };
    if !(1..=product.max_quantity).contains(&quantity) {
        return Err(out_of_range(product.max_quantity));
    }
    let amount = product
        .price
        .times(quantity)
        .map_err(|_| out_of_range(product.max_quantity))?;
    let title = match quantity {
        1 => product.title.clone(),
        many => format!("{many} × {}", product.title),
    };
    let line = OrderLine {
        title: product.title.clone(),
        quantity,
        unit_amount: Some(product.price),
        amount: Some(amount),
        image_url: product.image_url.clone(),
    };
    let reference = Reference::parse(&format!("catalogue-{}", hex::encode(name)));
    let mut metadata = serde_json::Map::new();
    metadata.insert("sku".into(), product.sku.clone().into());
    metadata.insert("quantity".into(), quantity.into());
    Ok(NewOrder {
        store_id: store.id.clone(),
        reference: reference.expect("hexadecimal digits fit a reference"),
        amount,
        currency: store.currency,
        price_source: PriceSource::Catalogue,
        title,
        lines: vec![line],
        customer_email: None,
        return_url: None,
        metadata,
        assets: Vec::new(),
        flow: Flow::Custom,
        tolerance: store.tolerance_of(amount),
        expires_at: app.now() + ORDER_LIFETIME,
    })
}

/// The one door through which a customer names a price. It is told as `donation.*`, so that nothing is ever shipped for it.
pub(crate) fn donation(
    app: &AppState,
    store: &Store,
    name: [u8; 16],
    id: &str,
    given: &AmountText,
) -> Result<NewOrder, ApiError> {
    let donation = declared(store, id)?;
    let amount = within(donation, store, given)?;
    let reference = Reference::parse(&format!("donation-{}", hex::encode(name)));
    let mut metadata = serde_json::Map::new();
    metadata.insert("donation".into(), donation.id.clone().into());
    Ok(NewOrder {
        store_id: store.id.clone(),
        reference: reference.expect("hexadecimal digits fit a reference"),
        amount,
        currency: store.currency,
        price_source: PriceSource::Customer,
        title: donation.title.clone(),
        lines: Vec::new(),
        customer_email: None,
        return_url: None,
        metadata,
        assets: Vec::new(),
        flow: Flow::Custom,
        tolerance: store.tolerance_of(amount),
        expires_at: app.now() + ORDER_LIFETIME,
    })
}

/// The bounds, which every refusal states.
fn within(donation: &Donation, store: &Store, given: &AmountText) -> Result<Amount, ApiError> {
    let Donation { min, max, .. } = donation;
    let (amount, currency) = (Amount::from(given), store.currency);
    let decimals = currency.decimals();
    let fits = u32::try_from(given.decimals()).is_ok_and(|written| written <= decimals);
    if fits && (*min..=*max).contains(&amount) {
        return Ok(amount.padded(decimals));
    }
    let places = match decimals {
        0 => "without decimals".to_owned(),
        some => format!("with at most {some} decimals"),
    };
    let message = format!("Give {min} to {max} {currency}, {places}.");
    Err(ApiError::new(ErrorCode::DonationOutOfRange, &message).at("amount"))
}

/// Whether a store's server signed it, and it still holds.
pub(crate) fn is_valid(app: &AppState, token: &str) -> bool {
    let config = &app.config;
    verify(token, &config.stores, config.public_url.base(), app.now()).is_ok()
}

/// A token that the store's server signed. The browser carries it and can change nothing of it.
///
/// Outwards every refusal is the same; why, the log says, without the token.
pub(crate) fn order_token(
    app: &AppState,
    token: &str,
    headers: &HeaderMap,
) -> Result<NewOrder, ApiError> {
    let (config, now) = (&app.config, app.now());
    let verified = verify(token, &config.stores, config.public_url.base(), now);
    let (store, claims) = verified.map_err(|reason| {
        tracing::warn!(%reason, "an order token was refused");
        let message = "This checkout link is not valid, or no longer. Go back to the shop and \
                       start again.";
        ApiError::new(ErrorCode::InvalidOrderToken, message)
    })?;
    require_listed_origin(app, store, headers)?;
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

//! Orders: their price, opening them with the client tokens that let a customer see and pay one, and the pages that watch them.

pub(crate) mod changes;
pub(crate) mod lines;
pub(crate) mod tracked_storage;
pub(crate) mod version_reads;
pub(crate) mod view_cache;

use std::num::NonZeroU32;

use florin_checkout_api::check_title;
use florin_money::{Amount, AmountText, Currency, Price};
use florin_orders::{
    EventType, Flow, LineKind, NewOrder, OrderId, OrderLine, PriceSource, Reference, Snapshot,
    StoreId,
};
use florin_storage::{OpenError, StorageError};
use jiff::{SignedDuration, Timestamp};

use crate::auth::order_token::Claims;
use crate::auth::token::Token;
use crate::config::{Donation, Store};
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
    let token = Token::draw(&*app.random);
    let (id, now) = (app.random_order_id(), app.now());
    let ends_at = terms.expires_at + TOKEN_LIFETIME_AFTER_ORDER;
    let storage = &app.storage;
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

pub(crate) async fn issue_client_token(
    app: &AppState,
    order: &OrderId,
) -> Result<Option<Token>, StorageError> {
    let storage = &app.storage;
    let Some(known) = storage.snapshot(order).await? else {
        return Ok(None);
    };
    let token = Token::draw(&*app.random);
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

// The price of an order that a browser opens: from the store's catalogue, from a declared donation, or from a token that
// the store's server signed.

const LIFETIME: SignedDuration = SignedDuration::from_hours(24);

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum PriceError {
    #[error("the store {store} has no product {sku:?}; it has {known:?}")]
    UnknownProduct {
        store: StoreId,
        sku: String,
        known: Vec<String>,
    },
    #[error("quantity={quantity} is not 1 to {max}, the product's max_quantity")]
    QuantityOutOfRange { quantity: u32, max: u32 },
    #[error("the store {store} has no donation {id:?}; it has {known:?}")]
    UnknownDonation {
        store: StoreId,
        id: String,
        known: Vec<String>,
    },
    #[error("the store takes {min} to {max} {currency}")]
    DonationOutOfRange {
        min: Amount,
        max: Amount,
        currency: Currency,
    },
}

/// An order of the catalogue: the browser says which product and how many, the catalogue says at what price.
pub(crate) fn product(
    store: &Store,
    name: [u8; 16],
    sku: &str,
    quantity: u32,
    now: Timestamp,
) -> Result<NewOrder, PriceError> {
    let product = store.product(sku);
    let product = product.ok_or_else(|| PriceError::UnknownProduct {
        store: store.id.clone(),
        sku: sku.to_owned(),
        known: known(&store.products, |product| &product.sku),
    })?;
    let price = NonZeroU32::new(quantity)
        .filter(|quantity| quantity.get() <= product.max_quantity)
        .and_then(|quantity| product.price.times(quantity).ok())
        .ok_or(PriceError::QuantityOutOfRange {
            quantity,
            max: product.max_quantity,
        })?;
    // A title that is too long with its quantity stands without it: the line below has it.
    let title = Some(format!("{quantity} × {}", product.title)).filter(|_| quantity > 1);
    let title = title.and_then(|title| check_title(title).ok());
    let title = title.unwrap_or_else(|| product.title.clone());
    let line = OrderLine {
        title: product.title.clone(),
        kind: LineKind::Item,
        quantity,
        unit_amount: Some(product.price.amount()),
        amount: Some(price.amount()),
        image_url: product.image_url.clone(),
    };
    let mut metadata = serde_json::Map::new();
    metadata.insert("sku".into(), product.sku.clone().into());
    metadata.insert("quantity".into(), quantity.into());
    Ok(NewOrder {
        price_source: PriceSource::Catalogue,
        title,
        lines: vec![line],
        metadata,
        ..unnamed(store, reference("catalogue", name), price, now)
    })
}

/// A declared donation: the one order whose price the customer names, within its bounds. Its events are `donation.*`, so
/// that nothing is ever shipped for it.
pub(crate) fn donation(
    store: &Store,
    name: [u8; 16],
    id: &str,
    given: &AmountText,
    now: Timestamp,
) -> Result<NewOrder, PriceError> {
    let donation = declared_donation(store, id)?;
    let price = within_bounds(donation, store, given)?;
    let mut metadata = serde_json::Map::new();
    metadata.insert("donation".into(), donation.id.clone().into());
    Ok(NewOrder {
        price_source: PriceSource::Customer,
        title: donation.title.clone(),
        metadata,
        ..unnamed(store, reference("donation", name), price, now)
    })
}

/// An order that the store's server signed. The browser carries the token and can change nothing of it.
pub(crate) fn order_token(store: &Store, claims: Claims, now: Timestamp) -> NewOrder {
    NewOrder {
        price_source: PriceSource::OrderToken,
        title: claims.title.unwrap_or_else(|| store.name.clone()),
        lines: claims.lines,
        return_url: claims.return_url,
        cancel_url: claims.cancel_url,
        ..unnamed(store, claims.reference, claims.price, now)
    }
}

pub(crate) fn declared_donation<'a>(
    store: &'a Store,
    id: &str,
) -> Result<&'a Donation, PriceError> {
    let donation = store.donation(id);
    donation.ok_or_else(|| PriceError::UnknownDonation {
        store: store.id.clone(),
        id: id.to_owned(),
        known: known(&store.donations, |donation| &donation.id),
    })
}

fn known<T>(all: &[T], name: impl Fn(&T) -> &String) -> Vec<String> {
    all.iter().map(|known| name(known).clone()).collect()
}

fn within_bounds(
    donation: &Donation,
    store: &Store,
    given: &AmountText,
) -> Result<Price, PriceError> {
    let (min, max, currency) = (donation.min, donation.max, store.currency);
    Price::new(given.into(), currency)
        .ok()
        .filter(|price| (min..=max).contains(&price.amount()))
        .ok_or(PriceError::DonationOutOfRange { min, max, currency })
}

fn unnamed(store: &Store, reference: Reference, price: Price, now: Timestamp) -> NewOrder {
    NewOrder {
        store_id: store.id.clone(),
        reference,
        amount: price.amount(),
        currency: price.currency(),
        price_source: PriceSource::Catalogue,
        title: store.name.clone(),
        lines: Vec::new(),
        customer_email: None,
        return_url: None,
        cancel_url: None,
        metadata: serde_json::Map::new(),
        assets: Vec::new(),
        flow: Flow::Custom,
        tolerance: store.tolerance_of(price),
        expires_at: now + LIFETIME,
        traceparent: None,
    }
}

fn reference(kind: &str, name: [u8; 16]) -> Reference {
    let text = format!("{kind}-{}", hex::encode(name));
    Reference::parse(&text).expect("a word and hexadecimal digits fit a reference")
}

//! POST /v1/checkout: the catalogue's door. The browser names a product; the price is the catalogue's.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use checkout_api::{Door, ErrorCode, Opened};
use jiff::SignedDuration;
use ledger::{Flow, NewOrder, OpenError, PriceSource, Reference, Snapshot, StoreId};

use super::view_of;
use crate::app::App;
use crate::config::{Product, Store};
use crate::http::body::Body;
use crate::http::cors::admit;
use crate::http::error::ApiError;
use crate::token::ClientToken;

/// An order of the catalogue takes attempts for a day.
const ORDER_LIFETIME: SignedDuration = SignedDuration::from_hours(24);
/// A client token works for a month after the order's end: a page that was kept shows what became of a late payment.
pub(crate) const TOKEN_LIFETIME_AFTER_ORDER: SignedDuration = SignedDuration::from_hours(30 * 24);

/// Opens an order for a product of a store's catalogue.
pub(crate) async fn open(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Body(door): Body<Door>,
) -> Result<(StatusCode, Json<Opened>), ApiError> {
    let unknown = || {
        ApiError::new(
            ErrorCode::UnknownStore,
            "There is no shop of this name here.",
        )
    };
    let id = StoreId::parse(&door.store).map_err(|_| unknown())?;
    let store = app.config.store(&id).ok_or_else(unknown)?;
    admit(&app, store, &headers)?;
    let product = store.product(&door.product).ok_or_else(|| {
        let message = "The shop does not sell this. Go back to the shop and choose again.";
        ApiError::new(ErrorCode::UnknownProduct, message)
    })?;
    let terms = terms(&app, store, product, door.quantity.unwrap_or(1))?;
    let token = ClientToken::draw(&*app.parts.random);
    let expires_at = terms.expires_at + TOKEN_LIFETIME_AFTER_ORDER;
    let (id, now) = (app.draw_order_id(), app.now());
    let opened = app
        .parts
        .ledger
        .open_order(&id, &terms, token.hash(), expires_at, now)
        .await;
    let opened = opened.map_err(|error| match error {
        OpenError::Ledger(error) => ApiError::from(error),
        conflict @ OpenError::Conflict(_) => ApiError::internal(&conflict),
    })?;
    app.order_changed(&opened.order.id);
    let order = view_of(
        &app,
        &Snapshot {
            order: opened.order,
            attempt: None,
        },
    )?;
    let client_token = token.expose().to_owned();
    Ok((
        StatusCode::CREATED,
        Json(Opened {
            client_token,
            order,
        }),
    ))
}

fn terms(app: &App, store: &Store, product: &Product, quantity: u32) -> Result<NewOrder, ApiError> {
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
    let reference = Reference::parse(&format!("catalogue-{}", hex::encode(app.draw())));
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
        customer_email: None,
        return_url: None,
        metadata,
        assets: Vec::new(),
        flow: Flow::Custom,
        tolerance: store.tolerance_of(amount),
        expires_at: app.now() + ORDER_LIFETIME,
    })
}

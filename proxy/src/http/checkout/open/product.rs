//! A product of the store's catalogue: the browser says which and how many, the catalogue says at what price.

use checkout_api::ErrorCode;
use ledger::{Flow, NewOrder, OrderLine, PriceSource, Reference};

use super::ORDER_LIFETIME;
use crate::app::App;
use crate::config::Store;
use crate::http::error::ApiError;

pub(super) fn terms(
    app: &App,
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

//! A declared donation: the one door through which a customer names a price. It is told as `donation.*`, so that nothing
//! is ever shipped for it.

use checkout_api::ErrorCode;
use ledger::{Flow, NewOrder, PriceSource, Reference};
use money::{Amount, AmountText};

use super::super::donation::declared;
use super::ORDER_LIFETIME;
use crate::app::App;
use crate::config::{Donation, Store};
use crate::http::error::ApiError;

pub(super) fn terms(
    app: &App,
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

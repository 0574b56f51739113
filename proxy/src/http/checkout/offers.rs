//! Offers: what a page shows before its customer chooses an asset. They are read from memory, so any number of views opens no
//! order and writes nothing.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use florin_checkout_api::{DonationView, ErrorCode, Offer};
use florin_money::{Amount, AmountText};
use florin_orders::NewOrder;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::config::Store;
use crate::http::body::{Form, Parameters};
use crate::http::checkout::source::{VerifiedRequest, store_of_page};
use crate::http::error::ApiError;
use crate::http::middleware::ClientAddress;
use crate::http::openapi::CHECKOUT;
use crate::http::openapi::operation::{Auth, Operation, Types};
use crate::orders::declared_donation;
use crate::payments::view::store_view;
use crate::payments::{offers, payable};
use crate::rate_limit::network;
use crate::state::AppState;

/// A page without prices is shown after this time: it asks for them again.
const LONGEST_WAIT_FOR_PRICES: Duration = Duration::from_millis(400);

/// The product or donation of a page.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OfferQuery {
    /// The store's id.
    pub store: String,
    /// The product's `sku`; either this or `donation`.
    pub product: Option<String>,
    /// How many; 1 when absent.
    #[schemars(range(min = 1))]
    pub quantity: Option<u32>,
    /// The donation's `id`.
    pub donation: Option<String>,
    /// What the customer gives, in the store's currency; with `donation` alone. Without it the response asks for it.
    pub amount: Option<AmountText>,
}

#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum OfferOrDonation {
    Offer(Box<Offer>),
    Donation(Box<DonationView>),
}

impl OfferQuery {
    fn unpriced_donation(&self) -> Option<&str> {
        let is_alone = self.product.is_none() && self.quantity.is_none() && self.amount.is_none();
        self.donation.as_deref().filter(|_| is_alone)
    }

    fn request(self) -> Result<VerifiedRequest<'static>, ApiError> {
        let Self {
            store,
            product,
            quantity,
            donation,
            amount,
        } = self;
        match (product, donation, amount) {
            (Some(sku), None, None) => Ok(VerifiedRequest::Product {
                store,
                sku,
                quantity: quantity.unwrap_or(1),
            }),
            (None, Some(id), Some(amount)) if quantity.is_none() => {
                Ok(VerifiedRequest::Donation { store, id, amount })
            }
            _ => {
                let message = "Name a product, or a donation.";
                Err(ApiError::InvalidBody(message.to_owned()))
            }
        }
    }
}

/// The order token of a page.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OfferForm {
    /// A JSON Web Token of at most 8192 characters, see docs/reference/order-tokens.md.
    pub order_token: String,
}

pub(crate) fn example_of_form() -> Value {
    json!({ "order_token": "eyJhbGciOiJIUzI1NiIsImtpZCI6ImsxIn0.eyJzdG9yZSI6ImRlbW8ifQ.c2lnbmF0dXJl" })
}

/// GET /v1/checkout/offer: the offer of a product or a donation; without its amount, what the donation takes.
pub(crate) async fn offer(
    State(app): State<Arc<AppState>>,
    ClientAddress(client): ClientAddress,
    headers: HeaderMap,
    Parameters(query): Parameters<OfferQuery>,
) -> Result<Json<OfferOrDonation>, ApiError> {
    limit_here(&app, client)?;
    let config = app.config();
    if let Some(id) = query.unpriced_donation() {
        let store = store_of_page(&config, &query.store, &headers)?;
        let donation = declared_donation(store, id)?;
        let padded = |amount: Amount| {
            amount
                .with_min_decimals(store.currency.decimals())
                .to_text()
        };
        return Ok(Json(OfferOrDonation::Donation(Box::new(DonationView {
            environment: config.environment,
            store: store_view(store),
            title: donation.title.clone(),
            currency: store.currency.to_string(),
            min: padded(donation.min),
            max: padded(donation.max),
            suggested: donation.suggested.iter().copied().map(padded).collect(),
        }))));
    }
    let request = query.request()?;
    let store = request.store(&config, &headers)?;
    let offer = read(&app, store, request).await?;
    Ok(Json(OfferOrDonation::Offer(Box::new(offer))))
}

/// The offer of a page's address. Only pages of the store show it.
pub(crate) async fn offer_of_page(
    app: &Arc<AppState>,
    store: &Store,
    query: OfferQuery,
) -> Result<Offer, ApiError> {
    read(app, store, query.request()?).await
}

/// The offer of an order token that was posted to the page of this store.
pub(crate) async fn offer_of_posted(
    app: &Arc<AppState>,
    store: &Store,
    order_token: &str,
    client: Option<IpAddr>,
) -> Result<Offer, ApiError> {
    limit_here(app, client)?;
    let config = app.config();
    let request = VerifiedRequest::verify_token(&config, order_token, app.now())?;
    match &request {
        VerifiedRequest::Signed { store: signed, .. } if signed.id == store.id => {
            read(app, store, request).await
        }
        _ => Err(ApiError::OriginNotAllowed),
    }
}

/// POST /v1/checkout/offer: the offer of an order token, which stands in no address. The body is a form, which a browser
/// sends without a preflight.
pub(crate) async fn offer_of_token(
    State(app): State<Arc<AppState>>,
    ClientAddress(client): ClientAddress,
    headers: HeaderMap,
    Form(OfferForm { order_token }): Form<OfferForm>,
) -> Result<Json<Offer>, ApiError> {
    limit_here(&app, client)?;
    let config = app.config();
    let request = VerifiedRequest::verify_token(&config, &order_token, app.now())?;
    let store = request.store(&config, &headers)?;
    read(&app, store, request).await.map(Json)
}

async fn read(
    app: &Arc<AppState>,
    store: &Store,
    request: VerifiedRequest<'_>,
) -> Result<Offer, ApiError> {
    let is_token = matches!(request, VerifiedRequest::Signed { .. });
    let terms = request.price(store, [0; 16], app.now())?;
    let order_exists = is_token && payable::is_known(app, &terms).await?;
    let offer = current(app, store, &terms).await;
    if !order_exists {
        payable::check_currency(terms.currency, &app.prices.currencies())?;
    }
    Ok(Offer {
        order_exists,
        ..offer
    })
}

/// The offer at the prices of this moment; without quotes while there are none.
pub(crate) async fn current(app: &Arc<AppState>, store: &Store, terms: &NewOrder) -> Offer {
    let priced = app.prices_within(LONGEST_WAIT_FOR_PRICES).await;
    let quotes = priced.map(|priced| offers::quotes(app, terms, &priced));
    offers::offer(store, app.config().environment, terms, quotes)
}

pub(crate) fn limit_here(app: &AppState, client: Option<IpAddr>) -> Result<(), ApiError> {
    let Some(client) = client else { return Ok(()) };
    let counted = app.offer_limit.check_here(network(client), app.now());
    counted.map_err(ApiError::too_many_requests)
}

pub(crate) fn describe_offer(types: &mut Types) -> Operation {
    let schema = json!({ "anyOf": [types.written::<Offer>(), types.written::<DonationView>()] });
    described("show_offer")
        .query::<OfferQuery>(types)
        .responds_as(
            200,
            "The offer, or what the donation takes.",
            "application/json",
            &schema,
        )
}

pub(crate) fn describe_offer_of_token(types: &mut Types) -> Operation {
    described("show_offer_of_token")
        .takes_form::<OfferForm>(types, &example_of_form())
        .errors(&[ErrorCode::InvalidOrderToken])
        .responds::<Offer>(200, "The offer.", types)
}

fn described(id: &'static str) -> Operation {
    Operation::new(id, CHECKOUT, Auth::None)
        .summary(
            "What a page shows before a choice",
            "Store, lines, price and quotes. It opens no order: `POST /v1/checkout` with one of the quotes does.",
        )
        .errors(&[
            ErrorCode::OriginNotAllowed,
            ErrorCode::UnknownStore,
            ErrorCode::UnknownProduct,
            ErrorCode::UnknownDonation,
            ErrorCode::QuantityOutOfRange,
            ErrorCode::DonationOutOfRange,
            ErrorCode::CurrencyUnavailable,
            ErrorCode::RateLimited,
            ErrorCode::StorageUnavailable,
            ErrorCode::Internal,
        ])
}

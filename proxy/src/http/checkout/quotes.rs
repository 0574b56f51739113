//! GET /v1/checkout/quotes: what the order costs in each asset now.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use checkout_api::{ErrorCode, Quote, Unavailable};
use ledger::Order;
use money::{Amount, Asset, CryptoCode};
use service_api::PriceEntry;

use super::Holder;
use crate::app::App;
use crate::attempting::{log_refusal, not_made};
use crate::currencies::Names;
use crate::http::error::ApiError;
use crate::quoting::{NoQuote, Range, limit_in_order_currency, price, quote};

/// Lists the assets: known ones first, in our order, then whatever else the service offers.
pub(crate) async fn quotes(
    State(app): State<Arc<App>>,
    Holder(snapshot): Holder,
) -> Result<Json<Vec<Quote>>, ApiError> {
    if !snapshot.order.takes_attempts(app.now()) {
        let message = "This order takes no further payment. Go back to the shop for a new one.";
        return Err(ApiError::new(ErrorCode::OrderClosed, message));
    }
    let priced = app
        .prices
        .fresh(&*app.parts.service, &*app.parts.clock)
        .await;
    let priced = priced.map_err(|error| {
        log_refusal(&error, "no prices");
        not_made(&error)
    })?;
    let valid_for_seconds = app.prices.seconds_left(&priced, app.now());
    let entries = &priced.prices.entries;
    let known = Asset::ALL.into_iter().filter_map(|asset| {
        let code = asset.crypto_code();
        Some(known_asset(
            &snapshot.order,
            asset,
            entries.get(&code)?,
            valid_for_seconds,
        ))
    });
    let unknown = entries.iter().filter(|(code, _)| Asset::of(code).is_none());
    let currencies = app.currencies();
    let unknown = unknown.map(|(code, entry)| {
        let names = currencies.names(code);
        unknown_asset(code, names, entry, valid_for_seconds)
    });
    let accepted = &snapshot.order.terms.assets;
    let accepts = |quote: &Quote| {
        accepted.is_empty()
            || accepted
                .iter()
                .any(|code| code.as_str() == quote.crypto_code)
    };
    Ok(Json(known.chain(unknown).filter(accepts).collect()))
}

fn known_asset(order: &Order, asset: Asset, entry: &PriceEntry, valid_for_seconds: u32) -> Quote {
    let asked = price(order, asset, &entry.rates).ok();
    let no_quote = quote(order, asset, entry).err();
    let reason = no_quote.map(|no_quote| match no_quote {
        NoQuote::NotPriced => Unavailable::NotPriced,
        NoQuote::BelowMinimum => Unavailable::BelowMinimum,
        NoQuote::AboveMaximum => Unavailable::AboveMaximum,
    });
    let range = Range::of(&entry.limits).unwrap_or_default();
    let limit = asked
        .zip(no_quote)
        .and_then(|(asked, no_quote)| limit_in_order_currency(order, &asked, range, no_quote));
    Quote {
        crypto_code: asset.crypto_code().to_string(),
        asset: asset.symbol().to_owned(),
        asset_name: asset.name().to_owned(),
        network: asset.network().to_owned(),
        amount_in_crypto: asked.map(|asked| asked.figures.crypto.to_text()),
        amount_in_usd: asked.map(|asked| asked.figures.usd.to_text()),
        min: range.min.map(Amount::to_text),
        max: range.max.map(Amount::to_text),
        available: reason.is_none(),
        reason,
        limit_in_order_currency: limit.map(Amount::to_text),
        quote_id: entry.conversion_id.as_str().to_owned(),
        valid_for_seconds,
    }
}

/// An asset that the service offers and we do not know: shown as the service's list of currencies calls it, and not guessed
/// at.
fn unknown_asset(
    code: &CryptoCode,
    names: Names,
    entry: &PriceEntry,
    valid_for_seconds: u32,
) -> Quote {
    let asset = names.symbol.unwrap_or_else(|| code.to_string());
    Quote {
        crypto_code: code.to_string(),
        asset_name: names.name.unwrap_or_else(|| asset.clone()),
        asset,
        network: names.network.unwrap_or_default(),
        amount_in_crypto: None,
        amount_in_usd: None,
        min: None,
        max: None,
        available: false,
        reason: Some(Unavailable::UnknownAsset),
        limit_in_order_currency: None,
        quote_id: entry.conversion_id.as_str().to_owned(),
        valid_for_seconds,
    }
}

//! The hosted checkout: the gateway's own page, to which POST /checkout sends the customer.
//!
//! | path | does |
//! |---|---|
//! | GET `/checkout?id=` | the page: full, or in a frame of 1270 × 740 |
//! | GET `/checkout/session?id=` | what the page shows |
//! | POST `/checkout/choose` | `{"id", "crypto_code", "amount"?}`: opens the invoice and shows its QR code |
//! | POST `/checkout/close` | `{"id"}`: the page is closed; before the QR code that means CANCELLED |
//!
//! Source: payment-service.md, "POST /checkout" and "Limits" for the frame's size.

use core::fmt::Write as _;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Query, State as Extract};
use axum::routing::{get, post};
use axum::{Json, Router};
use florin_money::{Amount, AmountText};
use jiff::Timestamp;
use qrcodegen::{QrCode, QrCodeEcc};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::control::invoices::{self, session_view};
use crate::control::{ControlError, JsonResult, Shared, parse, serve_files};
use crate::invoice::NewInvoice;
use crate::journal::Event;
use crate::session::Session;
use crate::state::{Sandbox, State};

/// Nothing inline, nothing from elsewhere; any shop may frame it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors *";

pub(crate) fn routes() -> Router<Arc<Sandbox>> {
    const HTML: &str = include_str!("hosted/checkout.html");
    const CSS: &str = include_str!("hosted/checkout.css");
    const JS: &str = include_str!("hosted/checkout.js");
    let files = [
        ("/checkout", "text/html", HTML),
        ("/checkout/checkout.css", "text/css", CSS),
        ("/checkout/checkout.js", "text/javascript", JS),
    ];
    serve_files(POLICY, &files)
        .route("/checkout/session", get(show))
        .route("/checkout/choose", post(choose))
        .route("/checkout/close", post(close))
}

fn no_session() -> ControlError {
    ControlError::not_found("There is no such checkout. Go back to the shop and start again.")
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Choice {
    #[serde(default)]
    id: String,
    #[serde(default)]
    crypto_code: String,
    /// In the session's currency; required when the shop set no amount, and rejected otherwise.
    amount: Option<String>,
}

/// GET /checkout/session: with `amount`, what the customer has typed so far.
async fn show(Extract(sandbox): Shared, Query(choice): Query<Choice>) -> JsonResult {
    sandbox.update(|state, now| {
        let mut shown = view(state, &choice.id, now)?;
        if let (Some(amount), Some(session)) = (choice.amount, state.sessions.get(&choice.id))
            && session.request.amount.is_none()
            && session.is_choosing(now)
        {
            let amount = AmountText::parse(&amount).ok();
            shown["assets"] = json!(assets(state, session, amount.as_ref()));
        }
        Ok(Json(shown))
    })
}

/// Opens the invoice; it has the id of the session.
async fn choose(Extract(sandbox): Shared, body: Bytes) -> JsonResult {
    let choice: Choice = parse(&body)?;
    sandbox.update(|state, now| {
        let session = state.sessions.get_mut(&choice.id);
        let session = session.ok_or_else(no_session)?;
        if !session.is_choosing(now) {
            return Err(ControlError::conflict(
                "This checkout has ended, or its asset is chosen.",
            ));
        }
        let amount = amount(session, choice.amount.as_deref())?;
        let request = &session.request;
        let mut listed = state.prices.listed().iter();
        let listed = listed.find(|listed| listed.coin.code.as_str() == choice.crypto_code);
        let listed =
            listed.ok_or_else(|| ControlError::bad_request("This asset is not offered."))?;
        let terms = listed.quote(&amount, request.per_usd, request.currency);
        let Some(terms) = terms.ok().filter(|terms| listed.accepts(terms)) else {
            return Err(ControlError::bad_request(
                "This amount is outside the limits of the asset.",
            ));
        };
        let new = NewInvoice {
            coin: listed.coin.clone(),
            terms,
            local_currency: request.currency,
            session: Some(session.clone()),
        };
        session.choose();
        let invoice = state.open_invoice(new, now);
        let chosen = Event::Chosen {
            invoice_id: invoice.id.clone(),
            crypto_code: invoice.coin.code.to_string(),
            amount: invoice.terms.crypto.to_string(),
        };
        state.journal.add(now, chosen);
        view(state, &choice.id, now).map(Json)
    })
}

fn amount(session: &Session, typed: Option<&str>) -> Result<AmountText, ControlError> {
    match (&session.request.amount, typed) {
        (Some(amount), None) => Ok(amount.clone()),
        (Some(_), Some(_)) => Err(ControlError::bad_request("The shop has set the amount.")),
        (None, typed) => {
            let text = typed.and_then(|typed| AmountText::parse(typed).ok());
            let decimals = session.request.currency.decimals();
            let is_valid = |text: &AmountText| {
                let amount = Amount::from(text);
                !amount.is_zero() && amount.decimals() <= decimals
            };
            text.filter(is_valid)
                .ok_or_else(|| ControlError::bad_request("Write an amount, such as 20."))
        }
    }
}

/// Before the QR code, closing cancels; after it, the invoice stays open.
async fn close(Extract(sandbox): Shared, body: Bytes) -> JsonResult {
    let Choice { id, .. } = parse(&body)?;
    sandbox.update(|state, now| {
        let session = state.sessions.get_mut(&id).ok_or_else(no_session)?;
        session.close(now);
        Ok(Json(json!({"status": session.status(now).as_str()})))
    })
}

/// What the developer sees of the checkout and of its invoice, and what the page needs beside it.
fn view(state: &State, id: &str, now: Timestamp) -> Result<Value, ControlError> {
    let session = state.sessions.get(id).ok_or_else(no_session)?;
    let mut shown = session_view(state, session, now);
    // Empty once one is chosen.
    let is_choosing = session.is_choosing(now);
    let assets = is_choosing.then(|| assets(state, session, session.request.amount.as_ref()));
    shown["assets"] = json!(assets.unwrap_or_default());
    if let Some(invoice) = state.invoices.get(id) {
        let mut deposit = invoices::view(invoice, now);
        deposit["qr_svg"] = json!(qr_svg(&invoice.qr_string));
        deposit["warnings"] = json!(invoice.coin.warnings());
        shown["deposit"] = deposit;
    }
    Ok(shown)
}

/// Every asset with its price. Without an amount there is no price yet.
fn assets(state: &State, session: &Session, amount: Option<&AmountText>) -> Vec<Value> {
    let request = &session.request;
    let listed = state.prices.listed().iter();
    let views = listed.map(|listed| {
        let coin = &listed.coin;
        let quote = |amount| listed.quote(amount, request.per_usd, request.currency).ok();
        let terms = amount.and_then(quote);
        json!({
            "crypto_code": coin.code,
            "asset": coin.symbol,
            "name": coin.name,
            "network": coin.network,
            "amount_in_crypto": terms.as_ref().map(|terms| &terms.crypto),
            "available": terms.is_some_and(|terms| listed.accepts(&terms)),
        })
    });
    views.collect()
}

/// Light modules around a QR code. Source: ISO/IEC 18004, "quiet zone".
const QUIET: i32 = 4;

/// The QR code of a text, black on white whatever the page's colours are; `None` when the text is too long for one.
fn qr_svg(text: &str) -> Option<String> {
    let code = QrCode::encode_text(text, QrCodeEcc::Medium).ok()?;
    let width = code.size();
    let mut path = String::new();
    for (y, x) in (0..width).flat_map(|y| (0..width).map(move |x| (y, x))) {
        if code.get_module(x, y) {
            write!(path, "M{} {}h1v1h-1z", x + QUIET, y + QUIET).expect("a String takes all");
        }
    }
    let size = width + 2 * QUIET;
    Some(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {size} {size}\" \
         shape-rendering=\"crispEdges\"><path fill=\"#fff\" d=\"M0 0h{size}v{size}H0z\"/>\
         <path d=\"{path}\"/></svg>"
    ))
}

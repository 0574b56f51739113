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

use core::cmp::Ordering;
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

use crate::database::StatusChange;
use crate::gateway::{Event, Gateway};
use crate::invoice::{Invoice, NewInvoice};
use crate::page::{JsonResult, PageError, parse, serve_files};
use crate::session::Session;

type Shared = Extract<Arc<Gateway>>;

/// Nothing inline, nothing from elsewhere; any shop may frame it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors *";

/// The routes of the hosted checkout.
pub fn routes() -> Router<Arc<Gateway>> {
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

fn no_session() -> PageError {
    PageError::not_found("There is no such checkout. Go back to the shop and start again.")
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
async fn show(Extract(gateway): Shared, Query(choice): Query<Choice>) -> JsonResult {
    let now = gateway.now();
    let session = gateway.database().session(&choice.id).await?;
    let session = session.ok_or_else(no_session)?;
    let mut shown = view(&gateway, &session, now).await?;
    if let Some(amount) = choice.amount
        && session.request.amount.is_none()
        && session.is_choosing(now)
    {
        let amount = AmountText::parse(&amount).ok();
        shown["assets"] = json!(assets(&gateway, &session, amount.as_ref(), now));
    }
    Ok(Json(shown))
}

/// Opens the invoice; it has the id of the session.
async fn choose(Extract(gateway): Shared, body: Bytes) -> JsonResult {
    let choice: Choice = parse(&body)?;
    // A customer who leaves does not leave a choice without its invoice.
    let chosen = tokio::spawn(open_chosen(gateway, choice));
    chosen.await.unwrap_or_else(|_| Err(no_session()))
}

async fn open_chosen(gateway: Arc<Gateway>, choice: Choice) -> JsonResult {
    let now = gateway.now();
    let session = gateway.database().session(&choice.id).await?;
    let session = session.ok_or_else(no_session)?;
    let amount = amount(&session, choice.amount.as_deref())?;
    let request = session.request.clone();
    let mut listed = gateway.listed(now).into_iter();
    let listed = listed.find(|listed| listed.coin.code.as_str() == choice.crypto_code);
    let listed = listed.ok_or_else(|| PageError::bad_request("This asset is not offered."))?;
    let terms = listed.quote(&amount, request.per_usd, request.currency);
    let Some(terms) = terms.ok().filter(|terms| listed.accepts(terms)) else {
        return Err(PageError::bad_request(
            "This amount is outside the limits of the asset.",
        ));
    };
    // The choice is recorded first: two presses open one invoice.
    let choose = |session: &mut Session| {
        let is_choosing = session.is_choosing(now);
        if is_choosing {
            session.choose();
        }
        is_choosing
    };
    let chosen = gateway.database().change_session(&choice.id, choose);
    if chosen.await? != Some(true) {
        return Err(PageError::conflict(
            "This checkout has ended, or its asset is chosen.",
        ));
    }
    let new = NewInvoice {
        coin: listed.coin,
        terms,
        local_currency: request.currency,
        session: Some((session.id.clone(), request)),
    };
    let invoice = match gateway.open_invoice(new, now).await {
        Ok(invoice) => invoice,
        Err(error) => {
            let undo = gateway
                .database()
                .change_session(&choice.id, Session::unchoose);
            undo.await?;
            return Err(error.into());
        }
    };
    gateway.parts.observer.observe(Event::Chosen(&invoice));
    let session = gateway.database().session(&choice.id).await?;
    let session = session.ok_or_else(no_session)?;
    view(&gateway, &session, now).await.map(Json)
}

fn amount(session: &Session, typed: Option<&str>) -> Result<AmountText, PageError> {
    match (&session.request.amount, typed) {
        (Some(amount), None) => Ok(amount.clone()),
        (Some(_), Some(_)) => Err(PageError::bad_request("The shop has set the amount.")),
        (None, typed) => {
            let text = typed.and_then(|typed| AmountText::parse(typed).ok());
            let decimals = session.request.currency.decimals();
            let is_valid = |text: &AmountText| {
                let amount = Amount::from(text);
                !amount.is_zero() && amount.decimals() <= decimals
            };
            text.filter(is_valid)
                .ok_or_else(|| PageError::bad_request("Write an amount, such as 20."))
        }
    }
}

/// Before the QR code, closing cancels; after it, the invoice stays open.
async fn close(Extract(gateway): Shared, body: Bytes) -> JsonResult {
    let Choice { id, .. } = parse(&body)?;
    let now = gateway.now();
    let close = |session: &mut Session| {
        let from = session.status(now);
        session.close(now);
        (from, session.status(now))
    };
    let closed = gateway.database().change_session(&id, close).await?;
    let (from, to) = closed.ok_or_else(no_session)?;
    if from != to {
        let invoice_id = id;
        gateway.observe(&[StatusChange {
            invoice_id,
            from,
            to,
        }]);
    }
    Ok(Json(json!({"status": to.as_str()})))
}

/// What the page needs of a checkout and of its invoice.
async fn view(gateway: &Gateway, session: &Session, now: Timestamp) -> Result<Value, PageError> {
    let invoice = gateway.database().invoice(&session.id).await?;
    let mut shown = session_view(session, invoice.as_ref(), now);
    // Empty once one is chosen.
    let is_choosing = session.is_choosing(now);
    let asked = session.request.amount.as_ref();
    let assets = is_choosing.then(|| assets(gateway, session, asked, now));
    shown["assets"] = json!(assets.unwrap_or_default());
    if let Some(invoice) = invoice {
        let minutes = gateway.options.invoice_lifetime.as_mins();
        let mut deposit = invoice_view(&invoice, now);
        deposit["qr_svg"] = json!(qr_svg(&invoice.qr_string));
        deposit["warnings"] = json!(
            invoice
                .coin
                .warnings(invoice.required_confirmations, minutes)
        );
        shown["deposit"] = deposit;
    }
    Ok(shown)
}

/// An invoice for a page.
pub fn invoice_view(invoice: &Invoice, now: Timestamp) -> Value {
    // Sums and differences carry the trailing zeros of their last operand.
    let shortest = |amount: Amount| amount.with_min_decimals(0).to_string();
    let received = invoice.received().crypto;
    let covered = match received.cmp(&Amount::from(&invoice.terms.crypto)) {
        _ if received.is_zero() => "nothing",
        Ordering::Less => "part",
        Ordering::Equal => "exact",
        Ordering::Greater => "more",
    };
    let latest = invoice.payments().last();
    let left = invoice.expires_at.duration_since(now);
    json!({
        "id": invoice.id,
        "crypto_code": invoice.coin.code,
        "asset": invoice.coin.symbol,
        "network": invoice.coin.network,
        "chain": invoice.coin.chain,
        "address": invoice.address,
        "qr_string": invoice.qr_string,
        "amount_in_crypto": invoice.terms.crypto.to_string(),
        "amount_in_usd": invoice.terms.usd.to_string(),
        "amount_in_local_currency": invoice.terms.local.to_string(),
        "local_currency_code": invoice.local_currency.to_string(),
        "status": invoice.status().as_str(),
        "confirmations": invoice.confirmations().unwrap_or(0),
        "required_confirmations": invoice.required_confirmations,
        "received_in_crypto": shortest(received),
        "remaining_in_crypto": shortest(invoice.remaining()),
        "covered": covered,
        "payments": invoice.payments().len(),
        "is_hosted": invoice.hosted.is_some(),
        "transaction_hash": latest.map(|payment| &payment.transaction_hash),
        "marked_as_paid": invoice.marked_as_paid,
        "email": invoice.email,
        "created_at": invoice.created_at.to_string(),
        "expires_at": invoice.expires_at.to_string(),
        "expires_in_seconds": left.as_secs().max(0),
    })
}

/// A hosted checkout for a page. It has the status, the amount and the expiry of its invoice, once there is one.
pub fn session_view(session: &Session, invoice: Option<&Invoice>, now: Timestamp) -> Value {
    let request = &session.request;
    let (status, amount, expires_at) = if let Some(invoice) = invoice {
        (
            invoice.status(),
            Some(&invoice.terms.local),
            invoice.expires_at,
        )
    } else {
        (
            session.status(now),
            request.amount.as_ref(),
            session.expires_at,
        )
    };
    json!({
        "id": session.id,
        "status": status.as_str(),
        "amount": amount,
        "currency": request.currency.to_string(),
        "email": request.email,
        "merchant_id": request.merchant_id,
        "merchant_website": request.website,
        "invoice_callback_url": request.callback_url,
        "url": format!("/checkout?id={}", session.id),
        "created_at": session.created_at.to_string(),
        "expires_in_seconds": expires_at.duration_since(now).as_secs().max(0),
    })
}

/// Every asset with its price. Without an amount there is no price yet.
fn assets(
    gateway: &Gateway,
    session: &Session,
    amount: Option<&AmountText>,
    now: Timestamp,
) -> Vec<Value> {
    let request = &session.request;
    let listed = gateway.listed(now).into_iter();
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

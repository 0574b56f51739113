//! What the hosted checkout's page shows.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State as Extract};
use florin_money::AmountText;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Refusal, qr};
use crate::invoice::{Invoice, REQUIRED_CONFIRMATIONS};
use crate::session::Session;
use crate::state::{Sandbox, State};
use crate::warnings::warnings;

#[derive(Debug, Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    id: String,
    /// What the customer writes while no amount is set.
    amount: Option<String>,
}

/// GET /checkout/session
pub(super) async fn show(
    Extract(sandbox): Extract<Arc<Sandbox>>,
    Query(asked): Query<Asked>,
) -> Result<Json<View>, Refusal> {
    let Asked { id, amount } = asked;
    let view = sandbox.act(|state, now| {
        let mut view = View::of(state, &id, now)?;
        if let (Some(amount), Some(session)) = (amount, state.sessions.find(&id))
            && session.amount.is_none()
            && session.is_choosing(now)
        {
            let amount = AmountText::parse(&amount).ok();
            view.assets = assets(state, session, amount.as_ref());
        }
        Some(view)
    });
    view.map(Json).ok_or_else(Refusal::no_session)
}

/// A hosted checkout as its customer sees it.
#[derive(Debug, Serialize)]
pub(super) struct View {
    id: String,
    status: &'static str,
    merchant_website: String,
    /// The host of it, to be read.
    merchant: String,
    currency: String,
    amount: Option<String>,
    expires_in_seconds: i64,
    /// What can be chosen; empty once something is.
    assets: Vec<AssetView>,
    deposit: Option<DepositView>,
}

/// An asset with what it costs. Without an amount it costs nothing yet.
#[derive(Debug, Serialize)]
struct AssetView {
    crypto_code: String,
    asset: &'static str,
    name: &'static str,
    network: &'static str,
    amount_in_crypto: Option<String>,
    available: bool,
}

/// Where to pay.
#[derive(Debug, Serialize)]
struct DepositView {
    asset: &'static str,
    network: &'static str,
    amount_in_crypto: String,
    remaining_in_crypto: String,
    address: String,
    qr_svg: Option<String>,
    payments: usize,
    confirmations: u32,
    required: u32,
    warnings: Vec<String>,
}

impl View {
    pub(super) fn of(state: &State, id: &str, now: Timestamp) -> Option<Self> {
        let session = state.sessions.find(id)?;
        let invoice = state.invoices.find(id);
        let (status, expires_at) = match invoice {
            Some(invoice) => (invoice.status(now), invoice.expires_at()),
            None => (session.status(now), session.expires_at),
        };
        let amount = session.amount.clone();
        let choosing = session.is_choosing(now);
        Some(Self {
            id: id.to_owned(),
            status: status.as_str(),
            merchant: host(&session.website),
            merchant_website: session.website.clone(),
            currency: session.currency.to_string(),
            assets: if choosing {
                assets(state, session, amount.as_ref())
            } else {
                Vec::new()
            },
            amount: match invoice {
                Some(invoice) => Some(invoice.terms.local.to_string()),
                None => amount.map(|amount| amount.to_string()),
            },
            expires_in_seconds: expires_at.duration_since(now).as_secs().max(0),
            deposit: invoice.map(|invoice| deposit(invoice, state.rules.invoice_minutes)),
        })
    }
}

fn assets(state: &State, session: &Session, amount: Option<&AmountText>) -> Vec<AssetView> {
    let quotes = amount.map(|amount| {
        state
            .prices
            .quotes(amount, session.per_usd, session.currency)
    });
    let quote_of = |code: &str| {
        let mut quotes = quotes.iter().flatten();
        quotes.find(|quote| quote.coin.code.as_str() == code)
    };
    let views = state.prices.coins().map(|coin| {
        let quote = quote_of(coin.code.as_str());
        AssetView {
            crypto_code: coin.code.to_string(),
            asset: coin.symbol,
            name: coin.name,
            network: coin.network,
            amount_in_crypto: quote.map(|quote| quote.terms.crypto.to_string()),
            available: quote.is_some_and(|quote| quote.fits),
        }
    });
    views.collect()
}

fn deposit(invoice: &Invoice, minutes: u32) -> DepositView {
    DepositView {
        asset: invoice.coin.symbol,
        network: invoice.coin.network,
        amount_in_crypto: invoice.terms.crypto.to_string(),
        remaining_in_crypto: invoice.remaining().with_min_decimals(0).to_string(),
        address: invoice.address.clone(),
        qr_svg: qr::svg(&invoice.qr_string),
        payments: invoice.payment_count(),
        confirmations: invoice.confirmations().unwrap_or(0),
        required: REQUIRED_CONFIRMATIONS,
        warnings: warnings(&invoice.coin, minutes),
    }
}

fn host(website: &str) -> String {
    let url = reqwest::Url::parse(website).ok();
    let host = url.and_then(|url| url.host_str().map(ToOwned::to_owned));
    host.unwrap_or_default()
}

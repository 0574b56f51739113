//! A receipt: what was paid, in a form that the store can tell from a forged one.
//!
//! It comes in two forms. The *token* carries all facts, and a store's server checks it alone, with a few lines or with
//! any library for JSON Web Tokens. The *code* is short enough to be printed and read aloud; it names the order, and
//! whoever can ask the proxy can check it.
//!
//! Both are made with a key of their own, derived from the store's webhook secret: no receipt can be sent on as a webhook,
//! and no webhook be shown as a receipt.

mod code;
mod token;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use checkout_api::Environment;
use hmac::{Hmac, KeyInit as _, Mac as _};
use ledger::{OrderId, OrderRecord, Snapshot};
use money::{Asset, CryptoCode};
use schemars::JsonSchema;
use serde::Serialize;
use sha2::Sha256;

use crate::config::{Config, Store};

/// What a receipt states.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub(crate) struct Receipt {
    /// The proxy that gave it: its `public_url`.
    pub iss: String,
    /// `test`, or `production` for real money.
    pub environment: Environment,
    /// The store's id.
    pub store: String,
    /// The store's name.
    pub store_name: String,
    /// `ord_…`.
    #[schemars(regex(pattern = "^ord_[0-9a-f]{32}$"))]
    pub order_id: String,
    /// The store's own name for the order.
    pub reference: String,
    /// What was sold.
    pub title: String,
    /// The price that was credited.
    #[schemars(with = "money::Amount")]
    pub amount: String,
    /// Its currency.
    #[schemars(with = "money::Currency")]
    pub currency: String,
    /// When it was credited: RFC 3339, UTC.
    #[schemars(extend("format" = "date-time"))]
    pub paid_at: String,
    /// What it was paid in; absent when the payment service does not say, on whose own page it was picked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crypto_code: Option<String>,
    /// The asset's symbol: `USDT`; absent for an asset that is not known here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asset: Option<&'static str>,
    /// The network: `Tron`; absent likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<&'static str>,
    /// What arrived, in the asset.
    #[schemars(with = "money::Amount")]
    pub received_in_crypto: String,
    /// Where it was paid to; absent when that was on the service's own page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The transaction, where the payment service named one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transaction_hash: Option<String>,
}

/// A receipt with what proves it.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub(crate) struct SignedReceipt {
    /// What it states.
    pub receipt: Receipt,
    /// The same, signed: a JSON Web Token, HS256. Absent for a store without a webhook, which has no key to check it with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Eight groups of five letters and digits, for print. Absent like `token`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// What receipts of one store are signed with.
pub(crate) struct ReceiptKey([u8; 32]);

impl ReceiptKey {
    /// Derives the key from a webhook secret: HMAC-SHA256 over the text `florin-receipt-v1`.
    pub(crate) fn derive(webhook_secret: &[u8]) -> Self {
        Self(mac(webhook_secret, b"florin-receipt-v1"))
    }
}

fn mac(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(message);
    mac.finalize().into_bytes().into()
}

/// The receipt of an order; `None` for one that is not credited, and while the service takes its payment back: who
/// reads a receipt believes that the shop was paid.
pub(crate) fn issue(config: &Config, store: &Store, paid: &Snapshot) -> Option<SignedReceipt> {
    let receipt = receipt(config, store, paid)?;
    let key = store
        .webhook
        .as_ref()
        .map(|webhook| webhook.secrets.receipt_key());
    let code = |key: &ReceiptKey| code::write(key, &paid.order.id, &receipt);
    Some(SignedReceipt {
        token: key.as_ref().map(|key| token::write(key, &receipt)),
        code: key.as_ref().map(code),
        receipt,
    })
}

fn receipt(config: &Config, store: &Store, paid: &Snapshot) -> Option<Receipt> {
    if paid.order.reverted.is_some() {
        return None;
    }
    let paid_at = paid.order.settled_at?;
    let order = OrderRecord::of(paid);
    let attempt = order.attempt?;
    let code = attempt.crypto_code.as_deref();
    let asset = code.and_then(|code| Asset::of(&CryptoCode::parse(code).ok()?));
    Some(Receipt {
        iss: config.public_url.base().to_owned(),
        environment: config.environment,
        store: store.id.to_string(),
        store_name: store.name.clone(),
        order_id: order.id,
        reference: order.reference,
        title: order.title,
        amount: order.amount,
        currency: order.currency,
        paid_at: paid_at.to_string(),
        asset: asset.map(Asset::symbol),
        network: asset.map(Asset::network),
        crypto_code: attempt.crypto_code,
        received_in_crypto: attempt.received_in_crypto,
        address: attempt.address,
        transaction_hash: attempt.transaction_hash,
    })
}

/// What somebody shows as a receipt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// A token, and the order that it names.
    Token {
        /// The token itself.
        text: String,
        /// The order, by the token's own word.
        order: OrderId,
    },
    /// A printed code, and the order that it names.
    Code {
        /// The proof in it.
        proof: [u8; code::PROOF_BYTES],
        /// The order.
        order: OrderId,
    },
}

impl Shown {
    /// Reads a token or a code; `None` for anything else. Nothing is proven yet.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Some((order, proof)) = code::read(text) {
            return Some(Self::Code { proof, order });
        }
        let order = token::order_of(text)?;
        Some(Self::Token {
            text: text.to_owned(),
            order,
        })
    }

    /// The order that it names.
    pub(crate) fn order(&self) -> &OrderId {
        match self {
            Self::Token { order, .. } | Self::Code { order, .. } => order,
        }
    }

    /// Whether this store gave it for this order, which is `paid`: by the secret in use, or by the one before it.
    pub(crate) fn is_genuine(&self, config: &Config, store: &Store, paid: &Snapshot) -> bool {
        let (Some(webhook), Some(receipt)) = (&store.webhook, receipt(config, store, paid)) else {
            return false;
        };
        let mut keys = webhook.secrets.receipt_keys();
        keys.any(|key| match self {
            Self::Token { text, .. } => token::is_signed(&key, text),
            Self::Code { proof, order } => code::is_proof(&key, order, &receipt, proof),
        })
    }
}

fn base64url(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

#[cfg(test)]
mod tests;

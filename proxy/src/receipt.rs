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
use checkout_api::{Receipt, SignedReceipt};
use hmac::{Hmac, KeyInit as _, Mac as _};
use ledger::{OrderId, OrderRecord, Snapshot};
use money::{Asset, CryptoCode};
use sha2::Sha256;

use crate::config::{Config, Store};

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
        asset: asset.map(|asset| asset.symbol().to_owned()),
        network: asset.map(|asset| asset.network().to_owned()),
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

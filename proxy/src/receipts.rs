//! A receipt: what was paid, in a form that the store can verify.
//!
//! It comes in two forms. The *token* carries all facts, and a store's server checks it alone, with a few lines or with
//! any library for JSON Web Tokens. The *code* is short enough to be printed and read aloud; it names the order, and
//! it is checked with the proxy.
//!
//! Both are signed with a separate key, derived from the store's webhook secret: no receipt can be sent on as a webhook,
//! and no webhook be shown as a receipt.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use florin_checkout_api::{Receipt, SignedReceipt};
use florin_money::{Asset, CryptoCode};
use florin_orders::{OrderId, OrderRecord, Snapshot};
use subtle::ConstantTimeEq as _;

use crate::auth::mac;
use crate::config::{Config, Store, Webhook};

pub(crate) struct ReceiptKey([u8; 32]);

impl ReceiptKey {
    /// Derives the key from a webhook secret: HMAC-SHA256 over the text `florin-receipt-v1`.
    pub(crate) fn derive(webhook_secret: &[u8]) -> Self {
        Self(mac(webhook_secret, b"florin-receipt-v1"))
    }
}

/// The keys that genuine receipts may be signed with, the one in use first.
fn receipt_keys(webhook: &Webhook) -> impl Iterator<Item = ReceiptKey> {
    webhook.secrets.expose().map(ReceiptKey::derive)
}

/// The receipt of an order; `None` for one that is not credited, and while the gateway takes its payment back: who
/// reads a receipt believes that the shop was paid.
pub(crate) fn issue(config: &Config, store: &Store, paid: &Snapshot) -> Option<SignedReceipt> {
    let receipt = receipt(config, store, paid)?;
    let key = store.webhooks.first();
    let key = key.and_then(|webhook| receipt_keys(webhook).next());
    let code = |key: &ReceiptKey| write_code(key, &paid.order.id, &receipt);
    Some(SignedReceipt {
        token: key.as_ref().map(|key| write_token(key, &receipt)),
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
        amount: order.amount.to_string(),
        currency: order.currency.to_string(),
        paid_at: paid_at.to_string(),
        asset: asset.map(|asset| asset.symbol().to_owned()),
        network: asset.map(|asset| asset.network().to_owned()),
        crypto_code: attempt.crypto_code,
        received_in_crypto: attempt.received_in_crypto.to_string(),
        address: attempt.address,
        transaction_hash: attempt.transaction_hash,
    })
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PresentedReceipt {
    Token {
        text: String,
        order: OrderId,
    },
    Code {
        proof: [u8; PROOF_BYTES],
        order: OrderId,
    },
}

impl PresentedReceipt {
    /// Reads a token or a code; `None` for anything else. Nothing is proven yet.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Some((order, proof)) = read_code(text) {
            return Some(Self::Code { proof, order });
        }
        let order = order_of_token(text)?;
        Some(Self::Token {
            text: text.to_owned(),
            order,
        })
    }

    pub(crate) fn order(&self) -> &OrderId {
        match self {
            Self::Token { order, .. } | Self::Code { order, .. } => order,
        }
    }

    /// Returns `true` if this store issued it for this order, which is `paid`: with the secret in use, or by the one before it.
    pub(crate) fn is_genuine(&self, config: &Config, store: &Store, paid: &Snapshot) -> bool {
        let Some(receipt) = receipt(config, store, paid) else {
            return false;
        };
        let mut keys = store.webhooks.iter().flat_map(receipt_keys);
        keys.any(|key| match self {
            Self::Token { text, .. } => is_signed_token(&key, text),
            Self::Code { proof, order } => is_proof(&key, order, &receipt, proof),
        })
    }
}

fn base64url(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

// The receipt as a JSON Web Token, so that any library for them reads it. Source: RFC 7515, section 3.1 (compact
// serialization); RFC 7518, section 3.2 (HS256); RFC 8725, section 3.11 (`typ`).

/// Says what kind of token it is, so that none of another kind is taken for it.
const HEADER: &str = r#"{"alg":"HS256","typ":"florin-receipt+jwt"}"#;
const MAX_CHARS: usize = 4096;

pub(crate) fn write_token(key: &ReceiptKey, receipt: &Receipt) -> String {
    let facts = serde_json::to_string(receipt).expect("texts become JSON");
    let signed = format!(
        "{}.{}",
        base64url(HEADER.as_bytes()),
        base64url(facts.as_bytes())
    );
    let signature = base64url(&mac(&key.0, signed.as_bytes()));
    format!("{signed}.{signature}")
}

/// The order that a token names; `None` for what is no token. Nothing else of it is believed: a genuine one's facts are
/// those of the database.
pub(crate) fn order_of_token(token: &str) -> Option<OrderId> {
    if token.len() > MAX_CHARS {
        return None;
    }
    let (_, rest) = token.split_once('.')?;
    let (facts, _) = rest.split_once('.')?;
    let facts = URL_SAFE_NO_PAD.decode(facts).ok()?;
    let facts: serde_json::Value = serde_json::from_slice(&facts).ok()?;
    OrderId::parse(facts["order_id"].as_str()?).ok()
}

pub(crate) fn is_signed_token(key: &ReceiptKey, token: &str) -> bool {
    let Some((signed, signature)) = token.rsplit_once('.') else {
        return false;
    };
    let right = base64url(&mac(&key.0, signed.as_bytes()));
    let is_receipt = signed.split('.').next() == Some(&base64url(HEADER.as_bytes()));
    is_receipt && bool::from(right.as_bytes().ct_eq(signature.as_bytes()))
}

// The receipt as eight groups of five letters and digits: the order's 128 bits and 72 bits of proof. Letters are those of
// Crockford's base 32, which has no I, L, O and U: what is read for one of them is understood.

const LETTERS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const ORDER_BYTES: usize = 16;
/// Bytes of the proof in a code: a guess is right once in 2⁷², and each takes a request.
pub(crate) const PROOF_BYTES: usize = 9;
/// Forty bits are five bytes, and eight letters of five bits.
const GROUP_BYTES: usize = 5;
const GROUP_LETTERS: usize = 8;
const CHARS: usize = (ORDER_BYTES + PROOF_BYTES) / GROUP_BYTES * GROUP_LETTERS;
const SHOWN_LETTERS: usize = 5;

pub(crate) fn write_code(key: &ReceiptKey, order: &OrderId, receipt: &Receipt) -> String {
    let mut bytes = order.bits().to_vec();
    bytes.extend(proof(key, order, receipt));
    let letters = bytes.chunks(GROUP_BYTES).flat_map(|group| {
        let bits = group
            .iter()
            .fold(0, |bits, byte| bits << 8 | u64::from(*byte));
        (0..GROUP_LETTERS).rev().map(move |n| {
            let [.., value] = (bits >> (5 * n)).to_be_bytes();
            LETTERS[usize::from(value & 31)]
        })
    });
    let letters: Vec<u8> = letters.collect();
    let shown = letters.chunks(SHOWN_LETTERS).map(String::from_utf8_lossy);
    shown.collect::<Vec<_>>().join("-")
}

/// Reads a code as people write it: with or without hyphens and blanks, in any case.
pub(crate) fn read_code(text: &str) -> Option<(OrderId, [u8; PROOF_BYTES])> {
    let is_gap = |c: &char| *c == '-' || c.is_whitespace();
    let letters = text.chars().filter(|c| !is_gap(c)).take(CHARS + 1);
    let values = letters.map(value).collect::<Option<Vec<u64>>>()?;
    if values.len() != CHARS {
        return None;
    }
    let bytes = values.chunks(GROUP_LETTERS).flat_map(|group| {
        let bits = group.iter().fold(0, |bits, value| bits << 5 | value);
        bits.to_be_bytes().into_iter().skip(8 - GROUP_BYTES)
    });
    let bytes: Vec<u8> = bytes.collect();
    let (order, proof) = bytes.split_first_chunk::<ORDER_BYTES>()?;
    Some((OrderId::from_random(*order), proof.try_into().ok()?))
}

pub(crate) fn is_proof(
    key: &ReceiptKey,
    order: &OrderId,
    receipt: &Receipt,
    shown: &[u8; PROOF_BYTES],
) -> bool {
    proof(key, order, receipt).ct_eq(shown).into()
}

/// The proof is over what never changes about a paid order.
fn proof(key: &ReceiptKey, order: &OrderId, receipt: &Receipt) -> [u8; PROOF_BYTES] {
    let Receipt {
        reference,
        amount,
        currency,
        paid_at,
        ..
    } = receipt;
    let message = format!("code\n{order}\n{reference}\n{amount}\n{currency}\n{paid_at}");
    let whole = mac(&key.0, message.as_bytes());
    *whole.first_chunk().expect("the proof is shorter")
}

fn value(letter: char) -> Option<u64> {
    let letter = match letter.to_ascii_uppercase() {
        'O' => '0',
        'I' | 'L' => '1',
        other => other,
    };
    let place = LETTERS
        .iter()
        .position(|known| char::from(*known) == letter)?;
    u64::try_from(place).ok()
}

#[cfg(test)]
mod tests {
    use florin_checkout_api::Environment;
    use florin_orders::OrderId;

    use super::*;

    fn receipt() -> Receipt {
        Receipt {
            iss: "https://pay.shop.example".into(),
            environment: Environment::Test,
            store: "demo".into(),
            store_name: "Demo shop".into(),
            order_id: order().to_string(),
            reference: "cart-1234".into(),
            title: "Two mugs".into(),
            amount: "42.00".into(),
            currency: "USD".into(),
            paid_at: "2026-11-21T12:00:00Z".into(),
            crypto_code: Some("BTC".into()),
            asset: Some("BTC".into()),
            network: Some("Bitcoin".into()),
            received_in_crypto: "0.00042".into(),
            address: Some("bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu".into()),
            transaction_hash: None,
        }
    }

    fn order() -> OrderId {
        OrderId::from_random([0x5a; 16])
    }

    /// The key of the secret in the configuration's documentation, `MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw` in base64.
    fn key() -> ReceiptKey {
        let secret =
            base64::engine::general_purpose::STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        ReceiptKey::derive(&secret.unwrap())
    }

    // Both responses were computed with Python's `hmac`, `hashlib` and `base64` from the documentation's description.
    const SIGNATURE: &str = "Mi4hYKE3kKjsVVFTlAbTpOw_XW2CvquLjzq0iZx1du4";
    const CODE: &str = "B9D5M-PJTB9-D5MPJ-TB9D5-MPJTB-9QF91-JMDMG-4DG15";

    #[test]
    fn a_token_is_signed_as_the_documentation_says() {
        let token = write_token(&key(), &receipt());
        assert_eq!(token.rsplit_once('.').unwrap().1, SIGNATURE, "{token}");
        assert!(is_signed_token(&key(), &token));
        assert_eq!(order_of_token(&token), Some(order()));
    }

    #[test]
    fn a_code_is_what_the_documentation_says() {
        assert_eq!(write_code(&key(), &order(), &receipt()), CODE);
    }

    #[test]
    fn no_letter_of_a_token_can_be_changed() {
        let genuine = write_token(&key(), &receipt());
        for at in 0..genuine.len() {
            let mut forged = genuine.clone().into_bytes();
            forged[at] = if forged[at] == b'A' { b'B' } else { b'A' };
            let forged = String::from_utf8(forged).unwrap();
            assert!(!is_signed_token(&key(), &forged), "{at}");
        }
        let other = ReceiptKey::derive(&[7; 24]);
        assert!(!is_signed_token(&other, &genuine));
        for broken in [
            "",
            ".",
            "..",
            &genuine[1..],
            genuine.trim_end_matches(|c| c != '.'),
        ] {
            assert!(!is_signed_token(&key(), broken), "{broken}");
        }
    }

    #[test]
    fn a_token_of_another_kind_is_no_receipt_even_with_the_right_key() {
        let facts = base64url(serde_json::to_string(&receipt()).unwrap().as_bytes());
        for header in [
            r#"{"alg":"HS256","typ":"JWT"}"#,
            r#"{"alg":"none"}"#,
            r#"{"typ":"florin-receipt+jwt","alg":"HS256"}"#,
        ] {
            let signed = format!("{}.{facts}", base64url(header.as_bytes()));
            let signature = base64url(&mac(&key().0, signed.as_bytes()));
            let token = format!("{signed}.{signature}");
            assert!(!is_signed_token(&key(), &token), "{header}");
        }
    }

    #[test]
    fn a_code_is_read_as_people_write_it() {
        let code = write_code(&key(), &order(), &receipt());
        let (named, proof) = read_code(&code).unwrap();
        assert_eq!(named, order());
        assert!(is_proof(&key(), &named, &receipt(), &proof));
        let spoken = code.to_lowercase().replace('-', " ").replace('0', "o");
        assert_eq!(read_code(&spoken), Some((named.clone(), proof)));
        let confused = code.replace('-', "").replace('1', "l");
        assert_eq!(read_code(&confused), Some((named.clone(), proof)));
        for broken in [&code[1..], &format!("{code}0"), "", &code.replace('-', "U")] {
            assert_eq!(read_code(broken), None, "{broken}");
        }
    }

    #[test]
    fn a_code_proves_its_own_order_at_its_own_price_alone() {
        let (_, proof) = read_code(&write_code(&key(), &order(), &receipt())).unwrap();
        let other = OrderId::from_random([1; 16]);
        assert!(!is_proof(&key(), &other, &receipt(), &proof));
        let changes: [fn(&mut Receipt); 4] = [
            |receipt| receipt.amount = "43.00".into(),
            |receipt| receipt.currency = "EUR".into(),
            |receipt| receipt.reference = "cart-1235".into(),
            |receipt| receipt.paid_at = "2026-11-21T12:00:01Z".into(),
        ];
        for change in changes {
            let mut forged = receipt();
            change(&mut forged);
            assert!(!is_proof(&key(), &order(), &forged, &proof));
        }
    }
}

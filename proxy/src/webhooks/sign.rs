//! Signing a delivery.
//!
//! Headers and signature are those of Standard Webhooks 1.0.0 ("Webhook headers", "Signature scheme"): HMAC-SHA256 over
//! `id.timestamp.body`, in base64, as `v1,…`; during key rotation, one such signature by each secret, new and old.
//!
//! The signature is computed here and not with `standardwebhooks`: that library verifies it in the tests, and two ends
//! built on one function agree on a wrong signature.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::Timestamp;
use sha2::Sha256;

/// The secrets that sign the deliveries to one store, each 24 to 64 bytes: the secret in use, and during key rotation the one
/// before it, so that the store may change over at any moment.
#[derive(Clone, Debug)]
pub struct WebhookSecrets(Vec<WebhookSecret>);

impl WebhookSecrets {
    /// Takes checked secrets, the one in use first.
    pub(crate) fn new(secrets: Vec<WebhookSecret>) -> Self {
        Self(secrets)
    }

    /// The header `webhook-signature` of a delivery. Source: Standard Webhooks 1.0.0, "Webhook headers": signatures are
    /// separated by spaces; one valid signature is enough.
    pub fn sign(&self, id: &str, sent_at: Timestamp, body: &str) -> String {
        let signatures = self.0.iter().map(|secret| secret.sign(id, sent_at, body));
        signatures.collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn expose(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().map(|secret| &*secret.0)
    }
}

/// One secret.
#[derive(Clone)]
pub struct WebhookSecret(Vec<u8>);

impl WebhookSecret {
    /// Takes checked bytes.
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    fn sign(&self, id: &str, sent_at: Timestamp, body: &str) -> String {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        let seconds = sent_at.as_second();
        mac.update(format!("{id}.{seconds}.{body}").as_bytes());
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookSecret([redacted])")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{Clock as _, SystemClock};

    /// Source: Standard Webhooks, the vector shared by its libraries' test suites.
    #[test]
    fn a_delivery_is_signed_as_the_standards_vector_says() {
        let secret = STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let sent_at = Timestamp::from_second(1_614_265_330).unwrap();
        let signature = WebhookSecret::new(secret).sign(
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            sent_at,
            r#"{"test": 2432232314}"#,
        );
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn the_standards_own_library_accepts_what_we_sign_and_either_secret_during_key_rotation() {
        let (new, old) = ([7_u8; 32], [8_u8; 32]);
        let secrets = [new, old].map(|secret| WebhookSecret::new(secret.to_vec()));
        let now = SystemClock.now();
        let signature = WebhookSecrets::new(secrets.to_vec()).sign("evt_1", now, "{}");
        let headers = headers(now, &signature);
        for (secret, accepts) in [(new, true), (old, true), ([9; 32], false)] {
            let verifier = standardwebhooks::Webhook::from_bytes(secret.to_vec()).unwrap();
            assert_eq!(verifier.verify(b"{}", &headers).is_ok(), accepts);
            assert!(verifier.verify(b"{ }", &headers).is_err());
        }
    }

    fn headers(now: Timestamp, signature: &str) -> axum::http::HeaderMap {
        let mut headers = axum::http::HeaderMap::new();
        let seconds = now.as_second().to_string();
        headers.insert("webhook-id", "evt_1".parse().unwrap());
        headers.insert("webhook-timestamp", seconds.parse().unwrap());
        headers.insert("webhook-signature", signature.parse().unwrap());
        headers
    }

    #[test]
    fn the_secret_is_never_printed() {
        let secret = WebhookSecret::new(b"canary-canary-canary-canary".to_vec());
        assert_eq!(format!("{secret:?}"), "WebhookSecret([redacted])");
    }
}

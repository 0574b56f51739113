//! Signing a delivery.
//!
//! Headers and signature are those of Standard Webhooks 1.0.0 ("Webhook headers", "Signature scheme"): HMAC-SHA256 over
//! `id.timestamp.body`, in base64, as `v1,…`; during key rotation, one such signature by each secret, new and old.
//!
//! The signature is computed here and not with `standardwebhooks`: that library verifies it in the tests, and two ends
//! built on one function agree on a wrong signature.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretSlice};

use crate::auth::mac;

/// The secrets that sign the deliveries to one store, each 24 to 64 bytes: the secret in use, and during key rotation the one
/// before it, so that the store may change over at any moment.
#[derive(Debug)]
pub struct WebhookSecrets(Vec<SecretSlice<u8>>);

impl WebhookSecrets {
    /// Takes checked secrets, the one in use first.
    pub(crate) fn new(secrets: impl IntoIterator<Item = Vec<u8>>) -> Self {
        Self(secrets.into_iter().map(SecretSlice::from).collect())
    }

    /// The header `webhook-signature` of a delivery. Source: Standard Webhooks 1.0.0, "Webhook headers": signatures are
    /// separated by spaces; one valid signature is enough.
    pub fn sign(&self, id: &str, sent_at: Timestamp, body: &str) -> String {
        let signed = format!("{id}.{}.{body}", sent_at.as_second());
        let sign = |secret| format!("v1,{}", STANDARD.encode(mac(secret, signed.as_bytes())));
        self.expose().map(sign).collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn expose(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().map(ExposeSecret::expose_secret)
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
        let signature = WebhookSecrets::new([secret]).sign(
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            sent_at,
            r#"{"test": 2432232314}"#,
        );
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn the_standards_own_library_accepts_what_we_sign_and_either_secret_during_key_rotation() {
        let (new, old) = ([7_u8; 32], [8_u8; 32]);
        let secrets = WebhookSecrets::new([new, old].map(Vec::from));
        let now = SystemClock.now();
        let signature = secrets.sign("evt_1", now, "{}");
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
}

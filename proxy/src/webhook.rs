//! Telling a store: one signed POST.
//!
//! Headers and signature are those of Standard Webhooks 1.0.0 ("Webhook headers", "Signature scheme"): HMAC-SHA256 over
//! `id.timestamp.body`, in base64, as `v1,…`. Redirects are failures, the answer's body is not read, and the address a
//! name resolves to is checked before anything is sent.

mod resolver;
mod sender;

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::Timestamp;
use sha2::Sha256;

pub use resolver::is_public;
pub use sender::{Sent, WebhookSender, Webhooks};

/// What deliveries to one store are signed with: 24 to 64 bytes.
#[derive(Clone)]
pub struct WebhookSecret(Vec<u8>);

impl WebhookSecret {
    /// Takes checked bytes.
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// The header `webhook-signature` of a delivery.
    pub fn sign(&self, id: &str, sent_at: Timestamp, body: &str) -> String {
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
    fn the_standards_own_library_accepts_what_we_sign() {
        let secret = [7_u8; 32];
        let now = SystemClock.now();
        let signature = WebhookSecret::new(secret.to_vec()).sign("evt_1", now, "{}");
        let verifier = standardwebhooks::Webhook::from_bytes(secret.to_vec()).unwrap();
        let mut headers = axum::http::HeaderMap::new();
        headers.insert("webhook-id", "evt_1".parse().unwrap());
        headers.insert(
            "webhook-timestamp",
            now.as_second().to_string().parse().unwrap(),
        );
        headers.insert("webhook-signature", signature.parse().unwrap());
        verifier.verify(b"{}", &headers).unwrap();
        assert!(verifier.verify(b"{ }", &headers).is_err());
    }

    #[test]
    fn the_secret_is_never_printed() {
        let printed = format!(
            "{:?}",
            WebhookSecret::new(b"canary-canary-canary-canary".to_vec())
        );
        assert_eq!(printed, "WebhookSecret([redacted])");
    }
}

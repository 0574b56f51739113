//! The signature of a delivery, computed without the proxy's code: a shared error would go unnoticed.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// Signs a delivery: `v1,` and base64 of HMAC-SHA256 over `id.timestamp.body`.
///
/// Source: Standard Webhooks 1.0.0, "Signature scheme".
pub fn sign(secret: &[u8], id: &str, timestamp: &str, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("HMAC takes keys of any length");
    for part in [id, ".", timestamp, ".", body] {
        mac.update(part.as_bytes());
    }
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

/// Reads a secret as it is written: `whsec_` and base64. Returns `None` for anything else.
pub fn secret(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text.strip_prefix("whsec_")?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: Standard Webhooks, the vector shared by its libraries' test suites.
    #[test]
    fn the_vector_of_the_standard_is_signed_as_published() {
        let secret = secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signature = sign(
            &secret,
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            "1614265330",
            r#"{"test": 2432232314}"#,
        );
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }
}

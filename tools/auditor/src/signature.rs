//! The signature of a delivery, verified by separate code: the code that signs must not verify.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// Source: Standard Webhooks 1.0.0, "Signature scheme": `v1,` and base64 of HMAC-SHA256 over `id.timestamp.body`.
pub(crate) fn of(secret: &[u8], id: &str, timestamp: &str, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("HMAC takes keys of any length");
    for part in [id, ".", timestamp, ".", body] {
        mac.update(part.as_bytes());
    }
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

/// The bytes of a secret as it is written: `whsec_` and base64.
pub(crate) fn secret(text: &str) -> anyhow::Result<Vec<u8>> {
    let text = text.strip_prefix("whsec_").unwrap_or(text);
    Ok(STANDARD.decode(text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: Standard Webhooks, the vector shared by its libraries' test suites.
    #[test]
    fn the_standards_vector_is_signed_as_it_says() {
        let secret = secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signature = of(
            &secret,
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            "1614265330",
            r#"{"test": 2432232314}"#,
        );
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }
}

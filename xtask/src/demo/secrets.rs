//! Secrets of one demo: drawn when it starts, gone with its folder.

use std::fs::File;
use std::io::Read as _;

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// What the three programs share. Nothing of it is ever printed.
pub(crate) struct Secrets {
    /// The service's key for the proxy.
    pub(super) api_key: String,
    /// Signs the proxy's calls to the service.
    pub(super) api_secret: String,
    /// Part of the address of callbacks.
    pub(crate) callback_token: String,
    /// The shop's key for the merchant API.
    pub(crate) secret_key: String,
    /// The shop's key for order tokens, `k1`.
    pub(super) token_key: String,
    /// `whsec_` and base64 of 24 bytes.
    pub(super) webhook_secret: String,
}

impl Secrets {
    /// # Errors
    /// The system has no randomness to give.
    pub(crate) fn draw() -> anyhow::Result<Self> {
        Ok(Self {
            api_key: drawn()?,
            api_secret: drawn()?,
            callback_token: drawn()?,
            secret_key: format!("sk_{}", drawn()?),
            token_key: drawn()?,
            webhook_secret: format!("whsec_{}", STANDARD.encode(random::<24>()?)),
        })
    }
}

/// 64 hexadecimal digits.
fn drawn() -> anyhow::Result<String> {
    Ok(hex::encode(random::<32>()?))
}

/// A short name that nobody else has.
pub(super) fn random_name() -> anyhow::Result<String> {
    Ok(hex::encode(random::<6>()?))
}

fn random<const N: usize>() -> anyhow::Result<[u8; N]> {
    let mut bytes = [0; N];
    let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    read.context("the system's /dev/urandom cannot be read")?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_secrets_are_alike() {
        let secrets = Secrets::draw().unwrap();
        assert_ne!(secrets.api_key, secrets.api_secret);
        assert_eq!(secrets.callback_token.len(), 64);
        assert_eq!(secrets.webhook_secret.len(), "whsec_".len() + 32);
    }
}

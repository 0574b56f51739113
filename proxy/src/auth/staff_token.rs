//! Tokens of the links and sessions of a store's staff, and the store's key to which they belong.

use std::fmt;

use florin_orders::TokenHash;
use secrecy::ExposeSecret as _;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::auth::operator_session::{has_token_form, random_token};
use crate::clock::RandomBytes;
use crate::config::SecretPair;

/// 256 random bits of a link or of a session. Only the hash is stored.
#[derive(Clone)]
pub(crate) struct StaffToken(String);

impl StaffToken {
    pub(crate) fn draw(random: &dyn RandomBytes) -> Self {
        Self(random_token(random))
    }

    /// Reads a token that a browser sent; `None` for anything that cannot be one.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        has_token_form(text).then(|| Self(text.to_owned()))
    }

    pub(crate) fn hash(&self) -> TokenHash {
        TokenHash(digest("florin-staff-token-v1", &self.0))
    }

    /// What each form of the session must send back. The database has nothing from which it could be computed.
    pub(crate) fn form_token(&self) -> String {
        hex::encode(digest("florin-staff-form-v1", &self.0))
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for StaffToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StaffToken([redacted])")
    }
}

/// What is stored of the store's secret key with which a link was made.
pub(crate) fn key_digest(secret_key: &str) -> [u8; 32] {
    digest("florin-staff-key-v1", secret_key)
}

/// Returns `true` while the store has the key of a link or a session: after a rotation it has not.
pub(crate) fn has_key(keys: Option<&SecretPair>, expected: &[u8; 32]) -> bool {
    let mut keys = keys.into_iter().flat_map(SecretPair::all);
    keys.any(|key| key_digest(key.expose_secret()).ct_eq(expected).into())
}

/// Each use has its name, so that no digest is that of another use.
fn digest(usage: &str, text: &str) -> [u8; 32] {
    let mut digest = Sha256::new();
    digest.update(usage.as_bytes());
    digest.update([0]);
    digest.update(text.as_bytes());
    digest.finalize().into()
}

#[cfg(test)]
mod tests {
    use secrecy::SecretString;

    use super::*;
    use crate::clock::SystemRandom;

    #[test]
    fn a_token_is_read_as_it_was_drawn_and_hides_itself() {
        let token = StaffToken::draw(&SystemRandom);
        let read = StaffToken::parse(token.expose()).unwrap();
        assert_eq!(read.hash(), token.hash());
        assert_eq!(format!("{token:?}"), "StaffToken([redacted])");
        assert_ne!(token.form_token(), hex::encode(token.hash().0));
        assert!(StaffToken::parse("abc").is_none());
    }

    #[test]
    fn a_key_that_was_replaced_is_no_key_of_the_store() {
        let keys = SecretPair::from(SecretString::from("the new key"));
        assert!(has_key(Some(&keys), &key_digest("the new key")));
        assert!(!has_key(Some(&keys), &key_digest("the old key")));
        assert!(!has_key(None, &key_digest("the new key")));
    }
}

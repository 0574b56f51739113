//! Tokens of clients, and of the links and sessions of a store's staff.

use std::fmt;

use florin_orders::TokenHash;
use secrecy::ExposeSecret as _;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::clock::RandomBytes;
use crate::config::SecretPair;

/// 256 random bits as hexadecimal digits.
pub(crate) fn random_token(random: &dyn RandomBytes) -> String {
    let mut bits = [0; 32];
    random.fill(&mut bits);
    hex::encode(bits)
}

/// A random token, of which only a hash is stored: a client's can see and pay one order, one of the staff opens a link or names
/// a session.
#[derive(Clone)]
pub(crate) struct Token(String);

impl Token {
    pub(crate) fn draw(random: &dyn RandomBytes) -> Self {
        Self(random_token(random))
    }

    /// Reads a token that a browser sent; `None` for anything but 64 lower-case hexadecimal digits.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let is_hex = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
        let has_form = text.len() == 64 && text.bytes().all(is_hex);
        has_form.then(|| Self(text.to_owned()))
    }

    pub(crate) fn client_hash(&self) -> TokenHash {
        TokenHash(Sha256::digest(self.0.as_bytes()).into())
    }

    pub(crate) fn staff_hash(&self) -> TokenHash {
        TokenHash(digest("florin-staff-token-v1", &self.0))
    }

    /// What each form of a staff's session must send back. The database has nothing from which it could be computed.
    pub(crate) fn form_token(&self) -> String {
        hex::encode(digest("florin-staff-form-v1", &self.0))
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token([redacted])")
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
    let parts = [usage.as_bytes(), &[0], text.as_bytes()];
    Sha256::digest(parts.concat()).into()
}

#[cfg(test)]
mod tests {
    use secrecy::SecretString;

    use super::*;
    use crate::clock::SystemRandom;

    #[test]
    fn a_token_is_read_as_it_was_drawn_and_hides_itself() {
        let token = Token::draw(&SystemRandom);
        let read = Token::parse(token.expose()).unwrap();
        assert_eq!(read.client_hash(), token.client_hash());
        assert_eq!(read.staff_hash(), token.staff_hash());
        assert_ne!(token.client_hash(), token.staff_hash());
        assert_eq!(format!("{token:?}"), "Token([redacted])");
        assert_ne!(token.form_token(), hex::encode(token.staff_hash().0));
        for text in ["", "abc", &"g".repeat(64), &"A".repeat(64), &"a".repeat(65)] {
            assert!(Token::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_key_that_was_replaced_is_no_key_of_the_store() {
        let keys = SecretPair::from(SecretString::from("the new key"));
        assert!(has_key(Some(&keys), &key_digest("the new key")));
        assert!(!has_key(Some(&keys), &key_digest("the old key")));
        assert!(!has_key(None, &key_digest("the new key")));
    }
}

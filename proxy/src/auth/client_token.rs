//! Client tokens: their shape and how they are stored.

use std::fmt;

use florin_orders::TokenHash;
use sha2::{Digest as _, Sha256};

use crate::auth::operator_session::{has_token_form, random_token};
use crate::clock::RandomBytes;

/// 256 random bits that can see and pay one order. Only the hash is stored.
#[derive(Clone)]
pub(crate) struct ClientToken(String);

impl ClientToken {
    pub(crate) fn draw(random: &dyn RandomBytes) -> Self {
        Self(random_token(random))
    }

    /// Reads a token that a browser sent; `None` for anything that cannot be one.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        has_token_form(text).then(|| Self(text.to_owned()))
    }

    pub(crate) fn hash(&self) -> TokenHash {
        TokenHash(Sha256::digest(self.0.as_bytes()).into())
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ClientToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientToken([redacted])")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemRandom;

    #[test]
    fn a_token_is_read_as_it_was_drawn_and_hides_itself() {
        let token = ClientToken::draw(&SystemRandom);
        let read = ClientToken::parse(token.expose()).unwrap();
        assert_eq!(read.hash(), token.hash());
        assert_eq!(format!("{token:?}"), "ClientToken([redacted])");
        for text in ["", "abc", &"g".repeat(64), &"A".repeat(64), &"a".repeat(65)] {
            assert!(ClientToken::parse(text).is_none(), "{text}");
        }
    }
}

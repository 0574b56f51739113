//! Client tokens: their shape and how they are stored.

use std::fmt;

use florin_orders::TokenHash;
use sha2::{Digest as _, Sha256};

use crate::clock::RandomBytes;

/// 256 random bits that can see and pay one order. Only the hash is stored.
#[derive(Clone)]
pub(crate) struct ClientToken(String);

impl ClientToken {
    /// Draws a token.
    pub(crate) fn draw(random: &dyn RandomBytes) -> Self {
        let mut bits = [0; 32];
        random.fill(&mut bits);
        Self(hex::encode(bits))
    }

    /// Reads a token that a browser sent; `None` for anything that cannot be one.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let is_hex = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
        (text.len() == 64 && text.bytes().all(is_hex)).then(|| Self(text.to_owned()))
    }

    /// What is stored of it.
    pub(crate) fn hash(&self) -> TokenHash {
        TokenHash(Sha256::digest(self.0.as_bytes()).into())
    }

    /// The token itself, for the one response that hands it out.
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
    }

    #[test]
    fn what_cannot_be_a_token_is_none() {
        for text in ["", "abc", &"g".repeat(64), &"A".repeat(64), &"a".repeat(65)] {
            assert!(ClientToken::parse(text).is_none(), "{text}");
        }
    }
}

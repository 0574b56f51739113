//! The key itself.

use axum::http::HeaderMap;

use super::KEY;
use crate::http::error::ApiError;

const MAX_BYTES: usize = 255;
/// Of a caller without a name: whoever guesses a key and its request gets to the same order.
const MIN_ANONYMOUS_BYTES: usize = 16;

/// The value of `Idempotency-Key`: 1 to 255 visible ASCII characters, read as they are.
pub(super) struct Key(Vec<u8>);

impl Key {
    /// Reads the header.
    ///
    /// # Errors
    /// [`checkout_api::ErrorCode::InvalidRequest`], naming the header.
    pub(super) fn read(headers: &HeaderMap, is_anonymous: bool) -> Result<Self, ApiError> {
        let refused = |message| Err(ApiError::field("Idempotency-Key", message));
        let mut sent = headers.get_all(&KEY).iter();
        let (Some(key), None) = (sent.next(), sent.next()) else {
            return refused("Send one Idempotency-Key.");
        };
        let key = key.as_bytes();
        if !(1..=MAX_BYTES).contains(&key.len()) || !key.iter().all(u8::is_ascii_graphic) {
            return refused("An Idempotency-Key has 1 to 255 visible ASCII characters.");
        }
        if is_anonymous && key.len() < MIN_ANONYMOUS_BYTES {
            return refused(
                "Here an Idempotency-Key has 16 characters at least: draw one that nobody guesses.",
            );
        }
        Ok(Self(key.to_vec()))
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

//! Ids of requests: `req_` and 64 bits as hexadecimal digits. They differ, and do not show how many there are.
//!
//! They are hashes of a random key and a number, because drawing random bits takes a call of the system.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::atomic::{AtomicU64, Ordering};

const PREFIX: &[u8; 4] = b"req_";

#[derive(Debug)]
pub(crate) struct RequestIds {
    key: [u8; 16],
    next_number: AtomicU64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestId {
    text: [u8; 20],
    draw: u32,
}

impl RequestIds {
    pub(crate) fn new(key: [u8; 16]) -> Self {
        Self {
            key,
            next_number: AtomicU64::default(),
        }
    }

    pub(crate) fn next(&self) -> RequestId {
        let mut hasher = DefaultHasher::new();
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        (self.key, number).hash(&mut hasher);
        let bits = hasher.finish();
        let mut text = [0; 20];
        text[..4].copy_from_slice(PREFIX);
        let digits = &mut text[4..];
        hex::encode_to_slice(bits.to_be_bytes(), digits).expect("eight bytes have sixteen digits");
        let draw = u32::try_from(bits >> 32).expect("the upper half has 32 bits");
        RequestId { text, draw }
    }
}

impl RequestId {
    pub(crate) fn span(&self) -> tracing::Span {
        tracing::info_span!("request", request_id = self.as_str())
    }

    /// Random bits, for what is done for a share of the requests.
    pub(crate) fn draw(&self) -> u32 {
        self.draw
    }

    pub(crate) fn as_str(&self) -> &str {
        str::from_utf8(&self.text).expect("hexadecimal digits are ASCII")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_differ_and_say_nothing_of_their_order() {
        let (one, other) = (RequestIds::new([1; 16]), RequestIds::new([2; 16]));
        let ids: Vec<String> = (0..1000)
            .flat_map(|_| [one.next(), other.next()])
            .map(|id| id.as_str().to_owned())
            .collect();
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), 2000);
        assert!(!ids.is_sorted());
        let has_shape = |id: &String| id.len() == 20 && id.starts_with("req_");
        assert!(ids.iter().all(has_shape));
    }
}

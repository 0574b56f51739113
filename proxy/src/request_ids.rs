//! Ids of requests: `req_` and 64 bits as hexadecimal digits. They differ, and do not show how many there are.
//!
//! Random bits of the system for each request would cost more than all else that is done with an id.

use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};

const PREFIX: &[u8; 4] = b"req_";

/// Bytes of an id.
const BYTES: usize = 8;
const DIGEST_BYTES: usize = 32;

/// Makes ids: the parts of the digests of a key and a number.
#[derive(Debug)]
pub(crate) struct RequestIds {
    key: [u8; 16],
    digest: Mutex<Digest>,
}

/// A digest, from which ids are taken.
#[derive(Debug)]
struct Digest {
    bytes: [u8; DIGEST_BYTES],
    used: usize,
    next_number: u64,
}

/// The id of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestId {
    text: [u8; 20],
    draw: u32,
}

impl RequestIds {
    /// Ids by a random key.
    pub(crate) fn new(key: [u8; 16]) -> Self {
        let digest = Mutex::new(Digest {
            bytes: [0; DIGEST_BYTES],
            used: DIGEST_BYTES,
            next_number: 0,
        });
        Self { key, digest }
    }

    /// Another id.
    pub(crate) fn next(&self) -> RequestId {
        let mut bytes = [0; BYTES];
        {
            let mut digest = self.digest.lock();
            if digest.used == DIGEST_BYTES {
                let hasher = Sha256::new().chain_update(self.key);
                let hasher = hasher.chain_update(digest.next_number.to_be_bytes());
                digest.bytes = hasher.finalize().into();
                digest.used = 0;
                digest.next_number += 1;
            }
            let from = digest.used;
            digest.used += BYTES;
            bytes.copy_from_slice(&digest.bytes[from..from + BYTES]);
        }
        let mut id = [0; 20];
        id[..4].copy_from_slice(PREFIX);
        hex::encode_to_slice(bytes, &mut id[4..]).expect("eight bytes have sixteen digits");
        let draw = u32::from_be_bytes(bytes[..4].try_into().expect("four of eight bytes"));
        RequestId { text: id, draw }
    }
}

impl RequestId {
    /// The span of the request's log lines.
    pub(crate) fn span(&self) -> tracing::Span {
        tracing::info_span!("request", request_id = self.as_str())
    }

    /// Random bits, for what is done for a share of the requests.
    pub(crate) fn draw(&self) -> u32 {
        self.draw
    }

    /// The text.
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

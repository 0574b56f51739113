//! Ids of requests: `req_` and 64 bits as hexadecimal digits. They differ, and do not show how many there are.
//!
//! Random bits of the system for each request would cost more than all else that is done with an id.

use std::sync::atomic::{AtomicU64, Ordering};

use sha2::{Digest as _, Sha256};

const PREFIX: &[u8; 4] = b"req_";

/// Makes ids.
#[derive(Debug)]
pub(crate) struct RequestIds {
    key: [u8; 16],
    next: AtomicU64,
}

/// The id of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestId([u8; 20]);

impl RequestIds {
    /// Ids by a random key.
    pub(crate) fn new(key: [u8; 16]) -> Self {
        let next = AtomicU64::new(0);
        Self { key, next }
    }

    /// Another id.
    pub(crate) fn next(&self) -> RequestId {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let digest = Sha256::new()
            .chain_update(self.key)
            .chain_update(number.to_be_bytes())
            .finalize();
        let mut id = [0; 20];
        id[..4].copy_from_slice(PREFIX);
        hex::encode_to_slice(&digest[..8], &mut id[4..]).expect("eight bytes have sixteen digits");
        RequestId(id)
    }
}

impl RequestId {
    /// The span of the request's log lines.
    pub(crate) fn span(&self) -> tracing::Span {
        tracing::info_span!("request", request_id = self.as_str())
    }

    /// The text.
    pub(crate) fn as_str(&self) -> &str {
        str::from_utf8(&self.0).expect("hexadecimal digits are ASCII")
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

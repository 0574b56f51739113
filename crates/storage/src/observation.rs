//! The record of an observation, the same in both databases.

use florin_orders::{Assessment, EventType, Observation};
use sha2::{Digest as _, Sha256};

/// The most of a response, and of its assessment, that is stored.
const MAX_BYTES: usize = 4096;

/// The assessment as it is stored beside its observation.
pub(crate) fn text_of(assessment: &Assessment) -> String {
    match assessment {
        Assessment::NeedsReview(reason) => format!("needs_review: {reason}"),
        Assessment::AddressChanged { address } => {
            format!("address_changed: the gateway names the address {address}")
        }
        decided => {
            let payment_state = decided
                .payment_state()
                .expect("only an assessment that needs review has no payment state");
            <&str>::from(payment_state).to_owned()
        }
    }
}

/// A digest of the members that are assessed. Two responses with the same digest are one observation.
pub(crate) fn digest(observation: &Observation) -> [u8; 16] {
    let Observation {
        observed_at: _,
        raw: _,
        is_known,
        invoice_id,
        status,
        requested,
        received,
        local_currency,
        crypto_code,
        address,
        // The attempt has the latest count. Each block is no news by itself.
        confirmations: _,
        transaction_hash,
    } = observation;
    let mut digest = Sha256::new_with_prefix([u8::from(*is_known)]);
    for member in [
        invoice_id,
        status,
        &requested.crypto,
        &requested.usd,
        &requested.local,
        &received.crypto,
        &received.usd,
        &received.local,
        local_currency,
        crypto_code,
        address,
        transaction_hash,
    ] {
        // Length first, so that no two lists of members have the same bytes.
        let length = member.as_ref().map_or(u64::MAX, |text| text.len() as u64);
        digest.update(length.to_be_bytes());
        digest.update(member.as_deref().unwrap_or_default());
    }
    let digest: [u8; 32] = digest.finalize().into();
    *digest.first_chunk().expect("a digest has 32 bytes")
}

/// The beginning of a text: an honest response is a tenth of this.
pub(crate) fn truncated(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_BYTES)]
}

/// The outcome of marking a poll as recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fence {
    /// It is the latest.
    Passed,
    /// An earlier run of this transaction, whose commit had no response, has recorded it and emitted these events.
    Recorded(Vec<EventType>),
    /// It, or a later one, was recorded before.
    Refused,
}

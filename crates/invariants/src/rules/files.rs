//! The database file is sound, and no client token is stored in the clear.

use std::collections::BTreeSet;

use sha2::{Digest as _, Sha256};

use crate::evidence::Evidence;
use crate::rules::Finding;

const TOKEN_DIGITS: usize = 64;

pub(super) fn file_is_sound(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new("file-is-sound", "integrity checks of the database");
    if let Some(damage) = &evidence.database.damage {
        finding.checked = 2;
        finding.offences.clone_from(damage);
    }
    finding
}

/// A stored token would open its order. No list of tokens is needed to find one: a text of the right shape whose
/// hash is in the database is one.
pub(super) fn no_token_in_clear(evidence: &Evidence) -> Finding {
    let claim = "texts of a token's shape in files and deliveries: none is a token";
    let mut finding = Finding::new("no-token-in-clear", claim);
    let hashes = evidence.database.token_hashes.iter();
    let hashes: BTreeSet<&[u8]> = hashes.map(Vec::as_slice).collect();
    let mut seen = BTreeSet::new();
    let mut search = |bytes: &[u8], name: &str| {
        for text in candidates(bytes) {
            if seen.insert(text.to_vec()) {
                let is_token = hashes.contains(Sha256::digest(text).as_slice());
                finding.must(!is_token, name);
            }
        }
    };
    for file in &evidence.files {
        search(&file.bytes, &file.name);
    }
    for delivery in &evidence.shop.deliveries {
        search(
            delivery.body.as_bytes(),
            &format!("the delivery of {}", delivery.id),
        );
    }
    finding
}

/// Every run of 64 small hexadecimal digits.
fn candidates(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let runs = bytes.split(|byte| !matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    runs.flat_map(|run| run.windows(TOKEN_DIGITS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_found_in_any_text() {
        let token = [b'7'; TOKEN_DIGITS];
        let text = [b"x{\"token\":\"".as_slice(), &token, b"\"}"].concat();
        assert_eq!(candidates(&text).collect::<Vec<_>>(), [token]);
        let in_a_longer_run = [b"0".as_slice(), &token].concat();
        assert!(candidates(&in_a_longer_run).any(|found| found == token));
        assert_eq!(candidates(&token[1..]).count(), 0);
    }
}

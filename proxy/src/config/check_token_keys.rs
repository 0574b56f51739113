//! The checks of a store's token keys.

use std::collections::BTreeSet;

use secrecy::ExposeSecret;

use super::check::{Findings, MIN_GUESSABLE_CHARS};
use super::secret::secret;
use super::source::TokenKeyTable;
use super::{KeyId, Store, TokenKey};

/// Two live at a time: one that signs, and one that is on its way in or out.
const MAX_KEYS: usize = 2;

/// Checks the keys of one store.
pub(super) fn token_keys(
    findings: &mut Findings,
    store: &str,
    tables: Vec<TokenKeyTable>,
) -> Vec<TokenKey> {
    let key = format!("store.{store}.token_keys");
    if tables.len() > MAX_KEYS {
        let message = "holds more than two keys: one signs, one more lives while it is replaced";
        findings.add(&key, message);
    }
    let mut keys: Vec<TokenKey> = Vec::new();
    for table in tables {
        let kid = KeyId::parse(&table.kid);
        let kid = findings.take(
            &key,
            kid.ok_or_else(|| {
                let kid: String = table.kid.chars().take(40).collect();
                format!("{kid:?} is no kid: write 1 to 32 letters, digits, - and _")
            }),
        );
        let key = format!("{key}.{}", table.kid);
        let found = secret(table.secret, table.secret_file, MIN_GUESSABLE_CHARS);
        let found = findings.take(&key, found);
        let Some((kid, secret)) = kid.zip(found) else {
            continue;
        };
        if keys.iter().any(|earlier| earlier.kid == kid) {
            findings.add(&key, "there are two keys of this kid");
            continue;
        }
        keys.push(TokenKey { kid, secret });
    }
    keys
}

/// A key that signs for two stores, or that is a store's secret key as well, would open one door with the key of another.
pub(super) fn require_distinct_keys(findings: &mut Findings, stores: &[Store]) {
    let secret_keys = stores.iter().filter_map(|store| store.secret_key.as_ref());
    let mut context: BTreeSet<&str> = secret_keys.map(ExposeSecret::expose_secret).collect();
    for store in stores {
        for TokenKey { kid, secret } in &store.token_keys {
            if !context.insert(secret.expose_secret()) {
                let key = format!("store.{}.token_keys.{kid}", store.id);
                findings.add(&key, "is a key of something else too: draw one of its own");
            }
        }
    }
}

//! `[[store.token_keys]]`: what a store's server signs order tokens with.

use std::fmt;

use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Deserialize;

use crate::config::problems::Errors;
use crate::config::secrets::{MIN_GUESSABLE_CHARS, secret};

/// Two live at a time: one that signs, and one that is on its way in or out.
const MAX_KEYS: usize = 2;

/// A key of signed order tokens.
#[derive(Debug)]
pub struct TokenKey {
    /// Its name in a token's header.
    pub kid: KeyId,
    /// Its bytes: the text as it is written, 32 or more of them.
    pub secret: SecretString,
}

/// The name of a token key: 1 to 32 of `A–Z a–z 0–9 _ -`, unique within its store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyId(String);

impl KeyId {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        let fits = (1..=32).contains(&text.len()) && text.bytes().all(plain);
        fits.then(|| Self(text.to_owned()))
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What the store's server signs order tokens with: none, one, or two while one replaces the other.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TokenKeyTable {
    /// 1 to 32 letters, digits, `-` and `_`.
    #[schemars(extend("x-default" = "required"))]
    pub(crate) kid: String,
    /// 32 or more random characters. They sign order tokens (HS256) as they are written.
    #[schemars(extend("x-default" = "required"))]
    pub(crate) secret: Option<String>,
    pub(crate) secret_file: Option<String>,
}

pub(crate) fn token_keys(
    errors: &mut Errors,
    store: &str,
    tables: Vec<TokenKeyTable>,
) -> Vec<TokenKey> {
    let key = format!("store.{store}.token_keys");
    if tables.len() > MAX_KEYS {
        let message = "holds more than two keys: one signs, one more lives while it is replaced";
        errors.add(&key, message);
    }
    let mut keys: Vec<TokenKey> = Vec::new();
    for table in tables {
        let kid = KeyId::parse(&table.kid);
        let kid = errors.record(
            &key,
            kid.ok_or_else(|| {
                let kid: String = table.kid.chars().take(40).collect();
                format!("{kid:?} is no kid: write 1 to 32 letters, digits, - and _")
            }),
        );
        let key = format!("{key}.{}", table.kid);
        let found = secret(table.secret, table.secret_file, MIN_GUESSABLE_CHARS);
        let found = errors.record(&key, found);
        let Some((kid, secret)) = kid.zip(found) else {
            continue;
        };
        if keys.iter().any(|earlier| earlier.kid == kid) {
            errors.add(&key, "there are two keys of this kid");
            continue;
        }
        keys.push(TokenKey { kid, secret });
    }
    keys
}

//! Secrets of the configuration: given as value or as file, never both. `[[store.token_keys]]`: what a store's server signs
//! order tokens with.

use std::collections::BTreeSet;
use std::fmt;

use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Deserialize;

use crate::auth::is_secret;
use crate::config::Errors;

/// One in use, and the one before it.
const MAX_SECRETS: usize = 2;

/// A secret, and the one before it while the first replaces it. The first is used for sending; both
/// are accepted.
#[derive(Clone, Debug)]
pub(crate) struct SecretPair {
    newest: SecretString,
    before: Option<SecretString>,
}

impl SecretPair {
    pub(crate) fn newest(&self) -> &SecretString {
        &self.newest
    }

    /// Both, the one in use first.
    pub(crate) fn all(&self) -> impl Iterator<Item = &SecretString> {
        [&self.newest].into_iter().chain(&self.before)
    }

    /// Both, by the keys with which problems name them.
    pub(crate) fn named(&self, key: &str) -> impl Iterator<Item = (String, &SecretString)> {
        [key.to_owned(), format!("{key}.1")]
            .into_iter()
            .zip(self.all())
    }

    /// Returns `true` for one of the two, in constant time.
    pub(crate) fn is_one(&self, given: &str) -> bool {
        self.all()
            .fold(false, |found, secret| is_secret(secret, given) | found)
    }
}

impl From<SecretString> for SecretPair {
    fn from(newest: SecretString) -> Self {
        Self {
            newest,
            before: None,
        }
    }
}

/// A text, or a list of texts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl OneOrMore {
    fn into_list(self) -> Vec<String> {
        match self {
            Self::One(text) => vec![text],
            Self::More(texts) => texts,
        }
    }
}

/// Reads one secret, or two while the first replaces the other.
pub(crate) fn secrets(
    values: Option<OneOrMore>,
    files: Option<OneOrMore>,
    min_chars: usize,
) -> Result<Vec<SecretString>, String> {
    let (given, is_file) = match (values, files) {
        (Some(_), Some(_)) => return Err(BOTH_FORMS.into()),
        (Some(values), None) => (values.into_list(), false),
        (None, Some(files)) => (files.into_list(), true),
        (None, None) => return Err(REQUIRED.into()),
    };
    if !(1..=MAX_SECRETS).contains(&given.len()) {
        return Err("write one, or two while you exchange it, the new one first".into());
    }
    let read = given.into_iter().map(|text| {
        let (value, file) = if is_file {
            (None, Some(text))
        } else {
            (Some(text), None)
        };
        secret(value, file, min_chars)
    });
    read.collect()
}

/// Reads a secret that may be two, as [`secrets`] does.
pub(crate) fn secret_pair(
    values: Option<OneOrMore>,
    files: Option<OneOrMore>,
    min_chars: usize,
) -> Result<SecretPair, String> {
    let mut read = secrets(values, files, min_chars)?.into_iter();
    let newest = read.next().ok_or(REQUIRED)?;
    let before = read.next();
    Ok(SecretPair { newest, before })
}

/// Minimum length of a secret that can be guessed over the network.
pub(crate) const MIN_GUESSABLE_CHARS: usize = 32;

const BOTH_FORMS: &str = "is given as value and as file: leave one of them out";
const REQUIRED: &str = "is required, as value or as …_file";

/// Of 32 random hexadecimal digits, fewer than eight are different once in ten million.
const MIN_DIFFERENT_CHARS: usize = 8;

/// Reads a secret. The message says what is wrong without the secret.
pub(crate) fn secret(
    value: Option<String>,
    file: Option<String>,
    min_chars: usize,
) -> Result<SecretString, String> {
    let text = match (value, file) {
        (Some(_), Some(_)) => return Err(BOTH_FORMS.into()),
        (Some(value), None) => value,
        (None, Some(path)) => std::fs::read_to_string(&path)
            .map_err(|error| format!("the file {path} cannot be read: {error}"))?
            .trim_end_matches(['\r', '\n'])
            .to_owned(),
        (None, None) => return Err(REQUIRED.into()),
    };
    if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err("holds blanks or control characters: was something pasted along?".into());
    }
    let is_placeholder = text.chars().all(|c| matches!(c, '…' | '.' | '*' | '?'))
        || (text.starts_with('<') && text.ends_with('>'));
    if is_placeholder {
        return Err("still has the placeholder of the sample: write the real one".into());
    }
    let chars = text.chars().count();
    if chars < min_chars {
        return Err(format!(
            "has {chars} characters: use {min_chars} or more random ones"
        ));
    }
    let different = text.chars().collect::<BTreeSet<_>>().len();
    if min_chars >= MIN_GUESSABLE_CHARS && different < MIN_DIFFERENT_CHARS {
        return Err(format!(
            "has {different} different characters and can be guessed: use random ones, like those of florin-proxy secrets new"
        ));
    }
    Ok(SecretString::from(text))
}

/// Two live at a time: one that signs, and one that is on its way in or out.
const MAX_KEYS: usize = 2;

#[derive(Debug)]
pub(crate) struct TokenKey {
    pub(crate) kid: KeyId,
    /// The text as it is written: 32 or more bytes.
    pub(crate) secret: SecretString,
}

/// The name of a token key: 1 to 32 of `A–Z a–z 0–9 _ -`, unique within its store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyId(String);

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
    errors.require_distinct(&key, "kid", tables.iter().map(|table| &table.kid));
    let read = tables.into_iter().filter_map(|table| {
        let kid = KeyId::parse(&table.kid).ok_or_else(|| {
            let kid: String = table.kid.chars().take(40).collect();
            format!("{kid:?} is no kid: write 1 to 32 letters, digits, - and _")
        });
        let kid = errors.record(&key, kid);
        let secret = secret(table.secret, table.secret_file, MIN_GUESSABLE_CHARS);
        let secret = errors.record(&format!("{key}.{}", table.kid), secret);
        Some(TokenKey {
            kid: kid?,
            secret: secret?,
        })
    });
    read.collect()
}

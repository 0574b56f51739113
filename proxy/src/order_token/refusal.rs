//! Why a token was refused: for the log, never for whoever sent it.

use ledger::StoreId;

use crate::config::KeyId;

/// What is wrong with a token. None of it repeats the token or a key.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    /// More than any token needs.
    #[error("it has more than 8192 characters")]
    TooLong,
    /// Not `header.payload.signature`.
    #[error("it is not three parts with points between them")]
    Parts,
    /// A part is not canonical.
    #[error("its {part} is not unpadded base64url: {source}")]
    Encoding {
        /// Which part.
        part: &'static str,
        /// What is wrong with it.
        source: base64::DecodeError,
    },
    /// A part is JSON, or not even that, but no object.
    #[error("its {0} is no JSON object, which begins with a brace")]
    NoObject(&'static str),
    /// The header has another member, or one twice.
    #[error("its header is not {{alg, kid, typ?}}: {0}")]
    Header(#[source] serde_json::Error),
    /// `none`, `RS256`, …
    #[error("its algorithm is {0:?}, and HS256 is the only one")]
    Algorithm(String),
    /// Another kind of token.
    #[error("its typ is not JWT")]
    Type,
    /// The key's name has another shape.
    #[error("its kid is not 1 to 32 letters, digits, - and _")]
    KeyId,
    /// No store has such a key.
    #[error("no store has a token key {0}: was it rotated out, or is the token another proxy's?")]
    UnknownKey(KeyId),
    /// The token was altered, or signed with another secret.
    #[error("its signature is not that of any key {0}: altered, or signed with another secret")]
    Signature(KeyId),
    /// Rightly signed, but not of this shape.
    #[error("its payload is not {{aud, store, ord, amt, cur, iat, exp, ttl?, ret?}}: {0}")]
    Payload(#[source] serde_json::Error),
    /// Meant for another proxy.
    #[error("its aud is {found:?}, and this proxy's public_url is {wanted:?}")]
    Audience {
        /// What it says.
        found: String,
        /// What it should say.
        wanted: String,
    },
    /// Signed with one store's key for another.
    #[error("it names the store {named:?}, and is signed with a key of {signer}")]
    ForeignStore {
        /// The store it names.
        named: String,
        /// Whose key it is.
        signer: StoreId,
    },
    /// The store's clock is ahead.
    #[error("its iat, {iat}, is more than 60 s ahead of this machine's clock, {now}")]
    FromTheFuture {
        /// When it says it was made.
        iat: i64,
        /// What time it is.
        now: i64,
    },
    /// Too late.
    #[error("it expired at {exp}, and it is {now}")]
    Expired {
        /// Its end.
        exp: i64,
        /// What time it is.
        now: i64,
    },
    /// It lives too long, or ends before it begins.
    #[error("it lives from {iat} to {exp}: at most 24 h are allowed, and at least a second")]
    Life {
        /// Its beginning.
        iat: i64,
        /// Its end.
        exp: i64,
    },
    /// A claim of another shape.
    #[error("its {name}: {error}")]
    Field {
        /// Which claim.
        name: &'static str,
        /// What is wrong with it.
        error: String,
    },
}

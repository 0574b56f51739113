//! Requests that carry an idempotency key: what was asked, and what was answered.

use florin_orders::{OrderId, TokenHash};

/// SHA-256 over scope, route and key of a request. The key itself is never stored: where nobody has a name, it opens the
/// order that it opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestId(pub [u8; 32]);

/// SHA-256 over everything that decides a request's outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint(pub [u8; 32]);

/// An answer, to be given again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAnswer {
    /// Its HTTP status.
    pub status: u16,
    /// Its body. Where a client token stood, its hash stands in hexadecimal digits.
    pub body: String,
    /// The order whose client token the body hands out, and the token's hash; absent when it hands out none.
    pub hands_out: Option<(OrderId, TokenHash)>,
}

/// What a request with a key is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Go ahead: nobody else does until the lease ends.
    Mine,
    /// The same request is being carried out.
    Running,
    /// It was carried out: answer this.
    Answered(StoredAnswer),
    /// The key came with another request.
    Reused,
}

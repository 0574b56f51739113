//! Requests with an idempotency key.

/// SHA-256 over scope, route and key of a request. The key itself is never stored: for
/// unauthenticated requests it gives access to the order that it opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestId(pub [u8; 32]);

/// SHA-256 over everything that determines a request's outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint(pub [u8; 32]);

/// A response, stored for replays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredResponse {
    /// Its HTTP status.
    pub status: u16,
    /// Its result as JSON. It has no client token: each replay issues a fresh one.
    pub body: String,
}

/// The outcome of claiming a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The caller holds the lease and carries the request out.
    Acquired,
    /// The same request is in progress.
    Running,
    /// The request was carried out: replay this response.
    Completed(StoredResponse),
    /// The key came with another request.
    Reused,
}

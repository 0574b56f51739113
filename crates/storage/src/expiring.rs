//! What is kept for a time: prices, client tokens, requests with an idempotency key, the links and sessions of stores' staff,
//! and the widget's files.

use async_trait::async_trait;
use florin_orders::{OrderId, Snapshot, StoreId, TokenHash};
use jiff::{SignedDuration, Timestamp};

use crate::Result;

/// The gateway's prices as they were at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceList {
    /// When they were fetched, in whole milliseconds.
    pub fetched_at: Timestamp,
    /// The prices, as the caller writes them.
    pub body: String,
}

/// What a client token opens. It never changes: a token has one order and one end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenGrant {
    pub order_id: OrderId,
    pub expires_at: Timestamp,
}

/// SHA-256 over scope, route and key of a request. The key itself is never stored: for
/// unauthenticated requests it gives access to the order that it opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestId(pub [u8; 32]);

/// SHA-256 over everything that determines a request's outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint(pub [u8; 32]);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredResponse {
    pub status: u16,
    /// Its result as JSON. It has no client token: each replay issues a fresh one.
    pub body: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The caller holds the lease and carries the request out.
    Acquired,
    Running,
    /// The request was carried out: replay this response.
    Completed(StoredResponse),
    /// The key came with another request.
    Reused,
}

/// Links and sessions of a store. Those that end first make room for a new one.
pub const MAX_STAFF_ACCESS_PER_STORE: u32 = 200;

/// What a link or a session gives access to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaffAccess {
    pub store: StoreId,
    /// A digest of the store's secret key with which the link was made.
    pub secret_key: [u8; 32],
    /// The person's name, for the audit log: 1 to 64 characters.
    pub person: String,
    /// Whether the person may decide about orders, not only see them.
    pub may_decide: bool,
    /// How long the session lasts after the link was opened.
    pub session: SignedDuration,
}

/// A file whose name changes with its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaticFile {
    pub name: String,
    pub whole: Vec<u8>,
    /// The content, compressed with brotli.
    pub brotli: Option<Vec<u8>>,
}

/// Storage of what is kept for a time. Each method is one transaction.
#[async_trait]
pub trait ExpiringStorage: Send + Sync + std::fmt::Debug {
    /// Stores prices of the gateway, so that every process honours what was quoted from them, also after a restart.
    async fn keep_prices(&self, prices: &PriceList) -> Result<()>;

    /// The prices that were fetched after a time, oldest first.
    async fn prices(&self, fetched_after: Timestamp) -> Result<Vec<PriceList>>;

    /// Deletes all prices, after the gateway rejected one of them.
    async fn invalidate_prices(&self) -> Result<()>;

    /// Deletes a batch of the prices that were fetched until a time. Returns their number; 0 if none is left.
    async fn delete_expired_prices(&self, fetched_until: Timestamp) -> Result<u64>;

    /// Grants another client token access to an order.
    async fn add_token(
        &self,
        order: &OrderId,
        token: TokenHash,
        token_expires_at: Timestamp,
    ) -> Result<()>;

    /// The order that a client token opens; `None` for an unknown or expired token.
    async fn order_of_token(&self, token: TokenHash, now: Timestamp) -> Result<Option<Snapshot>>;

    /// What a client token opens, also after its expiry; `None` for an unknown or deleted token.
    async fn token_grant(&self, token: TokenHash) -> Result<Option<TokenGrant>>;

    /// Deletes a batch of expired client tokens. Returns their number; 0 if none is left.
    async fn delete_expired_tokens(&self, now: Timestamp) -> Result<u64>;

    /// Claims a request with an idempotency key until `lease_until`, or returns its state. An
    /// expired lease is taken over, so that a crash blocks no key for ever.
    async fn claim_request(
        &self,
        request: RequestId,
        fingerprint: Fingerprint,
        now: Timestamp,
        lease_until: Timestamp,
    ) -> Result<Claim>;

    /// Stores the response of the request that was claimed until `lease_until`. Returns `true` if
    /// the claim still held.
    async fn store_response(
        &self,
        request: RequestId,
        lease_until: Timestamp,
        response: &StoredResponse,
        kept_until: Timestamp,
    ) -> Result<bool>;

    /// Releases the claim that holds until `lease_until`.
    async fn release_request(&self, request: RequestId, lease_until: Timestamp) -> Result<()>;

    /// Deletes a batch of expired requests and claims. Returns their number; 0 if none is left.
    async fn delete_expired_requests(&self, now: Timestamp) -> Result<u64>;

    /// Stores a link. A repetition with the same token does nothing. A store has at most
    /// [`MAX_STAFF_ACCESS_PER_STORE`] links and sessions.
    async fn add_staff_link(
        &self,
        token: TokenHash,
        access: &StaffAccess,
        expires_at: Timestamp,
    ) -> Result<()>;

    /// What a link gives access to; `None` for one that is unknown, opened or expired.
    async fn staff_link(&self, token: TokenHash, now: Timestamp) -> Result<Option<StaffAccess>>;

    /// Replaces a link by the session that it opens; of concurrent calls one alone does. `None` for a link that is unknown,
    /// opened or expired. A repetition with the same session returns the same.
    async fn open_staff_session(
        &self,
        link: TokenHash,
        session: TokenHash,
        now: Timestamp,
    ) -> Result<Option<StaffAccess>>;

    /// What a session gives access to; `None` for one that is unknown or over.
    async fn staff_session(
        &self,
        session: TokenHash,
        now: Timestamp,
    ) -> Result<Option<StaffAccess>>;

    async fn end_staff_session(&self, session: TokenHash) -> Result<()>;

    /// Deletes a batch of expired links and sessions. Returns their number; 0 if none is left.
    async fn delete_expired_staff_access(&self, now: Timestamp) -> Result<u64>;

    /// Keeps the files of this process's version for processes of other versions, at the same time or later, and deletes those
    /// that no process has kept for 30 days.
    async fn keep_static_files(&self, files: &[StaticFile], now: Timestamp) -> Result<()>;

    /// A file that a process of another version has kept.
    async fn static_file(&self, name: &str) -> Result<Option<StaticFile>>;
}

//! A store's staff: the orders that a person may see, the links that the store makes for its people, and their sessions.

use async_trait::async_trait;
use florin_orders::{StoreId, TokenHash};
use jiff::{SignedDuration, Timestamp};

use crate::Result;

/// Links and sessions of a store. Those that end first make room for a new one.
pub const MAX_STAFF_ACCESS_PER_STORE: u32 = 200;

/// The stores whose orders a person may see and decide about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum StoreScope {
    /// All: an operator.
    #[default]
    All,
    /// This one: its staff.
    Store(StoreId),
}

impl StoreScope {
    /// The only store; `None` for all of them.
    pub fn store(&self) -> Option<&StoreId> {
        match self {
            Self::All => None,
            Self::Store(store) => Some(store),
        }
    }

    /// Returns `true` if a store is in it.
    pub fn contains(&self, store: &StoreId) -> bool {
        self.store().is_none_or(|only| only == store)
    }
}

/// A person who does something: an operator, or a member of a store's staff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// The operator's name in the configuration, or the name that the store gave.
    pub name: String,
    /// What the person may act on.
    pub scope: StoreScope,
}

impl Actor {
    /// An operator.
    pub fn operator(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            scope: StoreScope::All,
        }
    }
}

/// What a link or a session gives access to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaffAccess {
    /// The store.
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

/// Links and sessions of stores' staff.
#[async_trait]
pub trait StaffStorage: Send + Sync + std::fmt::Debug {
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

    /// Ends a session.
    async fn end_staff_session(&self, session: TokenHash) -> Result<()>;

    /// Deletes a batch of expired links and sessions. Returns their number; 0 if none is left.
    async fn delete_expired_staff_access(&self, now: Timestamp) -> Result<u64>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn staff_is_in_its_store_alone() {
        let [one, other] = ["demo", "other"].map(|id| StoreId::parse(id).unwrap());
        let staff = StoreScope::Store(one.clone());
        assert!(staff.contains(&one) && !staff.contains(&other));
        assert!(StoreScope::All.contains(&one) && StoreScope::All.contains(&other));
    }
}

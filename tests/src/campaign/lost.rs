//! What restores have lost: what a replaced database has, and its backup has not.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use sha2::{Digest as _, Sha256};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};

/// Orders and client tokens that restores have lost.
#[derive(Debug, Default)]
pub(super) struct Lost(Mutex<Rows>);

/// Ids of orders, hashes of client tokens, and invoices of attempts.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) orders: BTreeSet<String>,
    pub(super) tokens: BTreeSet<Vec<u8>>,
    pub(super) invoices: BTreeSet<String>,
}

impl Lost {
    pub(super) fn has_order(&self, id: &str) -> bool {
        self.rows().orders.contains(id)
    }

    /// Returns `true` if a restore lost the client token of a request or the order in its path.
    pub(super) fn explains(&self, token: Option<&str>, path: &str) -> bool {
        let has_token = |token: &str| {
            let hash = Sha256::digest(token);
            self.rows().tokens.contains(hash.as_slice())
        };
        let mut words = path.split('/');
        token.is_some_and(has_token) || words.any(|word| self.has_order(word))
    }

    pub(super) fn rows(&self) -> std::sync::MutexGuard<'_, Rows> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rows {
    /// Reads a file of SQLite; its journal is written into it.
    pub(super) async fn read(file: &Path) -> sqlx::Result<Self> {
        let mut db = SqliteConnectOptions::new().filename(file).connect().await?;
        let orders = sqlx::query_scalar("SELECT id FROM orders");
        let orders: Vec<String> = orders.fetch_all(&mut db).await?;
        let tokens = sqlx::query_scalar("SELECT hash FROM client_tokens");
        let tokens: Vec<Vec<u8>> = tokens.fetch_all(&mut db).await?;
        let invoices = "SELECT invoice_id FROM attempts WHERE invoice_id IS NOT NULL";
        let invoices: Vec<String> = sqlx::query_scalar(invoices).fetch_all(&mut db).await?;
        db.close().await?;
        Ok(Self {
            orders: orders.into_iter().collect(),
            tokens: tokens.into_iter().collect(),
            invoices: invoices.into_iter().collect(),
        })
    }

    pub(super) fn without(&self, others: &Self) -> Self {
        Self {
            orders: &self.orders - &others.orders,
            tokens: &self.tokens - &others.tokens,
            invoices: &self.invoices - &others.invoices,
        }
    }
}

//! The one writer: transactions that wait at the same time share one commit, and thereby one wait for the disk.
//!
//! Each transaction is a savepoint of the batch's transaction. It is acknowledged after the batch is on the disk, so a
//! commit is as durable as without batches. A connection on which a statement that begins or ends a transaction has
//! failed is thrown away: SQLite may have rolled everything back by itself (full disk, I/O error), and nothing that such
//! a connection says about its transaction can be trusted.
//!
//! ```text
//! Idle ─BEGIN→ Open ─SAVEPOINT→ Member ─RELEASE→ Open … ─COMMIT→ Idle
//!   any ─failure→ Broken: the batch fails, the next transaction gets a new connection
//! ```

use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::sync::Arc;

use parking_lot::Mutex as BlockingMutex;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, Executor as _, SqliteConnection};
use tokio::sync::{Mutex, OwnedMutexGuard, watch};
use tokio::time::Instant;

use super::file::DatabaseFile;
use crate::{Commits, Result, StorageError};

#[derive(Clone, Debug)]
pub(super) struct Writer(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// Fair: a batch takes the transactions that waited when it began, then commits.
    state: Arc<Mutex<WriterState>>,
    options: SqliteConnectOptions,
    file: Arc<DatabaseFile>,
    failure: Failure,
    commits: BlockingMutex<Commits>,
}

/// Why the latest commit failed; none while commits succeed.
type Failure = watch::Sender<Option<Arc<StorageError>>>;

#[derive(Debug)]
struct WriterState {
    file: Arc<DatabaseFile>,
    failure: Failure,
    connection: Option<SqliteConnection>,
    phase: Phase,
    batch: Option<Batch>,
    batches: u64,
    is_closed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Idle,
    Open,
    Member,
    Broken,
}

#[derive(Debug)]
struct Batch {
    number: u64,
    /// Transactions that ended well.
    transactions: u64,
    outcome: watch::Sender<Outcome>,
}

#[derive(Clone, Debug)]
enum Outcome {
    Pending,
    Committed,
    Failed(Arc<StorageError>),
}

impl Outcome {
    fn result(&self) -> Result<()> {
        match self {
            Self::Failed(error) => Err(StorageError::Shared(error.clone())),
            Self::Committed | Self::Pending => Ok(()),
        }
    }
}

/// A transaction that holds the write lock from its start, so that what it reads stays true until it commits. Dropped, it
/// is rolled back.
pub(crate) struct WriteTransaction {
    state: OwnedMutexGuard<WriterState>,
}

impl Writer {
    /// A writer that connects when it is first used.
    pub(super) fn new(options: SqliteConnectOptions, file: Arc<DatabaseFile>) -> Self {
        let failure = Failure::default();
        let state = WriterState {
            file: file.clone(),
            failure: failure.clone(),
            connection: None,
            phase: Phase::Idle,
            batch: None,
            batches: 0,
            is_closed: false,
        };
        Self(Arc::new(Shared {
            state: Arc::new(Mutex::new(state)),
            options,
            file,
            failure,
            commits: BlockingMutex::default(),
        }))
    }

    /// Why the latest commit failed for want of a database; `None` while commits succeed.
    pub(super) fn failure(&self) -> Option<Arc<StorageError>> {
        self.0.failure.borrow().clone()
    }

    pub(super) fn commits(&self) -> Commits {
        *self.0.commits.lock()
    }

    pub(super) async fn begin(&self) -> Result<WriteTransaction> {
        let asked = Instant::now();
        let state = self.0.state.clone().lock_owned().await;
        let shared = self.0.clone();
        shared.commits.lock().waited += asked.elapsed();
        // A separate task: a caller that gives up leaves no statement half done.
        finish(tokio::spawn(async move { shared.begin(state).await })).await?
    }

    /// Commits a transaction and those before it, without waiting for others: its failure has a reason.
    pub(super) async fn commit_at_once(&self, tx: WriteTransaction) -> Result<()> {
        let shared = self.0.clone();
        let committed = async move {
            let mut state = tx.state;
            state.run("RELEASE member", Phase::Open).await?;
            let batch = state.batch.as_ref().ok_or(sqlx::Error::PoolClosed)?;
            let outcome = batch.outcome.subscribe();
            shared.commit(&mut state).await;
            let outcome = outcome.borrow().clone();
            outcome.result()
        };
        finish(tokio::spawn(committed)).await?
    }

    /// Waits for transactions in progress and closes the connection; the next transaction opens another.
    pub(super) async fn reconnect(&self) {
        let mut state = self.0.state.clone().lock_owned().await;
        self.0.commit(&mut state).await;
        state.phase = Phase::Broken;
        state.settle().await;
    }

    pub(super) async fn close(&self) {
        let mut state = self.0.state.clone().lock_owned().await;
        state.is_closed = true;
        self.0.commit(&mut state).await;
        self.0.file.forget_wal();
        if let Some(connection) = state.connection.take() {
            let _ = connection.close().await;
        }
    }
}

async fn finish<T>(task: tokio::task::JoinHandle<T>) -> Result<T> {
    task.await
        .map_err(|_| StorageError::Database(sqlx::Error::PoolClosed))
}

impl Shared {
    async fn begin(
        self: Arc<Self>,
        state: OwnedMutexGuard<WriterState>,
    ) -> Result<WriteTransaction> {
        let failure = self.failure.clone();
        let begun = self.try_begin(state).await;
        begun.map_err(|error| {
            let error = Arc::new(error);
            failure.send_replace(Some(error.clone()));
            StorageError::Shared(error)
        })
    }

    async fn try_begin(
        self: Arc<Self>,
        mut state: OwnedMutexGuard<WriterState>,
    ) -> Result<WriteTransaction> {
        if state.is_closed {
            return Err(StorageError::Database(sqlx::Error::PoolClosed));
        }
        state.settle().await;
        self.file.verify()?;
        let is_new = state.connection.is_none();
        if is_new {
            state.connection = Some(self.options.connect().await?);
        }
        if state.phase == Phase::Idle {
            state.run("BEGIN IMMEDIATE", Phase::Open).await?;
            if is_new {
                self.file.record_wal();
            }
            state.batches += 1;
            let number = state.batches;
            let outcome = watch::Sender::new(Outcome::Pending);
            state.batch = Some(Batch {
                number,
                transactions: 0,
                outcome,
            });
            tokio::spawn(self.clone().commit_batch(number));
        }
        state.run("SAVEPOINT member", Phase::Member).await?;
        Ok(WriteTransaction { state })
    }

    async fn commit_batch(self: Arc<Self>, number: u64) {
        let mut state = self.state.clone().lock_owned().await;
        if state
            .batch
            .as_ref()
            .is_some_and(|batch| batch.number == number)
        {
            self.commit(&mut state).await;
        }
    }

    async fn commit(&self, state: &mut WriterState) {
        state.settle().await;
        if state.phase != Phase::Open {
            return;
        }
        let transactions = state.batch.as_ref().map_or(0, |batch| batch.transactions);
        let started = Instant::now();
        let committed = state.run("COMMIT", Phase::Idle).await;
        let elapsed = started.elapsed();
        // What went into a file that has lost its name is not acknowledged.
        let committed = committed.and_then(|()| Ok(self.file.verify()?));
        match committed {
            Ok(()) => {
                self.commits.lock().count(transactions, elapsed);
                state.end_batch(Outcome::Committed);
            }
            Err(error) => {
                state.end_batch(Outcome::Failed(Arc::new(error)));
                state.settle().await;
            }
        }
    }
}

impl WriterState {
    async fn run(&mut self, statement: &'static str, after: Phase) -> Result<()> {
        self.phase = Phase::Broken;
        let connection = self.connection.as_mut();
        let connection = connection.ok_or(sqlx::Error::PoolClosed)?;
        match connection.execute(sqlx::raw_sql(statement)).await {
            Ok(_) => {
                self.phase = after;
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Ends what the holder before left: rolls its transaction back, or throws a broken connection away.
    async fn settle(&mut self) {
        if self.phase == Phase::Member {
            let undone = self.run("ROLLBACK TO member", Phase::Broken).await;
            // Without a savepoint, SQLite has rolled the whole transaction back by itself.
            if undone.is_ok() {
                let _ = self.run("RELEASE member", Phase::Open).await;
            }
        }
        if self.phase == Phase::Broken {
            if let Some(connection) = self.connection.take() {
                self.file.forget_wal();
                // Rolls back what is open. A failure is of no interest: the connection is gone.
                let _ = connection.close().await;
            }
            let lost = StorageError::Database(sqlx::Error::WorkerCrashed);
            self.end_batch(Outcome::Failed(Arc::new(lost)));
            self.phase = Phase::Idle;
        }
    }

    fn end_batch(&mut self, outcome: Outcome) {
        if let Some(batch) = self.batch.take() {
            self.failure.send_replace(match &outcome {
                Outcome::Failed(error) => Some(error.clone()),
                Outcome::Committed | Outcome::Pending => None,
            });
            batch.outcome.send_replace(outcome);
        }
    }
}

pub(super) type Work<'t, T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + Send + 't>>;

/// Runs a transaction. An error rolls it back.
pub(super) async fn run<T, E: From<StorageError>>(
    writer: &Writer,
    work: impl for<'t> FnOnce(&'t mut WriteTransaction) -> Work<'t, T, E>,
) -> Result<T, E> {
    let mut tx = writer.begin().await?;
    let done = work(&mut tx).await?;
    tx.commit().await?;
    Ok(done)
}

impl WriteTransaction {
    /// Returns `false`: no transaction is repeated.
    #[expect(
        clippy::unused_self,
        reason = "a transaction of PostgreSQL may be a repetition"
    )]
    pub(super) fn is_repeat(&self) -> bool {
        false
    }

    pub(crate) async fn commit(self) -> Result<()> {
        let mut state = self.state;
        let released = async move {
            state.run("RELEASE member", Phase::Open).await?;
            let batch = state.batch.as_mut().ok_or(sqlx::Error::PoolClosed)?;
            batch.transactions += 1;
            Ok::<_, StorageError>(batch.outcome.subscribe())
        };
        let mut outcome = finish(tokio::spawn(released)).await??;
        let outcome = outcome
            .wait_for(|outcome| !matches!(outcome, Outcome::Pending))
            .await
            .map_err(|_| sqlx::Error::PoolClosed)?;
        outcome.result()
    }
}

impl Deref for WriteTransaction {
    type Target = SqliteConnection;

    fn deref(&self) -> &SqliteConnection {
        let connection = self.state.connection.as_ref();
        connection.expect("a transaction has its connection")
    }
}

impl DerefMut for WriteTransaction {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        let connection = self.state.connection.as_mut();
        connection.expect("a transaction has its connection")
    }
}

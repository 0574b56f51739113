//! Change exchange: announces the changes of this proxy to the others on the same database, and wakes the streams of
//! orders that others changed. It shares what else the proxies show alike: whether payments are found late, and the files of
//! each version.
//!
//! An announcement only wakes: a stream reads the order, and sends what is new. One that was lost is made up for by comparing
//! versions: of all orders that have streams here, by one query for a thousand of them. While that succeeds, no heartbeat of a
//! stream reads its order. Versions are compared, and not a
//! sequence or a time of changes: transactions commit in another order than they take their numbers and times.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use florin_orders::OrderId;
use florin_storage::{Changed, OrderVersion, StorageError};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::state::AppState;
use crate::widget_files;

const COALESCE: Duration = Duration::from_millis(20);
const COMPARE_EVERY: Duration = Duration::from_secs(5);
/// Comparison interval while the listener is down: no stream is later than this.
const COMPARE_EVERY_WITHOUT_ANNOUNCEMENTS: Duration = Duration::from_millis(800);
const RECONNECT: Duration = Duration::from_millis(500);
const KEEP_EVERY: Duration = Duration::from_hours(1);
/// A database that does not answer delays a start no longer than this.
const LONGEST_KEEP: Duration = Duration::from_secs(5);
const BATCH: usize = 1_000;

pub(crate) async fn run(app: Arc<AppState>) {
    let exchange = Exchange {
        app,
        is_listening: AtomicBool::new(false),
        compare_now: Notify::new(),
    };
    if exchange.app.storage.has_other_writers() {
        tokio::join!(
            exchange.announce(),
            exchange.listen(),
            exchange.compare(),
            exchange.keep_static_files(),
        );
    } else {
        // No other process needs them before the next upgrade.
        keep_static_files(&exchange.app).await;
        exchange.keep_static_files().await;
    }
}

struct Exchange {
    app: Arc<AppState>,
    is_listening: AtomicBool,
    compare_now: Notify,
}

impl Exchange {
    /// Announces a change at once; changes within the pause after it are announced together.
    async fn announce(&self) {
        let app = &self.app;
        while !app.shutdown.is_cancelled() {
            tokio::select! {
                () = app.shutdown.cancelled() => {}
                () = app.announcements.ready() => {}
            }
            let storage = &app.storage;
            let announced = app
                .announcements
                .announce(async |changed| storage.announce(changed).await);
            let pause = match announced.await {
                Ok(()) => COALESCE,
                Err(error) => {
                    tracing::debug!(%error, "changes were not announced");
                    RECONNECT
                }
            };
            app.clock.sleep(pause).await;
        }
    }

    async fn listen(&self) {
        let app = &self.app;
        let mut is_reported = false;
        while !app.shutdown.is_cancelled() {
            let ended = tokio::select! {
                () = app.shutdown.cancelled() => return,
                ended = self.listen_once(&mut is_reported) => ended,
            };
            self.is_listening.store(false, Ordering::Relaxed);
            self.compare_now.notify_one();
            match ended {
                Ok(()) => return app.shutdown.cancelled().await,
                Err(error) if !is_reported => {
                    is_reported = true;
                    tracing::warn!(
                        %error,
                        "announcements of other proxies do not arrive: the orders with open pages are compared more often"
                    );
                }
                Err(_) => {}
            }
            app.pause(RECONNECT).await;
        }
    }

    async fn listen_once(&self, is_reported: &mut bool) -> Result<(), StorageError> {
        let app = &self.app;
        let Some(mut listener) = app.storage.listen().await? else {
            return Ok(());
        };
        self.is_listening.store(true, Ordering::Relaxed);
        // What was announced before.
        self.compare_now.notify_one();
        if std::mem::take(is_reported) {
            tracing::info!("announcements of other proxies arrive again");
        }
        loop {
            match listener.next().await? {
                Changed::Orders(orders) => {
                    for order in &orders {
                        app.subscriptions.notify(order);
                    }
                }
                Changed::All => {
                    app.subscriptions.notify_all();
                    self.compare_now.notify_one();
                }
            }
        }
    }

    /// The proxy has kept the files once before ([`keep_static_files`]).
    async fn keep_static_files(&self) {
        let app = &self.app;
        app.pause(KEEP_EVERY).await;
        while !app.shutdown.is_cancelled() {
            keep_static_files(app).await;
            app.pause(KEEP_EVERY).await;
        }
    }

    async fn compare(&self) {
        let app = &self.app;
        let mut known = HashMap::new();
        let mut is_reported = false;
        while !app.shutdown.is_cancelled() {
            let pause = if self.is_listening.load(Ordering::Relaxed) {
                COMPARE_EVERY
            } else {
                COMPARE_EVERY_WITHOUT_ANNOUNCEMENTS
            };
            tokio::select! {
                () = app.shutdown.cancelled() => return,
                () = self.compare_now.notified() => {}
                () = app.delay_changed.notified() => {}
                () = app.clock.sleep(pause) => {}
            }
            match share_delay(app, is_reported).await {
                Ok(reported) => is_reported = reported,
                Err(error) => tracing::debug!(%error, "the delay was not shared"),
            }
            let began = Instant::now();
            match compare_once(app, &known).await {
                Ok(current) => {
                    known = current;
                    *app.compared_at.lock() = Some(began);
                }
                Err(error) => tracing::debug!(%error, "orders were not compared"),
            }
        }
    }
}

/// Keeps this version's files for proxies of other versions on the same database, at the same time or later: a page that was
/// loaded here asks one of them.
pub(crate) async fn keep_static_files(app: &AppState) {
    let files = widget_files::static_files();
    let kept = app.storage.keep_static_files(&files, app.now());
    let failure = match tokio::time::timeout(LONGEST_KEEP, kept).await {
        Ok(Ok(())) => return,
        Ok(Err(error)) => error.to_string(),
        Err(_) => "the database does not answer".to_owned(),
    };
    tracing::warn!(failure, "other versions cannot serve the files of this one");
}

async fn share_delay(app: &AppState, reported: bool) -> Result<bool, StorageError> {
    let is_delayed = app.is_delayed_here();
    let elsewhere = app.storage.share_delay(is_delayed, app.now()).await?;
    app.set_delayed_elsewhere(elsewhere);
    if is_delayed != reported {
        app.announcements.push_all();
    }
    Ok(is_delayed)
}

async fn compare_once(
    app: &AppState,
    known: &HashMap<OrderId, OrderVersion>,
) -> Result<HashMap<OrderId, OrderVersion>, StorageError> {
    let mut current = HashMap::with_capacity(known.len());
    for batch in app.subscriptions.orders().chunks(BATCH) {
        for (order, version) in app.storage.versions(batch).await? {
            if known.get(&order) != Some(&version) {
                app.subscriptions.notify(&order);
            }
            current.insert(order, version);
        }
    }
    Ok(current)
}

//! A relay between a store and the server, which cuts connections around a commit, and stops before a message; and lost
//! connections: before a commit, after it, and in the middle.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

use super::*;
use crate::postgres::transaction::TRIES;

/// Source: "Frontend/Backend Protocol": a simple query ends with a zero byte.
const COMMIT: &[u8] = b"COMMIT\0";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// Before the server receives it: nothing was committed.
    Before = 1,
    /// After the server has answered it, without the response: everything was committed.
    After = 2,
}

pub(super) struct Relay {
    port: u16,
    state: Arc<State>,
    cut_all: watch::Sender<()>,
}

#[derive(Debug)]
struct State {
    next_cut: AtomicU8,
    is_stalled: AtomicBool,
    left: AtomicUsize,
    stopped: Semaphore,
    opened: Semaphore,
}

impl Relay {
    pub(super) async fn start() -> Self {
        Self::to(server().port()).await
    }

    pub(super) async fn to(there: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State {
            next_cut: AtomicU8::new(0),
            is_stalled: AtomicBool::new(false),
            left: AtomicUsize::new(usize::MAX),
            stopped: Semaphore::new(0),
            opened: Semaphore::new(0),
        });
        let shared = state.clone();
        let cut_all = watch::Sender::new(());
        let all = cut_all.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(("127.0.0.1", there)).await;
                let relay = relay(client, server.unwrap(), shared.clone());
                let mut cut = all.subscribe();
                tokio::spawn(async move {
                    tokio::select! {
                        () = relay => {}
                        _ = cut.changed() => {}
                    }
                });
            }
        });
        Self {
            port,
            state,
            cut_all,
        }
    }

    pub(super) fn cut_all(&self) {
        self.cut_all.send_replace(());
    }

    pub(super) async fn store(&self, database: &str) -> PostgresStorage {
        let (clock, limits) = (LeaseClock::Caller, PostgresOptions::DEFAULT);
        let url = self.url(database);
        let opened = PostgresStorage::open_limited(&url, None, "test", clock, &limits);
        opened.await.unwrap()
    }

    pub(super) fn url(&self, database: &str) -> String {
        format!("{}?sslmode=disable", server().url_at(self.port, database))
    }

    pub(super) fn arm(&self, cut: Cut) {
        self.state.next_cut.store(cut as u8, Ordering::SeqCst);
    }

    /// Passes nothing on any more, and leaves all connections open.
    pub(super) fn stall(&self) {
        self.state.is_stalled.store(true, Ordering::SeqCst);
    }

    pub(super) fn has_cut(&self) -> bool {
        self.state.next_cut.load(Ordering::SeqCst) == 0
    }

    pub(super) fn stop_after(&self, messages: usize) {
        self.state.left.store(messages, Ordering::SeqCst);
    }

    pub(super) async fn stopped(&self) {
        self.state.stopped.acquire().await.unwrap().forget();
    }

    pub(super) fn open(&self) {
        self.state.left.store(usize::MAX, Ordering::SeqCst);
        self.state.opened.add_permits(1);
    }
}

impl State {
    async fn stalled(&self) {
        if self.is_stalled.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
    }

    async fn pass(&self) {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 0 {
            self.left.store(usize::MAX, Ordering::SeqCst);
            self.stopped.add_permits(1);
            self.opened.acquire().await.unwrap().forget();
        }
    }
}

async fn relay(mut client: TcpStream, mut server: TcpStream, state: Arc<State>) {
    let (mut sent, mut answered) = (vec![0; 65_536], vec![0; 65_536]);
    loop {
        tokio::select! {
            read = client.read(&mut sent) => {
                let Ok(length @ 1..) = read else { return };
                state.stalled().await;
                state.pass().await;
                let is_commit = sent[..length].windows(COMMIT.len()).any(|bytes| bytes == COMMIT);
                let cut = if is_commit { state.next_cut.swap(0, Ordering::SeqCst) } else { 0 };
                if cut == Cut::Before as u8 || server.write_all(&sent[..length]).await.is_err() {
                    return;
                }
                if cut == Cut::After as u8 {
                    let _ = server.read(&mut answered).await;
                    return;
                }
            }
            read = server.read(&mut answered) => {
                let Ok(length @ 1..) = read else { return };
                state.stalled().await;
                if client.write_all(&answered[..length]).await.is_err() {
                    return;
                }
            }
        }
    }
}

const ORDERS: u8 = 30;
const COMMITS: u8 = 8;
const AT_ONCE: u32 = 4;

/// A purchase through the relay. Each step loses the connection around its commit, is repeated, and returns what it would
/// have returned.
async fn purchase(storage: &PostgresStorage, relay: &Relay, cut: Cut, n: u8) {
    let (order, request) = (id(n), RequestId([n; 32]));
    relay.arm(cut);
    let claim = storage.claim_request(request, Fingerprint([n; 32]), at(0), at(30));
    assert_eq!(claim.await.unwrap(), Claim::Acquired);
    relay.arm(cut);
    assert!(storage.order(n).await.is_new);
    relay.arm(cut);
    let response = StoredResponse {
        status: 201,
        body: "{}".into(),
    };
    let stored = storage.store_response(request, at(30), &response, at(900));
    assert!(stored.await.unwrap());
    relay.arm(cut);
    let attempt = storage.begin(n, n, 0).await.unwrap();
    assert_eq!(attempt.terms.id, new_attempt(n).id);
    relay.arm(cut);
    storage.confirm(n, 0).await;
    relay.arm(cut);
    let marked = storage.mark_as_paid(&order, None, at(5)).await;
    assert!(marked.unwrap().is_first);
    let due = storage.polls(PollPriority::Unwatched, 20).await.remove(0);
    relay.arm(cut);
    let recorded = storage.record(&due, 20, exact("COMPLETED")).await;
    let recorded = recorded.expect("the latest poll");
    assert_eq!(recorded.snapshot.order.status, OrderStatus::Paid);
    assert_eq!(recorded.events, [EventType::Paid]);
    let first = storage.due_deliveries(&hook(), at(30), at(60), 1).await;
    let first = first.unwrap().remove(0);
    relay.arm(cut);
    storage
        .deliver(&first, 30, DeliveryOutcome::Delivered)
        .await;
    assert!(relay.has_cut());
}

async fn lose_commits() {
    let database = database();
    let relay = Relay::start().await;
    let storage = relay.store(&database).await;
    for n in 1..=ORDERS {
        let cut = if n % 2 == 0 { Cut::Before } else { Cut::After };
        purchase(&storage, &relay, cut, n).await;
    }
    let orders = i64::from(ORDERS);
    for (rows, expected) in [
        ("orders", orders),
        ("attempts", orders),
        ("client_tokens", orders),
        ("observations WHERE times = 1", orders),
        ("credits", orders),
        // created, attempt_opened, paid
        ("events", 3 * orders),
        ("outbox", 3 * orders),
        ("deliveries", orders),
        ("outbox WHERE tries = 1", orders),
    ] {
        let found = number(&storage, &format!("SELECT count(*) FROM {rows}")).await;
        assert_eq!(found, expected, "{rows}");
    }
    storage.close().await;
}

/// Source: docs/operations/crash-tests.md, which runs 5,000.
fn lost_commits() -> u32 {
    let wanted = std::env::var("FLORIN_LOST_COMMITS");
    wanted.map_or(0, |text| text.parse().expect("a number"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_without_an_answer_is_repeated_and_doubles_nothing() {
    let each = u32::from(ORDERS) * u32::from(COMMITS);
    let rounds = lost_commits().div_ceil(each).max(1);
    let mut lost = 0;
    while lost < rounds {
        let at_once = AT_ONCE.min(rounds - lost);
        let purchases = (0..at_once).map(|_| tokio::spawn(lose_commits()));
        for purchase in purchases.collect::<Vec<_>>() {
            purchase.await.unwrap();
        }
        lost += at_once;
    }
    println!("{} connections were lost around their commit", lost * each);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn connections_that_the_server_ends_fail_nothing() {
    let (storage, database) = store().await;
    let mut customers = Vec::new();
    for n in 1..=24_u8 {
        let storage = storage.clone();
        customers.push(tokio::spawn(async move { storage.awaiting(n).await }));
    }
    let mut ended = 0;
    // A round costs a transaction two of its tries at most: its connection, and one that came back to the pool dying.
    let mut rounds = TRIES / 2 - 1;
    let mut pauses = tokio::time::interval(Duration::from_millis(30));
    while rounds > 0 && !customers.iter().all(tokio::task::JoinHandle::is_finished) {
        let end = format!(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
             WHERE datname = '{database}' AND state IN ('active', 'idle in transaction')"
        );
        let count = server().psql("postgres", &end).unwrap();
        let count = count.parse::<u32>().unwrap();
        ended += count;
        rounds -= u32::from(count > 0);
        pauses.tick().await;
    }
    assert!(ended > 0, "no connection was ended");
    for customer in customers {
        customer.await.unwrap();
    }
    println!("{ended} connections were ended");
    let open = "SELECT count(*) FROM attempts WHERE state = 'open'";
    assert_eq!(number(&storage, open).await, 24);
    assert_eq!(number(&storage, "SELECT count(*) FROM events").await, 48);
}

#[tokio::test]
async fn an_unreachable_server_is_named_without_its_password() {
    let url = "postgres://florin:secret@127.0.0.1:1/florin?password=secret";
    let refused = PostgresStorage::open(url, "test").await.unwrap_err();
    let refused = refused.to_string();
    assert!(
        refused.starts_with("the database postgres://florin@127.0.0.1:1/florin cannot be opened"),
        "{refused}"
    );
    assert!(!refused.contains("secret"), "{refused}");
}

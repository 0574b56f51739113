//! Two processes, one of which stops before each of its statements in turn while the other does all of its work.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use super::*;
use crate::{Fingerprint, RequestId};

/// A step of a purchase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Open,
    Claim,
    Begin,
    MarkAsPaid,
    Pay,
    Cancel,
    Poll,
    Deliver,
}

const STEPS: [Step; 8] = [
    Step::Open,
    Step::Claim,
    Step::Begin,
    Step::MarkAsPaid,
    Step::Pay,
    Step::Cancel,
    Step::Poll,
    Step::Deliver,
];
/// More messages than any step sends. Each round has another order.
const MOST: u8 = 49;
/// Pairs of steps at the same time.
const AT_ONCE: usize = 4;

/// A way to the server that stops before a message.
struct Gate {
    port: u16,
    state: Arc<GateState>,
}

#[derive(Debug)]
struct GateState {
    /// Messages that still pass.
    left: AtomicUsize,
    stopped: Semaphore,
    opened: Semaphore,
}

impl Gate {
    async fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(GateState {
            left: AtomicUsize::new(usize::MAX),
            stopped: Semaphore::new(0),
            opened: Semaphore::new(0),
        });
        let shared = state.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(("127.0.0.1", server().port())).await;
                tokio::spawn(forward(client, server.unwrap(), shared.clone()));
            }
        });
        Self { port, state }
    }

    /// Lets so many messages pass and stops the next one.
    fn stop_after(&self, messages: usize) {
        self.state.left.store(messages, Ordering::SeqCst);
    }

    /// Waits until a message was stopped.
    async fn stopped(&self) {
        self.state.stopped.acquire().await.unwrap().forget();
    }

    fn open(&self) {
        self.state.left.store(usize::MAX, Ordering::SeqCst);
        self.state.opened.add_permits(1);
    }
}

async fn forward(client: TcpStream, server: TcpStream, state: Arc<GateState>) {
    let (mut sent, mut requests) = client.into_split();
    let (mut responses, mut received) = server.into_split();
    let there = async {
        let mut bytes = vec![0; 65_536];
        while let Ok(length @ 1..) = sent.read(&mut bytes).await {
            let before = state.left.fetch_sub(1, Ordering::SeqCst);
            if before == 0 {
                state.left.store(usize::MAX, Ordering::SeqCst);
                state.stopped.add_permits(1);
                state.opened.acquire().await.unwrap().forget();
            }
            if received.write_all(&bytes[..length]).await.is_err() {
                return;
            }
        }
    };
    let back = async {
        let _ = tokio::io::copy(&mut responses, &mut requests).await;
    };
    tokio::join!(there, back);
}

/// Does a step on order `n`. A step that comes too late is refused; it fails in no other way.
async fn happens(storage: PostgresStorage, step: Step, n: u8, other: bool) -> bool {
    let (order, now) = (id(n), at(30));
    let attempt = new_attempt(if other { n + 100 } else { n + 50 });
    match step {
        Step::Open => {
            let new = id(if other { n + 100 } else { n + 50 });
            let token = token(if other { n + 100 } else { n + 50 });
            let wanted = terms(&format!("new{n}"));
            let opened = storage.open_order(&new, &wanted, token, at(900), now);
            opened.await.unwrap().is_new
        }
        Step::Claim => {
            let claim =
                storage.claim_request(RequestId([n; 32]), Fingerprint([n; 32]), now, at(60));
            claim.await.unwrap() == Claim::Acquired
        }
        Step::Begin => match storage.begin_attempt(&order, &attempt, now).await {
            Ok(_) => true,
            Err(
                OrderOperationError::InProgress
                | OrderOperationError::Closed { .. }
                | OrderOperationError::TooMany,
            ) => false,
            Err(error) => panic!("{error}"),
        },
        Step::MarkAsPaid => match storage.mark_as_paid(&order, None, now).await {
            Ok(marked) => marked.is_first,
            Err(OrderOperationError::Closed { .. }) => false,
            Err(error) => panic!("{error}"),
        },
        Step::Cancel => match storage.cancel_order(&order, now).await {
            Ok(_) => true,
            Err(OrderOperationError::Closed { .. }) => false,
            Err(error) => panic!("{error}"),
        },
        Step::Pay | Step::Poll => {
            let due = storage.due_attempts(PollPriority::Scheduled, at(60), at(90), 1);
            let due = due.await.unwrap();
            for due in &due {
                let status = if step == Step::Pay {
                    "COMPLETED"
                } else {
                    "PROCESSING"
                };
                let observation = Observation {
                    observed_at: at(61),
                    invoice_id: Some(due.invoice_id.to_string()),
                    ..exact(status)
                };
                let recorded = storage.record_observation(due, &observation).await;
                recorded.unwrap();
            }
            !due.is_empty()
        }
        Step::Deliver => {
            let due = storage
                .due_deliveries(&demo(), at(60), at(90), 2)
                .await
                .unwrap();
            for due in &due {
                let delivery = Delivery {
                    event_id: due.event.id.clone(),
                    tried_at: at(61),
                    took: SignedDuration::ZERO,
                    http_status: Some(204),
                    note: String::new(),
                };
                let recorded = storage.record_delivery(&delivery, DeliveryOutcome::Delivered);
                recorded.await.unwrap();
            }
            !due.is_empty()
        }
    }
}

/// Rows that break what holds after every transaction.
const WRONG: &str = "SELECT
    (SELECT count(*) FROM orders WHERE sequence <> (SELECT count(*) FROM events WHERE order_id = orders.id))
    + (SELECT count(*) FROM orders FULL JOIN credits ON order_id = orders.id
       WHERE (status IN ('paid', 'overpaid')) IS DISTINCT FROM (order_id IS NOT NULL))
    + (SELECT count(*) FROM (SELECT order_id FROM outbox WHERE is_head GROUP BY order_id HAVING count(*) > 1) AS heads)
    + (SELECT count(*) FROM (SELECT order_id FROM attempts WHERE state = 'creating' GROUP BY order_id
       HAVING count(*) > 1) AS creating)
    + (SELECT count(*) FROM events AS one JOIN events AS two USING (order_id)
       WHERE one.sequence < two.sequence AND (one.tx, one.position) > (two.tx, two.position))
    + (SELECT count(*) FROM (SELECT event_id FROM deliveries GROUP BY event_id HAVING count(*) > 1) AS twice)";

/// Waits until the other process has ended its step, or waits for a lock that the stopped one holds.
async fn ended_or_locked(other: &tokio::task::JoinHandle<bool>, storage: &PostgresStorage) {
    let locked = "SELECT count(*) FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let mut turns = tokio::time::interval(Duration::from_millis(2));
    turns.tick().await;
    loop {
        turns.tick().await;
        if other.is_finished() || number(storage, locked).await > 0 {
            return;
        }
    }
}

async fn number(storage: &PostgresStorage, query: &'static str) -> i64 {
    let query = sqlx::query_scalar(query);
    query.fetch_one(&storage.reader).await.unwrap()
}

/// Stops the first step before each of its messages. Returns how often.
async fn interleave(first: Step, second: Step) -> u8 {
    let (storage, database) = store().await;
    let gate = Gate::start().await;
    let url = server().url_at(gate.port, &database);
    let stopped = PostgresStorage::open_with(&url, "test", LeaseClock::Caller);
    let stopped = stopped.await.unwrap();
    for messages in 0..MOST {
        let n = messages + 1;
        awaiting(&shared(&storage), n).await;
        gate.stop_after(messages.into());
        let mut one = tokio::spawn(happens(stopped.clone(), first, n, false));
        tokio::select! {
            () = gate.stopped() => {}
            ended = &mut one => {
                ended.unwrap();
                return messages;
            }
        }
        let two = tokio::spawn(happens(storage.clone(), second, n, true));
        ended_or_locked(&two, &storage).await;
        gate.open();
        let both = [one.await.unwrap(), two.await.unwrap()];
        let is_once = matches!(first, Step::Open | Step::Claim | Step::MarkAsPaid);
        if first == second && is_once {
            let times = both.iter().filter(|is_first| **is_first).count();
            assert_eq!(times, 1, "{first:?} stopped before message {messages}");
        }
        let wrong = number(&storage, WRONG).await;
        assert_eq!(
            wrong, 0,
            "{first:?} stopped before message {messages}, {second:?}"
        );
    }
    panic!("{first:?} has more than {MOST} messages");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_process_that_stops_before_any_message_harms_no_other() {
    let mut stops = 0;
    let pairs = STEPS.map(|first| STEPS.map(|second| (first, second)));
    for pairs in pairs.as_flattened().chunks(AT_ONCE) {
        let pairs = pairs.iter();
        let pairs = pairs.map(|(first, second)| tokio::spawn(interleave(*first, *second)));
        for pair in pairs.collect::<Vec<_>>() {
            stops += u32::from(pair.await.unwrap());
        }
    }
    println!("a process was stopped {stops} times");
    assert!(stops > 200, "{stops}");
}

/// Polls of a future before its caller gives up; each round one more.
const GIVEN_UP: u8 = 6;

#[tokio::test]
async fn a_caller_that_gives_up_at_any_await_leaves_no_transaction_open() {
    let (storage, _) = store().await;
    let mut n = 0;
    for step in STEPS {
        for round in 0..GIVEN_UP {
            n += 1;
            awaiting(&shared(&storage), n).await;
            let mut given_up = Box::pin(happens(storage.clone(), step, n, false));
            let mut polls = 0;
            std::future::poll_fn(|context| {
                polls += 1;
                match given_up.as_mut().poll(context) {
                    std::task::Poll::Pending if polls <= round => std::task::Poll::Pending,
                    _ => std::task::Poll::Ready(()),
                }
            })
            .await;
        }
    }
    let busy = "SELECT count(*) FROM pg_stat_activity
         WHERE datname = current_database() AND state <> 'idle' AND pid <> pg_backend_pid()";
    let mut turns = tokio::time::interval(Duration::from_millis(5));
    for _ in 0..400 {
        turns.tick().await;
        if number(&storage, busy).await == 0 {
            break;
        }
    }
    assert_eq!(number(&storage, busy).await, 0);
    assert_eq!(number(&storage, WRONG).await, 0);
    // Every place in the pools is free.
    let mut reads = tokio::task::JoinSet::new();
    for _ in 0..40 {
        let storage = storage.clone();
        reads.spawn(async move { happens(storage, Step::Claim, 1, true).await });
    }
    reads.join_all().await;
}

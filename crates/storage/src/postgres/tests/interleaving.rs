//! Two processes, one of which stops before each of its statements in turn while the other does all of its work.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use florin_orders::fixtures::received;
use florin_orders::{Abandoned, AuditId, DecisionKind};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use super::*;
use crate::{Actor, DecideError, Fingerprint, NewDecision, OperatorStorage as _, RequestId};

/// What happens to an order.
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
    /// The gateway has answered with the invoice of an attempt.
    Confirm,
    /// The gateway's answer is lost.
    Abandon,
    Expire,
    /// An operator accepts an underpaid order as paid.
    Accept,
    /// An operator closes it.
    Close,
    KeepEmail,
    Redeliver,
}

/// The steps of a purchase without trouble: each is tried with each.
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
/// What may meet besides: each is tried in both orders.
const PAIRS: [(Step, Step); 25] = [
    (Step::Confirm, Step::Cancel),
    (Step::Confirm, Step::Expire),
    (Step::Confirm, Step::Pay),
    (Step::Confirm, Step::Abandon),
    (Step::Confirm, Step::Accept),
    (Step::Confirm, Step::Close),
    (Step::Abandon, Step::Begin),
    (Step::Abandon, Step::Cancel),
    (Step::Accept, Step::Pay),
    (Step::Accept, Step::Poll),
    (Step::Accept, Step::Accept),
    (Step::Accept, Step::Close),
    (Step::Accept, Step::Cancel),
    (Step::Accept, Step::Expire),
    (Step::Close, Step::Pay),
    (Step::Close, Step::Begin),
    (Step::Close, Step::MarkAsPaid),
    (Step::Expire, Step::Pay),
    (Step::Expire, Step::Cancel),
    (Step::Expire, Step::Begin),
    (Step::Expire, Step::MarkAsPaid),
    (Step::KeepEmail, Step::Pay),
    (Step::KeepEmail, Step::Accept),
    (Step::Redeliver, Step::Deliver),
    (Step::Redeliver, Step::Pay),
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
            // An underpaid order is polled later.
            let due = storage.due_attempts(PollPriority::Unwatched, at(900), at(930), 100);
            let mut due = due.await.unwrap();
            due.retain(|due| due.invoice_id == invoice(n).id);
            for due in &due {
                let status = if step == Step::Pay {
                    "COMPLETED"
                } else {
                    "PROCESSING"
                };
                let observation = Observation {
                    observed_at: at(901),
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
        _ => meets(storage, step, n, other).await,
    }
}

/// The same of a step of [`PAIRS`] alone.
async fn meets(storage: PostgresStorage, step: Step, n: u8, other: bool) -> bool {
    let (order, now) = (id(n), at(30));
    match step {
        Step::Confirm => {
            let (attempt, invoice) = (creating(n), invoice(n + 150));
            let opened = storage.open_attempt(&attempt, &invoice, now).await;
            opened.unwrap();
            true
        }
        Step::Abandon => {
            let reason = Abandoned::OutcomeUnknown;
            let abandoned = storage.abandon_attempt(&creating(n), reason, now).await;
            abandoned.unwrap();
            true
        }
        Step::Expire => {
            let expired = storage.expire_orders(at(90_000)).await.unwrap();
            expired.contains(&order)
        }
        Step::Accept | Step::Close => {
            let seen = storage.snapshot(&order).await.unwrap().unwrap();
            let decision = NewDecision {
                id: AuditId::from_random([if other { n + 100 } else { n }; 16]),
                kind: if step == Step::Accept {
                    DecisionKind::AcceptAsPaid
                } else {
                    DecisionKind::Close
                },
                version: seen.order.version,
                actor: Actor::operator("ada"),
                reason: "agreed by phone".into(),
            };
            match storage.decide(&order, &decision, at(910)).await {
                Ok(_) => true,
                Err(DecideError::Changed { .. } | DecideError::Refused(_)) => false,
                Err(error) => panic!("{error}"),
            }
        }
        Step::KeepEmail => {
            let kept = storage.keep_receipt_email(&order, Some("a@b.example"), now);
            kept.await.unwrap().is_some()
        }
        Step::Redeliver => {
            let events = storage.events(&demo(), None, 1_000).await.unwrap().unwrap();
            let event = events.iter().find(|event| event.order_id == order).unwrap();
            let redelivered = storage.redeliver(&demo(), &event.id, now).await;
            redelivered.unwrap()
        }
        step => panic!("{step:?} is a step of a purchase"),
    }
}

/// The attempt of an order whose invoice has been requested.
fn creating(n: u8) -> AttemptId {
    new_attempt(n + 150).id
}

/// Opens order `n` as two steps need it.
async fn prepare(storage: &PostgresStorage, steps: [Step; 2], n: u8) {
    let storage = &shared(storage);
    awaiting(storage, n).await;
    let has = |wanted: &[Step]| steps.iter().any(|step| wanted.contains(step));
    if has(&[Step::Confirm, Step::Abandon]) {
        let (order, attempt) = (id(n), new_attempt(n + 150));
        let begun = storage.begin_attempt(&order, &attempt, at(20)).await;
        begun.unwrap();
    }
    if has(&[Step::Accept, Step::Close]) {
        let due = storage.due_attempts(PollPriority::Unwatched, at(20), at(21), 100);
        let due = due.await.unwrap();
        let due = due.iter().find(|due| due.invoice_id == invoice(n).id);
        let observation = Observation {
            observed_at: at(20),
            invoice_id: Some(invoice(n).id.to_string()),
            ..received("COMPLETED", "0.0001", "6.42", "6.42")
        };
        let recorded = storage.record_observation(due.unwrap(), &observation);
        recorded.await.unwrap();
    }
}

/// Rows that break what holds after every transaction.
const WRONG: &str = "SELECT
    (SELECT count(*) FROM orders WHERE sequence <> (SELECT count(*) FROM events WHERE order_id = orders.id))
    + (SELECT count(*) FROM orders FULL JOIN credits ON order_id = orders.id
       WHERE (status IN ('paid', 'overpaid')) IS DISTINCT FROM (order_id IS NOT NULL))
    + (SELECT count(*) FROM (SELECT order_id FROM outbox WHERE is_head AND NOT was_delivered GROUP BY order_id
       HAVING count(*) > 1) AS heads)
    + (SELECT count(*) FROM (SELECT order_id FROM attempts WHERE state = 'creating' GROUP BY order_id
       HAVING count(*) > 1) AS creating)
    + (SELECT count(*) FROM events AS one JOIN events AS two USING (order_id)
       WHERE one.sequence < two.sequence AND (one.tx, one.position) > (two.tx, two.position))
    + (SELECT count(*) FROM orders LEFT JOIN events ON order_id = orders.id AND type = 'order.paid'
       WHERE (status IN ('paid', 'overpaid')) IS DISTINCT FROM (order_id IS NOT NULL))
    + (SELECT count(*) FROM (SELECT order_id FROM events WHERE type = 'order.paid' GROUP BY order_id
       HAVING count(*) > 1) AS paid)";

/// Events that were delivered more than once.
const TWICE: &str = "SELECT count(*) FROM (SELECT event_id FROM deliveries GROUP BY event_id HAVING count(*) > 1) AS twice";

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
        prepare(&storage, [first, second], n).await;
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
        let is_once = matches!(
            first,
            Step::Open | Step::Claim | Step::MarkAsPaid | Step::Accept
        );
        if first == second && is_once {
            let times = both.iter().filter(|is_first| **is_first).count();
            assert_eq!(times, 1, "{first:?} stopped before message {messages}");
        }
        let wrong = number(&storage, WRONG).await;
        assert_eq!(
            wrong, 0,
            "{first:?} stopped before message {messages}, {second:?}"
        );
        let steps = [(first, both[0]), (second, both[1])];
        let decisions = steps
            .iter()
            .filter(|(step, is_done)| *is_done && matches!(step, Step::Accept | Step::Close));
        let audited = sqlx::query_scalar("SELECT count(*) FROM audit WHERE order_id = $1");
        let audited = audited.bind(id(n).as_str().to_owned());
        let audited: i64 = audited.fetch_one(&storage.reader).await.unwrap();
        assert_eq!(
            usize::try_from(audited),
            Ok(decisions.count()),
            "{first:?} stopped before message {messages}, {second:?}"
        );
        if ![first, second].contains(&Step::Redeliver) {
            let twice = number(&storage, TWICE).await;
            assert_eq!(twice, 0, "{first:?} stopped before message {messages}");
        }
    }
    panic!("{first:?} has more than {MOST} messages");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_process_that_stops_before_any_message_harms_no_other() {
    let pairs = STEPS.map(|first| STEPS.map(|second| (first, second)));
    let stops = interleave_all(pairs.as_flattened()).await;
    assert!(stops > 200, "{stops}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whatever_meets_at_an_order_credits_once_and_loses_no_event() {
    let pairs = PAIRS.map(|(first, second)| [(first, second), (second, first)]);
    let stops = interleave_all(pairs.as_flattened()).await;
    assert!(stops > 200, "{stops}");
}

/// Interleaves each pair. Returns how often a process was stopped.
async fn interleave_all(pairs: &[(Step, Step)]) -> u32 {
    let mut stops = 0;
    for pairs in pairs.chunks(AT_ONCE) {
        let pairs = pairs.iter();
        let pairs = pairs.map(|(first, second)| tokio::spawn(interleave(*first, *second)));
        for pair in pairs.collect::<Vec<_>>() {
            stops += u32::from(pair.await.unwrap());
        }
    }
    println!("a process was stopped {stops} times");
    stops
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

//! Two processes, one of which stops before each of its statements in turn while the other does all of its work.

use std::time::Duration;

use florin_orders::{Abandoned, AuditId, DecisionKind};

use super::relay::Relay;
use super::*;
use crate::{Actor, DecideError, NewDecision, OperatorStorage as _};

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
    Confirm,
    Abandon,
    Expire,
    Accept,
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
/// What may meet besides: the first is tried with each of the others, in both orders.
const PAIRS: [(Step, &[Step]); 7] = {
    use Step::{Abandon, Accept, Begin, Cancel, Close, Confirm, Deliver, Expire, KeepEmail};
    use Step::{MarkAsPaid, Pay, Poll, Redeliver};
    [
        (Confirm, &[Cancel, Expire, Pay, Abandon, Accept, Close]),
        (Abandon, &[Begin, Cancel]),
        (Accept, &[Pay, Poll, Accept, Close, Cancel, Expire]),
        (Close, &[Pay, Begin, MarkAsPaid]),
        (Expire, &[Pay, Cancel, Begin, MarkAsPaid]),
        (KeepEmail, &[Pay, Accept]),
        (Redeliver, &[Deliver, Pay]),
    ]
};
/// Of two processes one alone does it, or has the lease.
const ONCE: [Step; 6] = [
    Step::Open,
    Step::Claim,
    Step::MarkAsPaid,
    Step::Accept,
    Step::Pay,
    Step::Poll,
];
/// More messages than any step sends. Each round has another order.
const MOST: u8 = 49;
const AT_ONCE: usize = 4;

/// Returns `true` if an operation was carried out, `false` if it came too late. It fails in no other way.
fn is_done<T, E: std::fmt::Display>(done: Result<T, E>, is_late: fn(&E) -> bool) -> bool {
    match done {
        Ok(_) => true,
        Err(error) if is_late(&error) => false,
        Err(error) => panic!("{error}"),
    }
}

/// Does a step on order `n`. Returns `true` if it is the first to do so.
async fn happens(storage: PostgresStorage, step: Step, n: u8, other: bool) -> bool {
    let (order, now) = (id(n), at(30));
    let own = if other { n + 100 } else { n + 50 };
    let is_closed = |error: &_| matches!(error, OrderOperationError::Closed { .. });
    match step {
        Step::Open => {
            let wanted = terms(&format!("new{n}"));
            storage.open(own, &wanted, 30).await.is_new
        }
        Step::Claim => {
            let (request, asked) = (RequestId([n; 32]), Fingerprint([n; 32]));
            let claim = storage.claim_request(request, asked, now, at(60)).await;
            claim.unwrap() == Claim::Acquired
        }
        Step::Begin => is_done(storage.begin(n, own, 30).await, |error| {
            use OrderOperationError::{Closed, InProgress, TooMany};
            matches!(error, InProgress | Closed { .. } | TooMany)
        }),
        Step::MarkAsPaid => {
            let marked = storage.mark_as_paid(&order, None, now).await;
            let is_first = marked.as_ref().is_ok_and(|marked| marked.is_first);
            is_done(marked, is_closed) && is_first
        }
        Step::Cancel => is_done(storage.cancel_order(&order, now).await, is_closed),
        Step::Pay | Step::Poll => {
            let status = if step == Step::Pay {
                "COMPLETED"
            } else {
                "PROCESSING"
            };
            // An underpaid order is polled later.
            let due = due_poll(&storage, n, 900).await;
            if let Some(due) = &due {
                storage.record(due, 901, exact(status)).await;
            }
            due.is_some()
        }
        Step::Deliver => {
            let due = storage.due_deliveries(&hook(), at(60), at(90), 2).await;
            let due = due.unwrap();
            for due in &due {
                storage.deliver(due, 61, DeliveryOutcome::Delivered).await;
            }
            !due.is_empty()
        }
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
            let is_accepted = step == Step::Accept;
            let decision = NewDecision {
                id: AuditId::from_random([own; 16]),
                kind: if is_accepted {
                    DecisionKind::AcceptAsPaid
                } else {
                    DecisionKind::Resolve
                },
                version: storage.found(n).await.order.version,
                actor: Actor::operator("ada"),
                reason: "agreed by phone".into(),
            };
            let decided = storage.decide(&order, &decision, at(910)).await;
            is_done(decided, |error| {
                matches!(error, DecideError::Changed { .. } | DecideError::Refused(_))
            })
        }
        Step::KeepEmail => {
            let kept = storage.keep_receipt_email(&order, Some("a@b.example"), now);
            kept.await.unwrap().is_some()
        }
        Step::Redeliver => {
            let events = storage.listed().await;
            let event = events.iter().find(|event| event.order_id == order).unwrap();
            let redelivered = storage.redeliver(&demo(), &event.id, None, now).await;
            redelivered.unwrap()
        }
    }
}

async fn due_poll(storage: &PostgresStorage, n: u8, second: i64) -> Option<DueAttempt> {
    let (now, until) = (at(second), at(second + 30));
    let due = storage.due_attempts(PollPriority::Unwatched, now, until, 100);
    let mut due = due.await.unwrap().into_iter();
    due.find(|due| due.invoice_id == invoice(n).id)
}

fn creating(n: u8) -> AttemptId {
    new_attempt(n + 150).id
}

async fn prepare(storage: &PostgresStorage, steps: [Step; 2], n: u8) {
    storage.awaiting(n).await;
    let has = |wanted: &[Step]| steps.iter().any(|step| wanted.contains(step));
    if has(&[Step::Confirm, Step::Abandon]) {
        storage.begin(n, n + 150, 20).await.unwrap();
    }
    if has(&[Step::Claim]) && n.is_multiple_of(2) {
        // Its lease has expired: the request is taken over.
        let (request, asked) = (RequestId([n; 32]), Fingerprint([n; 32]));
        let claim = storage.claim_request(request, asked, at(0), at(20)).await;
        assert_eq!(claim.unwrap(), Claim::Acquired);
    }
    if has(&[Step::Accept, Step::Close]) {
        let due = due_poll(storage, n, 20).await.unwrap();
        storage.record(&due, 20, too_little("COMPLETED")).await;
    }
}

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

/// Stops the first step before each of its messages. Returns how often.
async fn interleave(first: Step, second: Step) -> u8 {
    let (storage, database) = store().await;
    let relay = Relay::start().await;
    let stopped = relay.store(&database).await;
    for messages in 0..MOST {
        let n = messages + 1;
        prepare(&storage, [first, second], n).await;
        relay.stop_after(messages.into());
        let mut one = tokio::spawn(happens(stopped.clone(), first, n, false));
        tokio::select! {
            () = relay.stopped() => {}
            ended = &mut one => {
                ended.unwrap();
                return messages;
            }
        }
        let two = tokio::spawn(happens(storage.clone(), second, n, true));
        ended_or_locked(&two, &storage).await;
        relay.open();
        let both = [one.await.unwrap(), two.await.unwrap()];
        let place = format!("{first:?} stopped before message {messages}, {second:?}");
        if first == second && ONCE.contains(&first) {
            assert!(both[0] != both[1], "{place}");
        }
        assert_eq!(number(&storage, WRONG).await, 0, "{place}");
        let steps = [(first, both[0]), (second, both[1])];
        let is_decided = |(step, is_done): &&(Step, bool)| {
            *is_done && matches!(step, Step::Accept | Step::Close)
        };
        let decisions = steps.iter().filter(is_decided).count();
        let audited = format!("SELECT count(*) FROM audit WHERE order_id = '{}'", id(n));
        let audited = number(&storage, &audited).await;
        assert_eq!(usize::try_from(audited), Ok(decisions), "{place}");
        if ![first, second].contains(&Step::Redeliver) {
            assert_eq!(number(&storage, TWICE).await, 0, "{place}");
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
    let pairs = PAIRS.iter().flat_map(|(first, others)| {
        let both = move |second: &Step| [(*first, *second), (*second, *first)];
        others.iter().flat_map(both)
    });
    let stops = interleave_all(&pairs.collect::<Vec<_>>()).await;
    assert!(stops > 200, "{stops}");
}

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
            storage.awaiting(n).await;
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
    // Its order is opened all the same.
    let opened = "SELECT count(*) FROM orders WHERE reference LIKE 'new%'";
    assert_eq!(number(&storage, opened).await, i64::from(GIVEN_UP));
    // Every place in the pools is free.
    let mut reads = tokio::task::JoinSet::new();
    for _ in 0..40 {
        let storage = storage.clone();
        reads.spawn(async move { happens(storage, Step::Claim, 1, true).await });
    }
    reads.join_all().await;
}

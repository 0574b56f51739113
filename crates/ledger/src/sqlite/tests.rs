use std::path::PathBuf;

use jiff::SignedDuration;

use super::*;
use crate::EventType as E;
use crate::fixtures::{amount, at, exact, invoice, new_attempt, received, said, terms};
use crate::{EventType, OrderStatus, Verdict};

/// A ledger in a folder of its own, gone with the value.
struct Home {
    ledger: SqliteLedger,
    folder: PathBuf,
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn url(folder: &std::path::Path) -> String {
    format!("sqlite://{}", folder.join("florin.db").display())
}

async fn home(name: &str) -> Home {
    let folder = std::env::temp_dir().join(format!("florin-ledger-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let ledger = SqliteLedger::open(&url(&folder), "test").await.unwrap();
    Home { ledger, folder }
}

fn id(number: u8) -> OrderId {
    OrderId::from_random([number; 16])
}

fn token(number: u8) -> TokenHash {
    TokenHash([number; 32])
}

async fn order(ledger: &SqliteLedger, number: u8) -> Opened {
    let terms = terms(&format!("r{number}"));
    ledger
        .open_order(&id(number), &terms, token(number), at(86_400), at(0))
        .await
        .unwrap()
}

/// An order with an open attempt of the same number.
async fn awaiting(ledger: &SqliteLedger, number: u8) {
    order(ledger, number).await;
    attempt(ledger, number, number).await;
}

async fn attempt(ledger: &SqliteLedger, order: u8, number: u8) {
    ledger
        .begin_attempt(&id(order), &new_attempt(number), at(0))
        .await
        .unwrap();
    let invoice = invoice(number);
    ledger
        .open_attempt(&new_attempt(number).id, &invoice, at(0))
        .await
        .unwrap();
}

async fn look(ledger: &SqliteLedger, now: i64) -> DueAttempt {
    ledger
        .due_attempts(at(now), at(now + 30), 1)
        .await
        .unwrap()
        .pop()
        .expect("an attempt is due")
}

async fn see(ledger: &SqliteLedger, now: i64, mut seen: Observation) -> Observed {
    let due = look(ledger, now).await;
    seen.invoice_id = Some(due.invoice_id.to_string());
    seen.observed_at = at(now);
    ledger
        .observe(&due, &seen)
        .await
        .unwrap()
        .expect("the latest look")
}

fn demo() -> StoreId {
    StoreId::parse("demo").unwrap()
}

async fn event_types(ledger: &SqliteLedger) -> Vec<EventType> {
    let events = ledger.events(&demo(), None, 100).await.unwrap().unwrap();
    for (event, number) in events.iter().zip(1..) {
        assert_eq!(event.sequence, number, "events are numbered without a gap");
    }
    events.into_iter().map(|event| event.event_type).collect()
}

async fn status(ledger: &SqliteLedger, number: u8) -> OrderStatus {
    ledger
        .snapshot(&id(number))
        .await
        .unwrap()
        .unwrap()
        .order
        .status
}

#[tokio::test]
async fn a_reference_names_one_order_at_one_price() {
    let home = home("reference").await;
    assert!(order(&home.ledger, 1).await.is_new);
    let terms_again = terms("r1");
    let again = home
        .ledger
        .open_order(&id(2), &terms_again, token(2), at(9), at(1))
        .await
        .unwrap();
    assert_eq!((again.order.id, again.is_new), (id(1), false));
    let mut cheaper = terms("r1");
    cheaper.amount = amount("0.01");
    let refused = home
        .ledger
        .open_order(&id(3), &cheaper, token(3), at(9), at(1))
        .await;
    assert!(matches!(refused, Err(OpenError::Conflict(known)) if known.id == id(1)));
    assert_eq!(event_types(&home.ledger).await, [EventType::Created]);
}

#[tokio::test]
async fn what_was_opened_is_what_is_read() {
    let home = home("round-trip").await;
    let mut full = terms("r1");
    full.metadata
        .insert("cart".into(), serde_json::json!({"lines": [1, 2]}));
    full.assets = vec![money::CryptoCode::parse("BTC").unwrap()];
    full.customer_email = Some("a@b.example".into());
    full.tolerance = amount("0.05");
    let opened = home
        .ledger
        .open_order(&id(1), &full, token(1), at(9), at(0))
        .await
        .unwrap();
    assert_eq!(opened.order.terms, full);
}

#[tokio::test]
async fn a_token_opens_its_order_until_it_expires() {
    let home = home("token").await;
    order(&home.ledger, 1).await;
    let seen = home
        .ledger
        .order_of_token(token(1), at(86_399))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(seen.order.id, id(1));
    assert_eq!(
        home.ledger
            .order_of_token(token(1), at(86_400))
            .await
            .unwrap(),
        None
    );
    assert_eq!(
        home.ledger.order_of_token(token(2), at(0)).await.unwrap(),
        None
    );
}

#[tokio::test]
async fn the_first_sale_is_credited_once_and_told_in_order() {
    let home = home("sale").await;
    awaiting(&home.ledger, 1).await;
    assert_eq!(
        see(&home.ledger, 20, said("CHECKING")).await.verdict,
        Verdict::Waiting
    );
    see(&home.ledger, 40, exact("CHECKING")).await;
    see(&home.ledger, 60, exact("PROCESSING")).await;
    let paid = see(&home.ledger, 80, exact("COMPLETED")).await;
    assert_eq!((paid.status, paid.changed), (OrderStatus::Paid, true));
    let credit = home.ledger.settlement(&id(1)).await.unwrap().unwrap();
    assert_eq!(
        (credit.amount, credit.attempt_id),
        (amount("19.90"), new_attempt(1).id)
    );
    let told = [
        E::Created,
        E::AttemptOpened,
        E::PaymentSeen,
        E::Processing,
        E::Paid,
    ];
    assert_eq!(event_types(&home.ledger).await, told);
    let far = at(10_000_000);
    assert_eq!(
        home.ledger.due_attempts(far, far, 9).await.unwrap(),
        [],
        "settled is left alone"
    );
}

#[tokio::test]
async fn a_slow_answer_never_overwrites_a_later_one() {
    let home = home("slow").await;
    awaiting(&home.ledger, 1).await;
    let slow = look(&home.ledger, 20).await;
    let quick = look(&home.ledger, 60).await;
    let paid = home
        .ledger
        .observe(&quick, &exact("COMPLETED"))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(paid.status, OrderStatus::Paid);
    assert_eq!(
        home.ledger.observe(&slow, &said("FAILED")).await.unwrap(),
        None
    );
    assert_eq!(
        home.ledger
            .observe(&quick, &exact("COMPLETED"))
            .await
            .unwrap(),
        None
    );
    assert_eq!(status(&home.ledger, 1).await, OrderStatus::Paid);
}

#[tokio::test]
async fn two_paid_attempts_credit_one_order_once() {
    let home = home("twice").await;
    awaiting(&home.ledger, 1).await;
    attempt(&home.ledger, 1, 2).await;
    let mut due = home.ledger.due_attempts(at(60), at(90), 9).await.unwrap();
    assert_eq!(due.len(), 2, "the replaced attempt is still watched");
    due.sort_by_key(|due| due.attempt_id != new_attempt(2).id);
    for due in &due {
        let mut seen = exact("COMPLETED");
        seen.invoice_id = Some(due.invoice_id.to_string());
        home.ledger.observe(due, &seen).await.unwrap();
    }
    let told = event_types(&home.ledger).await;
    let count = |wanted| told.iter().filter(|event| **event == wanted).count();
    assert_eq!(
        (count(EventType::Paid), count(EventType::LatePayment)),
        (1, 1)
    );
    let paid_by = home
        .ledger
        .settlement(&id(1))
        .await
        .unwrap()
        .unwrap()
        .attempt_id;
    let shown = home
        .ledger
        .snapshot(&id(1))
        .await
        .unwrap()
        .unwrap()
        .order
        .current_attempt;
    assert_eq!(shown, Some(paid_by));
}

#[tokio::test]
async fn what_falls_short_is_watched_on_and_completed_by_the_rest() {
    let home = home("short").await;
    awaiting(&home.ledger, 1).await;
    see(
        &home.ledger,
        20,
        received("COMPLETED", "0.0001", "6.42", "6.42"),
    )
    .await;
    assert_eq!(status(&home.ledger, 1).await, OrderStatus::Underpaid);
    assert_eq!(home.ledger.settlement(&id(1)).await.unwrap(), None);
    see(&home.ledger, 200, exact("COMPLETED")).await;
    assert_eq!(status(&home.ledger, 1).await, OrderStatus::Paid);
}

#[tokio::test]
async fn an_attempt_is_leased_to_one_watcher_at_a_time() {
    let home = home("lease").await;
    awaiting(&home.ledger, 1).await;
    assert_eq!(
        home.ledger
            .due_attempts(at(20), at(50), 9)
            .await
            .unwrap()
            .len(),
        1
    );
    assert_eq!(
        home.ledger
            .due_attempts(at(49), at(80), 9)
            .await
            .unwrap()
            .len(),
        0
    );
    let again = home.ledger.due_attempts(at(50), at(80), 9).await.unwrap();
    assert_eq!(
        again[0].look, 2,
        "a look that never came back is made again"
    );
}

#[tokio::test]
async fn a_callback_only_brings_the_next_look_forward() {
    let home = home("hurry").await;
    awaiting(&home.ledger, 1).await;
    let known = invoice(1).id;
    assert!(home.ledger.hurry_invoice(&known, at(3)).await.unwrap());
    assert!(
        !home.ledger.hurry_invoice(&known, at(9)).await.unwrap(),
        "never back"
    );
    assert!(
        !home
            .ledger
            .hurry_invoice(&invoice(7).id, at(1))
            .await
            .unwrap()
    );
    assert_eq!(
        home.ledger
            .due_attempts(at(3), at(33), 9)
            .await
            .unwrap()
            .len(),
        1
    );
    assert_eq!(event_types(&home.ledger).await.len(), 2);
}

#[tokio::test]
async fn one_attempt_is_opened_at_a_time() {
    let home = home("one").await;
    order(&home.ledger, 1).await;
    home.ledger
        .begin_attempt(&id(1), &new_attempt(1), at(0))
        .await
        .unwrap();
    let second = home
        .ledger
        .begin_attempt(&id(1), &new_attempt(2), at(0))
        .await;
    assert!(matches!(second, Err(BeginError::InProgress)));
    assert_eq!(
        home.ledger
            .abandon_stale_attempts(at(60), at(61))
            .await
            .unwrap(),
        1
    );
    home.ledger
        .begin_attempt(&id(1), &new_attempt(2), at(61))
        .await
        .unwrap();
    // The invoice of the abandoned attempt comes late: nobody is shown it.
    home.ledger
        .open_attempt(&new_attempt(1).id, &invoice(1), at(62))
        .await
        .unwrap();
    assert_eq!(status(&home.ledger, 1).await, OrderStatus::Open);
}

#[tokio::test]
async fn no_customer_opens_a_dozen_attempts_in_a_minute() {
    let home = home("many").await;
    order(&home.ledger, 1).await;
    for number in 1..=6 {
        attempt(&home.ledger, 1, number).await;
    }
    let seventh = home
        .ledger
        .begin_attempt(&id(1), &new_attempt(7), at(59))
        .await;
    assert!(matches!(seventh, Err(BeginError::TooMany)));
    home.ledger
        .begin_attempt(&id(1), &new_attempt(7), at(60))
        .await
        .unwrap();
}

#[tokio::test]
async fn an_order_that_was_never_tried_expires_and_is_told() {
    let home = home("untried").await;
    order(&home.ledger, 1).await;
    awaiting(&home.ledger, 2).await;
    assert_eq!(home.ledger.expire_orders(at(86_399)).await.unwrap(), []);
    assert_eq!(
        home.ledger.expire_orders(at(86_400)).await.unwrap(),
        [id(1)]
    );
    assert_eq!(home.ledger.expire_orders(at(86_401)).await.unwrap(), []);
    assert_eq!(status(&home.ledger, 1).await, OrderStatus::Expired);
    assert_eq!(status(&home.ledger, 2).await, OrderStatus::AwaitingPayment);
}

#[tokio::test]
async fn a_blocked_invoice_is_told_and_another_can_be_opened() {
    let home = home("blocked").await;
    order(&home.ledger, 1).await;
    home.ledger
        .begin_attempt(&id(1), &new_attempt(1), at(0))
        .await
        .unwrap();
    let blocked = Abandoned::Blocked;
    home.ledger
        .abandon_attempt(&new_attempt(1).id, blocked, at(1))
        .await
        .unwrap();
    assert_eq!(status(&home.ledger, 1).await, OrderStatus::Blocked);
    assert_eq!(
        event_types(&home.ledger).await,
        [EventType::Created, EventType::Blocked]
    );
    attempt(&home.ledger, 1, 2).await;
    assert_eq!(status(&home.ledger, 1).await, OrderStatus::AwaitingPayment);
}

#[tokio::test]
async fn a_paid_or_cancelled_order_takes_no_attempt() {
    let home = home("closed").await;
    awaiting(&home.ledger, 1).await;
    see(&home.ledger, 20, exact("COMPLETED")).await;
    let refused = home
        .ledger
        .begin_attempt(&id(1), &new_attempt(9), at(30))
        .await;
    assert!(matches!(
        refused,
        Err(BeginError::Closed {
            from: OrderStatus::Paid,
            ..
        })
    ));
    let cancelled = home.ledger.cancel_order(&id(1), at(30)).await;
    assert!(matches!(
        cancelled,
        Err(BeginError::Closed {
            from: OrderStatus::Paid,
            ..
        })
    ));
    order(&home.ledger, 2).await;
    home.ledger.cancel_order(&id(2), at(30)).await.unwrap();
    home.ledger.cancel_order(&id(2), at(31)).await.unwrap();
    let refused = home
        .ledger
        .begin_attempt(&id(2), &new_attempt(9), at(30))
        .await;
    assert!(matches!(
        refused,
        Err(BeginError::Closed {
            from: OrderStatus::Cancelled,
            ..
        })
    ));
}

#[tokio::test]
async fn a_cancelled_order_never_asks_for_money_again() {
    let home = home("cancelled").await;
    awaiting(&home.ledger, 1).await;
    home.ledger.cancel_order(&id(1), at(5)).await.unwrap();
    for (now, word) in [
        (100, "CHECKING"),
        (1000, "CHECKING"),
        (2000, "FAILED"),
        (4000, "CANCELLED"),
    ] {
        see(&home.ledger, now, said(word)).await;
        assert_eq!(status(&home.ledger, 1).await, OrderStatus::Cancelled);
        let refused = home
            .ledger
            .begin_attempt(&id(1), &new_attempt(9), at(now))
            .await;
        assert!(matches!(refused, Err(BeginError::Closed { .. })), "{word}");
    }
    assert_eq!(
        event_types(&home.ledger).await,
        [E::Created, E::AttemptOpened, E::Cancelled]
    );
    see(&home.ledger, 9000, exact("COMPLETED")).await;
    assert_eq!(
        status(&home.ledger, 1).await,
        OrderStatus::Paid,
        "late money is credited"
    );
}

#[tokio::test]
async fn an_invoice_that_comes_after_the_cancellation_is_not_shown() {
    let home = home("crossing").await;
    for (number, is_good) in [(1, true), (2, false)] {
        order(&home.ledger, number).await;
        home.ledger
            .begin_attempt(&id(number), &new_attempt(number), at(0))
            .await
            .unwrap();
        home.ledger.cancel_order(&id(number), at(1)).await.unwrap();
        let attempt = new_attempt(number).id;
        if is_good {
            home.ledger
                .open_attempt(&attempt, &invoice(number), at(2))
                .await
                .unwrap();
        } else {
            home.ledger
                .abandon_attempt(&attempt, Abandoned::Blocked, at(2))
                .await
                .unwrap();
        }
        assert_eq!(status(&home.ledger, number).await, OrderStatus::Cancelled);
    }
    assert_eq!(
        home.ledger
            .due_attempts(at(60), at(90), 9)
            .await
            .unwrap()
            .len(),
        1,
        "watched"
    );
}

#[tokio::test]
async fn while_money_is_seen_nothing_more_is_asked_for() {
    for (name, seen) in [
        ("money-seen", exact("CHECKING")),
        ("money-confirming", exact("PROCESSING")),
        (
            "money-short",
            received("COMPLETED", "0.0001", "6.42", "6.42"),
        ),
    ] {
        let home = home(name).await;
        awaiting(&home.ledger, 1).await;
        // Another attempt is begun, and its invoice arrives only after the money on the first was seen.
        home.ledger
            .begin_attempt(&id(1), &new_attempt(2), at(1))
            .await
            .unwrap();
        let before = see(&home.ledger, 20, seen).await.status;
        home.ledger
            .open_attempt(&new_attempt(2).id, &invoice(2), at(21))
            .await
            .unwrap();
        assert_eq!(status(&home.ledger, 1).await, before, "{name}");
        let third = home
            .ledger
            .begin_attempt(&id(1), &new_attempt(3), at(22))
            .await;
        assert!(matches!(third, Err(BeginError::Closed { .. })), "{name}");
        let cancelled = home.ledger.cancel_order(&id(1), at(23)).await;
        assert!(
            matches!(cancelled, Err(BeginError::Closed { .. })),
            "{name}"
        );
        let shown = home.ledger.snapshot(&id(1)).await.unwrap().unwrap().order;
        assert_eq!(
            (shown.current_attempt, shown.has_money),
            (Some(new_attempt(1).id), true)
        );
    }
}

#[tokio::test]
async fn a_late_payment_is_told_with_its_own_invoice() {
    let home = home("late-about").await;
    awaiting(&home.ledger, 1).await;
    attempt(&home.ledger, 1, 2).await;
    let mut due = home.ledger.due_attempts(at(60), at(90), 9).await.unwrap();
    due.sort_by_key(|due| due.attempt_id != new_attempt(2).id);
    for (due, seen) in due.iter().zip([
        exact("COMPLETED"),
        received("COMPLETED", "0.0001", "6.42", "6.42"),
    ]) {
        let seen = Observation {
            invoice_id: Some(due.invoice_id.to_string()),
            ..seen
        };
        home.ledger.observe(due, &seen).await.unwrap();
    }
    let events = home.ledger.events(&demo(), None, 9).await.unwrap().unwrap();
    let late = events.last().unwrap();
    assert_eq!(late.event_type, E::LatePayment);
    let payload: serde_json::Value = serde_json::from_str(&late.payload).unwrap();
    assert_eq!(payload["data"]["order"]["status"], "paid");
    assert_eq!(payload["data"]["order"]["attempt"]["invoice_id"], "inv_1");
    assert_eq!(
        payload["data"]["order"]["attempt"]["received_in_crypto"],
        "0.0001"
    );
}

#[tokio::test]
async fn a_callback_is_heard_long_after_the_last_look() {
    let home = home("long-after").await;
    awaiting(&home.ledger, 1).await;
    let month = 30 * 24 * 3600;
    see(&home.ledger, month, said("FAILED")).await;
    let much_later = at(month + 3600);
    assert_eq!(
        home.ledger
            .due_attempts(much_later, much_later, 9)
            .await
            .unwrap(),
        []
    );
    assert!(
        home.ledger
            .hurry_invoice(&invoice(1).id, much_later)
            .await
            .unwrap()
    );
    see(&home.ledger, month + 3600, exact("COMPLETED")).await;
    assert_eq!(status(&home.ledger, 1).await, OrderStatus::Paid);
    assert!(
        !home
            .ledger
            .hurry_invoice(&invoice(1).id, much_later)
            .await
            .unwrap(),
        "settled"
    );
}

#[tokio::test]
async fn a_callback_during_a_look_leads_to_another_look() {
    let home = home("during").await;
    awaiting(&home.ledger, 1).await;
    let under_way = look(&home.ledger, 20).await;
    assert!(
        home.ledger
            .hurry_invoice(&invoice(1).id, at(21))
            .await
            .unwrap()
    );
    assert_eq!(
        home.ledger.due_attempts(at(21), at(51), 9).await.unwrap(),
        [],
        "one at a time"
    );
    let seen = Observation {
        observed_at: at(22),
        ..said("CHECKING")
    };
    home.ledger.observe(&under_way, &seen).await.unwrap();
    assert_eq!(
        home.ledger
            .due_attempts(at(22), at(52), 9)
            .await
            .unwrap()
            .len(),
        1
    );
}

#[tokio::test]
async fn what_is_held_is_news_once_and_looked_at_rarely() {
    let home = home("held").await;
    awaiting(&home.ledger, 1).await;
    assert!(see(&home.ledger, 20, said("LOST")).await.changed);
    assert_eq!(
        home.ledger.due_attempts(at(79), at(109), 9).await.unwrap(),
        []
    );
    assert!(!see(&home.ledger, 80, said("LOST")).await.changed);
    assert_eq!(status(&home.ledger, 1).await, OrderStatus::AwaitingPayment);
}

#[tokio::test]
async fn a_token_that_is_over_is_forgotten() {
    let home = home("forgotten-token").await;
    order(&home.ledger, 1).await;
    assert_eq!(home.ledger.forget_tokens(at(86_399)).await.unwrap(), 0);
    assert_eq!(home.ledger.forget_tokens(at(86_400)).await.unwrap(), 1);
}

#[tokio::test]
async fn saying_paid_moves_the_screen_and_credits_nothing() {
    let home = home("says-paid").await;
    order(&home.ledger, 1).await;
    let nothing = home.ledger.mark_as_paid(&id(1), at(1)).await;
    assert!(matches!(
        nothing,
        Err(BeginError::Closed {
            from: OrderStatus::Open,
            ..
        })
    ));
    attempt(&home.ledger, 1, 1).await;
    let marked = home.ledger.mark_as_paid(&id(1), at(5)).await.unwrap();
    assert_eq!(marked.order.status, OrderStatus::Checking);
    let again = home.ledger.mark_as_paid(&id(1), at(9)).await.unwrap();
    assert_eq!(
        again.attempt.unwrap().invoice().unwrap().marked_as_paid_at,
        Some(at(5))
    );
    assert_eq!(home.ledger.settlement(&id(1)).await.unwrap(), None);
}

#[tokio::test]
async fn a_store_hears_an_orders_events_in_their_order() {
    let home = home("outbox").await;
    awaiting(&home.ledger, 1).await;
    let due = home
        .ledger
        .due_deliveries(&demo(), at(1), at(31), 9)
        .await
        .unwrap();
    assert_eq!(due.len(), 1, "the second event waits for the first");
    assert_eq!(due[0].event.event_type, EventType::Created);
    assert_eq!(
        home.ledger
            .due_deliveries(&demo(), at(2), at(32), 9)
            .await
            .unwrap(),
        []
    );
    let mut tried = Delivery {
        event_id: due[0].event.id.clone(),
        tried_at: at(2),
        http_status: Some(500),
        note: "answered 500".into(),
    };
    let later = at(7);
    home.ledger
        .record_delivery(&tried, DeliveryOutcome::Retry(later))
        .await
        .unwrap();
    assert_eq!(
        home.ledger
            .due_deliveries(&demo(), at(6), at(36), 9)
            .await
            .unwrap(),
        []
    );
    let again = home
        .ledger
        .due_deliveries(&demo(), at(7), at(37), 9)
        .await
        .unwrap();
    assert_eq!((again[0].tries, &again[0].event), (1, &due[0].event));
    tried.http_status = Some(204);
    home.ledger
        .record_delivery(&tried, DeliveryOutcome::Delivered)
        .await
        .unwrap();
    let next = home
        .ledger
        .due_deliveries(&demo(), at(7), at(37), 9)
        .await
        .unwrap();
    assert_eq!(next[0].event.event_type, EventType::AttemptOpened);
    let store = demo();
    let deliveries = home
        .ledger
        .deliveries(&store, &tried.event_id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        deliveries.iter().map(|t| t.http_status).collect::<Vec<_>>(),
        [Some(500), Some(204)]
    );
    assert!(
        home.ledger
            .redeliver(&store, &tried.event_id, at(50))
            .await
            .unwrap()
    );
    assert_eq!(
        home.ledger
            .due_deliveries(&demo(), at(50), at(80), 9)
            .await
            .unwrap()[0]
            .tries,
        0
    );
}

#[tokio::test]
async fn another_store_sees_nothing() {
    let home = home("apart").await;
    order(&home.ledger, 1).await;
    let other = StoreId::parse("other").unwrap();
    let event = EventId::of(&id(1), 1);
    assert_eq!(
        home.ledger.events(&other, None, 9).await.unwrap(),
        Some(Vec::new())
    );
    assert_eq!(
        home.ledger.events(&other, Some(&event), 9).await.unwrap(),
        None
    );
    assert_eq!(
        home.ledger
            .orders(&other, &OrderFilter::default())
            .await
            .unwrap(),
        []
    );
    assert_eq!(home.ledger.deliveries(&other, &event).await.unwrap(), None);
    assert!(!home.ledger.redeliver(&other, &event, at(0)).await.unwrap());
}

#[tokio::test]
async fn orders_come_in_pages_newest_first() {
    let home = home("pages").await;
    for number in 1..=5 {
        let terms = terms(&format!("r{number}"));
        let now = at(i64::from(number));
        home.ledger
            .open_order(&id(number), &terms, token(number), at(9), now)
            .await
            .unwrap();
    }
    let store = demo();
    let mut filter = OrderFilter {
        limit: 2,
        ..OrderFilter::default()
    };
    let mut seen = Vec::new();
    loop {
        let page = home.ledger.orders(&store, &filter).await.unwrap();
        let Some(last) = page.last() else { break };
        filter.after = Some(last.order.id.clone());
        seen.extend(page.into_iter().map(|snapshot| snapshot.order.id));
    }
    assert_eq!(seen, [5, 4, 3, 2, 1].map(id));
}

#[tokio::test]
async fn the_database_itself_refuses_to_rewrite_history() {
    let home = home("triggers").await;
    awaiting(&home.ledger, 1).await;
    see(&home.ledger, 20, exact("COMPLETED")).await;
    for (statement, refusal) in [
        (
            "UPDATE orders SET amount = '0.01'",
            "the terms of an order never change",
        ),
        (
            "UPDATE orders SET status = 'open'",
            "a paid order stays paid",
        ),
        ("DELETE FROM orders", "orders are never deleted"),
        (
            "UPDATE attempts SET address = 'mine'",
            "an invoice never changes",
        ),
        (
            "UPDATE observations SET raw = ''",
            "observations never change",
        ),
        ("DELETE FROM observations", "observations are never deleted"),
        ("UPDATE credits SET amount = '0'", "credits never change"),
        ("DELETE FROM credits", "credits are never deleted"),
        ("UPDATE events SET payload = ''", "events never change"),
        ("DELETE FROM events", "events are never deleted"),
    ] {
        let refused = sqlx::query(statement)
            .execute(&home.ledger.writer)
            .await
            .unwrap_err();
        assert!(
            refused.to_string().contains(refusal),
            "{statement}: {refused}"
        );
    }
    order(&home.ledger, 2).await;
    let unpaid = "UPDATE orders SET status = 'paid' WHERE reference = 'r2'";
    let refused = sqlx::query(unpaid)
        .execute(&home.ledger.writer)
        .await
        .unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("an order is paid only with its credit"),
        "{refused}"
    );
}

#[tokio::test]
async fn a_database_serves_one_environment() {
    let home = home("environment").await;
    let other = SqliteLedger::open(&url(&home.folder), "production")
        .await
        .unwrap_err();
    assert!(matches!(other, LedgerError::OtherEnvironment { ref found, .. } if found == "test"));
}

#[tokio::test]
async fn a_database_that_cannot_be_written_is_named() {
    let error = SqliteLedger::open("sqlite:///nowhere/at/all.db", "test")
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("sqlite:///nowhere/at/all.db cannot be opened"),
        "{error}"
    );
}

#[tokio::test]
async fn what_was_committed_survives_the_process() {
    let home = home("reopen").await;
    awaiting(&home.ledger, 1).await;
    home.ledger.close().await;
    let again = SqliteLedger::open(&url(&home.folder), "test")
        .await
        .unwrap();
    let found = again.snapshot(&id(1)).await.unwrap().unwrap();
    assert_eq!(found.order.status, OrderStatus::AwaitingPayment);
    let due = again
        .due_attempts(at(15), at(15) + SignedDuration::from_secs(30), 9)
        .await
        .unwrap();
    assert_eq!(
        due.len(),
        1,
        "every open attempt is watched after a restart"
    );
    again.close().await;
}

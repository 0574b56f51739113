//! Looks: leased, hurried, held, and in their order.

use super::*;

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
async fn an_attempt_is_leased_to_one_watcher_at_a_time() {
    let home = home("lease").await;
    awaiting(&home.ledger, 1).await;
    assert_eq!(
        home.ledger
            .due_attempts(Urgency::Planned, at(20), at(50), 9)
            .await
            .unwrap()
            .len(),
        1
    );
    assert_eq!(
        home.ledger
            .due_attempts(Urgency::Planned, at(49), at(80), 9)
            .await
            .unwrap()
            .len(),
        0
    );
    let again = home
        .ledger
        .due_attempts(Urgency::Planned, at(50), at(80), 9)
        .await
        .unwrap();
    assert_eq!(
        again[0].look, 2,
        "a look that never came back is made again"
    );
}

#[tokio::test]
async fn a_look_that_was_under_way_when_the_process_died_is_due_at_the_next_start() {
    let mut home = home("died").await;
    awaiting(&home.ledger, 1).await;
    let planned = Urgency::Planned;
    let before = home.ledger.due_attempts(planned, at(20), at(80), 9).await;
    assert_eq!(before.unwrap()[0].look, 1);
    home.ledger.close().await;
    home.ledger = SqliteLedger::open(&url(&home.folder), "test")
        .await
        .unwrap();
    let after = home.ledger.due_attempts(planned, at(21), at(81), 9).await;
    assert_eq!(after.unwrap()[0].look, 2);
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
            .due_attempts(Urgency::Hinted, at(3), at(33), 9)
            .await
            .unwrap()
            .len(),
        1
    );
    assert_eq!(event_types(&home.ledger).await.len(), 2);
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
            .due_attempts(Urgency::Planned, much_later, much_later, 9)
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
        home.ledger
            .due_attempts(Urgency::Hinted, at(21), at(51), 9)
            .await
            .unwrap(),
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
            .due_attempts(Urgency::Hinted, at(22), at(52), 9)
            .await
            .unwrap()
            .len(),
        1
    );
}

#[tokio::test]
async fn a_callback_during_the_look_that_settles_leads_to_no_other() {
    let home = home("during-settling").await;
    awaiting(&home.ledger, 1).await;
    let under_way = look(&home.ledger, 20).await;
    home.ledger
        .hurry_invoice(&invoice(1).id, at(21))
        .await
        .unwrap();
    let seen = Observation {
        observed_at: at(22),
        ..exact("COMPLETED")
    };
    home.ledger.observe(&under_way, &seen).await.unwrap();
    for urgency in [Urgency::Hinted, Urgency::Watched, Urgency::Planned] {
        assert_eq!(due_of(&home.ledger, urgency, 30).await, []);
    }
}

#[tokio::test]
async fn what_is_held_is_news_once_and_looked_at_rarely() {
    let home = home("held").await;
    awaiting(&home.ledger, 1).await;
    assert!(see(&home.ledger, 20, said("LOST")).await.changed);
    assert_eq!(
        home.ledger
            .due_attempts(Urgency::Planned, at(79), at(109), 9)
            .await
            .unwrap(),
        []
    );
    assert!(!see(&home.ledger, 80, said("LOST")).await.changed);
    assert_eq!(status(&home.ledger, 1).await, OrderStatus::AwaitingPayment);
}

async fn due_of(ledger: &SqliteLedger, urgency: Urgency, now: i64) -> Vec<DueAttempt> {
    let due = ledger.due_attempts(urgency, at(now), at(now + 30), 9).await;
    due.unwrap()
}

#[tokio::test]
async fn a_callback_leads_to_a_look_two_seconds_after_the_last_one_whatever_came_of_that() {
    let home = home("debounce").await;
    awaiting(&home.ledger, 1).await;
    let known = invoice(1).id;
    let failed = look(&home.ledger, 20).await;
    home.ledger.defer_attempt(&failed, at(25)).await.unwrap();
    for _ in 0..100 {
        home.ledger.hurry_invoice(&known, at(20)).await.unwrap();
    }
    assert_eq!(due_of(&home.ledger, Urgency::Hinted, 21).await, []);
    assert_eq!(due_of(&home.ledger, Urgency::Hinted, 22).await.len(), 1);
}

#[tokio::test]
async fn a_look_is_as_urgent_as_what_asked_for_it_and_stays_so_when_it_is_deferred() {
    let home = home("urgency").await;
    awaiting(&home.ledger, 1).await;
    let (order, known) = (id(1), invoice(1).id);
    assert!(home.ledger.hurry_order(&order, at(5)).await.unwrap());
    assert_eq!(due_of(&home.ledger, Urgency::Planned, 5).await, []);
    let watched = due_of(&home.ledger, Urgency::Watched, 5).await;
    home.ledger.defer_attempt(&watched[0], at(6)).await.unwrap();
    let watched = due_of(&home.ledger, Urgency::Watched, 6).await;
    assert_eq!(watched[0].urgency, Urgency::Watched);
    // Hinted while it was under way: it is not forgotten when the look has to be made again.
    assert!(home.ledger.hurry_invoice(&known, at(7)).await.unwrap());
    home.ledger.defer_attempt(&watched[0], at(8)).await.unwrap();
    assert_eq!(due_of(&home.ledger, Urgency::Watched, 8).await, []);
    assert_eq!(due_of(&home.ledger, Urgency::Hinted, 8).await.len(), 1);
    let later = at(8 + 30);
    let again = home.ledger.due_attempts(Urgency::Planned, later, later, 9);
    assert_eq!(again.await.unwrap().len(), 1, "a lost look is made again");
}

#[tokio::test]
async fn a_deferral_that_comes_late_does_not_end_a_later_look() {
    let home = home("late-deferral").await;
    awaiting(&home.ledger, 1).await;
    let slow = look(&home.ledger, 20).await;
    look(&home.ledger, 60).await;
    home.ledger.defer_attempt(&slow, at(61)).await.unwrap();
    assert_eq!(due_of(&home.ledger, Urgency::Planned, 62).await, []);
}

#[tokio::test]
async fn a_callback_during_the_last_look_of_all_leads_to_another_look() {
    let home = home("during-the-last").await;
    awaiting(&home.ledger, 1).await;
    let (month, known) = (30 * 24 * 3600, invoice(1).id);
    see(&home.ledger, month, said("FAILED")).await;
    // The service says FAILED to a look that a callback asked for, completes the payment, and says so meanwhile.
    home.ledger
        .hurry_invoice(&known, at(month + 60))
        .await
        .unwrap();
    let under_way = look(&home.ledger, month + 60).await;
    home.ledger
        .hurry_invoice(&known, at(month + 61))
        .await
        .unwrap();
    let seen = Observation {
        observed_at: at(month + 62),
        ..said("FAILED")
    };
    home.ledger.observe(&under_way, &seen).await.unwrap();
    see(&home.ledger, month + 63, exact("COMPLETED")).await;
    assert_eq!(status(&home.ledger, 1).await, OrderStatus::Paid);
}

#[tokio::test]
async fn a_callback_against_a_settled_invoice_leads_to_a_look_after_a_minute_and_no_other_does() {
    let home = home("doubt").await;
    awaiting(&home.ledger, 1).await;
    let known = invoice(1).id;
    assert!(!home.ledger.doubt_invoice(&known, at(5)).await.unwrap());
    see(&home.ledger, 20, exact("COMPLETED")).await;
    assert!(!home.ledger.hurry_invoice(&known, at(21)).await.unwrap());
    for _ in 0..100 {
        home.ledger.doubt_invoice(&known, at(21)).await.unwrap();
    }
    assert_eq!(due_of(&home.ledger, Urgency::Hinted, 79).await, []);
    assert_eq!(due_of(&home.ledger, Urgency::Hinted, 80).await.len(), 1);
    let later = 30 * 24 * 3600;
    see(&home.ledger, later, exact("COMPLETED")).await;
    assert_eq!(due_of(&home.ledger, Urgency::Planned, 2 * later).await, []);
    assert!(
        home.ledger
            .doubt_invoice(&known, at(2 * later))
            .await
            .unwrap()
    );
    see(&home.ledger, 2 * later, exact("FAILED")).await;
    assert_eq!(event_types(&home.ledger).await.last(), Some(&E::Reverted));
}

/// Whether the order's attempt failed after a payment was seen.
async fn failed_seen(ledger: &SqliteLedger) -> bool {
    let snapshot = ledger.snapshot(&id(1)).await.unwrap().unwrap();
    assert_eq!(snapshot.order.status, OrderStatus::Failed);
    snapshot.attempt.unwrap().invoice().unwrap().was_seen
}

#[tokio::test]
async fn a_failure_after_nothing_was_seen_is_told_from_one_of_a_payment_that_was() {
    let home = home("unseen").await;
    awaiting(&home.ledger, 1).await;
    see(&home.ledger, 20, said("CHECKING")).await;
    see(&home.ledger, 60, said("FAILED")).await;
    assert!(!failed_seen(&home.ledger).await);

    let home = self::home("seen").await;
    awaiting(&home.ledger, 1).await;
    see(&home.ledger, 20, exact("CHECKING")).await;
    // Gone from the chain, and then from the service's record.
    see(&home.ledger, 60, said("CHECKING")).await;
    see(&home.ledger, 120, said("FAILED")).await;
    assert!(failed_seen(&home.ledger).await);

    let home = self::home("stuck").await;
    awaiting(&home.ledger, 1).await;
    see(&home.ledger, 20, exact("FAILED")).await;
    assert!(failed_seen(&home.ledger).await);
}

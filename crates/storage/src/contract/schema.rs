//! Invariants that the database itself guards.

use super::*;

pub(super) async fn the_database_itself_refuses_to_rewrite_history(backend: Backend) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    observe(&test.storage, 20, exact("COMPLETED")).await;
    for (statement, refusal) in [
        (
            "UPDATE orders SET amount = '0.01'",
            "the terms of an order never change",
        ),
        (
            "UPDATE orders SET lines = '[]'",
            "the lines of an order never change",
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
        (
            "UPDATE observations SET times = 0",
            "a repeated observation is counted",
        ),
        ("DELETE FROM observations", "observations are never deleted"),
        ("UPDATE credits SET amount = '0'", "credits never change"),
        ("DELETE FROM credits", "credits are never deleted"),
        ("UPDATE events SET payload = ''", "events never change"),
        ("DELETE FROM events", "events are never deleted"),
    ] {
        let refused = test.execute(statement).await.unwrap_err();
        assert!(
            refused.to_string().contains(refusal),
            "{statement}: {refused}"
        );
    }
    order(&test.storage, 2).await;
    let unpaid = "UPDATE orders SET status = 'paid' WHERE reference = 'r2'";
    let refused = test.execute(unpaid).await.unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("an order is paid only with its credit"),
        "{refused}"
    );
}

pub(super) async fn a_database_serves_one_environment(backend: Backend) {
    let test = backend.test().await;
    let other = test.open_for("production").await.unwrap_err();
    assert!(matches!(other, StorageError::OtherEnvironment { ref found, .. } if found == "test"));
}

//! What the database itself refuses.

use super::*;

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

//! A judge that finds nothing wrong is worth something only when it would find what is wrong: copies of good evidence
//! are spoilt, each in one way, and each must be noticed by the invariant that is about it.

use std::fs;
use std::path::Path;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};
use support::Folder;
use support::campaign::{Auditor, Campaign};

use super::log_lines::{self, Lines};

/// How a copy is spoilt.
enum Spoil {
    /// By statements; the last must change a row.
    Ledger(&'static str),
    /// Lines of the shop's log; answers whether it changed something.
    ShopLog(fn(&mut Lines) -> bool),
    /// Lines of the sandbox's log.
    SandboxLog(fn(&mut Lines) -> bool),
}

use Spoil::{Ledger, SandboxLog, ShopLog};

/// What is done, and the invariant that must notice it.
const SPOILS: [(&str, &str, Spoil); 32] = [
    (
        "a credit is gone",
        "credited-once",
        Ledger("DELETE FROM credits WHERE rowid = (SELECT min(rowid) FROM credits)"),
    ),
    (
        "an order is credited twice, the primary key notwithstanding",
        "credited-once",
        Ledger(
            "CREATE TABLE copy AS SELECT * FROM credits;
             DROP TABLE credits;
             ALTER TABLE copy RENAME TO credits;
             INSERT INTO credits SELECT * FROM credits LIMIT 1",
        ),
    ),
    (
        "an order is credited that nobody paid",
        "credit-has-payment",
        Ledger(
            "INSERT INTO credits (order_id, attempt_id, observation_id, amount, currency, credited_at)
             SELECT orders.id, attempts.id, (SELECT min(id) FROM observations), amount, currency, created_at
             FROM orders JOIN attempts ON order_id = orders.id
             WHERE attempts.state = 'open' AND orders.id NOT IN (SELECT order_id FROM credits) LIMIT 1",
        ),
    ),
    (
        "a credit came before its payment",
        "credit-has-payment",
        Ledger("UPDATE credits SET credited_at = credited_at - 600000"),
    ),
    (
        "a credit is a cent too small",
        "sums-agree",
        Ledger(
            "UPDATE credits SET amount = '0.01' WHERE rowid = (SELECT min(rowid) FROM credits)",
        ),
    ),
    (
        "an order is paid without a credit",
        "paid-has-credit",
        Ledger(
            "UPDATE orders SET status = 'paid' WHERE id =
             (SELECT id FROM orders WHERE id NOT IN (SELECT order_id FROM credits) LIMIT 1)",
        ),
    ),
    (
        "the last step of an order has no event",
        "state-has-event",
        Ledger(
            "CREATE TABLE gone AS SELECT max(position) AS position, order_id FROM events GROUP BY order_id
                 HAVING count(*) > 2 AND max(position) = (SELECT position FROM events AS paid
                     WHERE paid.order_id = events.order_id AND type = 'order.paid') LIMIT 1;
             DELETE FROM outbox WHERE position IN (SELECT position FROM gone);
             DELETE FROM events WHERE position IN (SELECT position FROM gone);
             UPDATE orders SET sequence = sequence - 1 WHERE id IN (SELECT order_id FROM gone)",
        ),
    ),
    (
        "a paid order is no longer paid",
        "paid-stays-paid",
        Ledger(
            "UPDATE orders SET status = 'underpaid' WHERE id = (SELECT order_id FROM credits LIMIT 1)",
        ),
    ),
    (
        "a second payment is told to nobody",
        "late-is-told",
        Ledger("UPDATE events SET type = 'order.processing' WHERE type = 'order.late_payment'"),
    ),
    (
        "a number is left out",
        "no-gap",
        Ledger(
            "UPDATE events SET sequence = sequence + 1 WHERE position =
                 (SELECT max(position) FROM events GROUP BY order_id LIMIT 1)",
        ),
    ),
    (
        "an event says another number than it has",
        "event-is-true",
        Ledger("UPDATE events SET payload = replace(payload, '\"sequence\":2', '\"sequence\":9')"),
    ),
    (
        "an event is in no outbox",
        "outbox-is-settled",
        Ledger("DELETE FROM outbox WHERE position = (SELECT max(position) FROM outbox)"),
    ),
    (
        "an event waits for ever",
        "outbox-is-settled",
        Ledger(
            "UPDATE outbox SET state = 'pending' WHERE position = (SELECT max(position) FROM outbox)",
        ),
    ),
    (
        "an event was never delivered",
        "event-is-taken",
        ShopLog(log_lines::an_event_never_came),
    ),
    (
        "the shop was never told that an order is paid",
        "shop-heard-paid",
        ShopLog(log_lines::no_payment_was_told),
    ),
    (
        "the shop was told what is in no ledger",
        "delivery-has-event",
        ShopLog(log_lines::an_id_is_drawn_anew),
    ),
    (
        "an event came the second time with other bytes",
        "same-bytes",
        ShopLog(log_lines::a_body_has_another_byte),
    ),
    (
        "a delivery was signed by somebody else",
        "signed",
        ShopLog(log_lines::a_signature_is_of_something_else),
    ),
    (
        "a delivery was signed an hour before it came",
        "signed",
        ShopLog(log_lines::a_delivery_came_an_hour_later),
    ),
    (
        "two events of an order came the wrong way round",
        "in-order",
        ShopLog(log_lines::the_second_event_came_first),
    ),
    (
        "two attempts show one address",
        "invoice-shown-once",
        Ledger(
            "UPDATE attempts SET address = (SELECT min(address) FROM attempts)
             WHERE address = (SELECT max(address) FROM attempts)",
        ),
    ),
    (
        "a customer was shown another address than the service gave",
        "row-is-invoice",
        Ledger(
            "UPDATE attempts SET address = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx'
             WHERE id = (SELECT min(id) FROM attempts WHERE state = 'open' AND flow = 'custom')",
        ),
    ),
    (
        "a request for an invoice was repeated",
        "asked-once",
        SandboxLog(log_lines::an_invoice_is_asked_for_again),
    ),
    (
        "a request for a session was repeated",
        "asked-once",
        SandboxLog(log_lines::a_session_is_asked_for_again),
    ),
    (
        "a customer was sent to another page than the service named",
        "row-is-invoice",
        Ledger(
            "UPDATE attempts SET page_url = page_url || '0'
             WHERE id = (SELECT min(id) FROM attempts WHERE page_url IS NOT NULL)",
        ),
    ),
    (
        "a lost invoice is of no attempt that was given up",
        "lost-is-explained",
        Ledger("UPDATE attempts SET state = 'refused' WHERE state = 'unclear'"),
    ),
    (
        "an invoice was shown and paid before it was written down",
        "paid-is-held",
        Ledger(
            "UPDATE attempts SET state = 'unclear', invoice_id = NULL
             WHERE id = (SELECT min(attempt_id) FROM credits)",
        ),
    ),
    (
        "a pause was not kept",
        "pauses-kept",
        SandboxLog(log_lines::a_pause_was_asked_for),
    ),
    (
        "nobody watches an attempt any more",
        "still-watched",
        Ledger(
            "UPDATE attempts SET next_poll_at = NULL WHERE state = 'open' AND standing <> 'settled'",
        ),
    ),
    (
        "an attempt stays half made",
        "still-watched",
        Ledger("UPDATE attempts SET state = 'creating' WHERE state = 'unclear'"),
    ),
    (
        "a row points to nothing",
        "file-is-sound",
        Ledger(
            "UPDATE credits SET observation_id = -1 WHERE rowid = (SELECT min(rowid) FROM credits)",
        ),
    ),
    (
        "a client token stands in the file",
        "no-token-in-clear",
        // SHA-256 of sixty-four times the letter c, by sha256sum(1).
        Ledger(
            "INSERT INTO client_tokens (hash, order_id, expires_at)
                 SELECT x'52b6419d27bd7f547cee3b92f8c17a908b8a49601ecbec161e5030de1dfe9e0a', id, 0 FROM orders LIMIT 1;
             UPDATE orders SET title =
                 'cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc'
             WHERE id = (SELECT min(id) FROM orders)",
        ),
    ),
];

/// Spoils copies of a campaign's evidence in every way. Each must be noticed, by the invariant that is about it.
pub(crate) async fn whatever_is_spoilt_is_noticed(campaign: &Campaign, auditor: &Auditor) {
    for (what, invariant, spoil) in &SPOILS {
        let mut verdicts = String::new();
        let mut noticed = false;
        for evidence in &campaign.evidence {
            let copy = copy(evidence);
            if spoil.spoils(&copy).await {
                let verdict = auditor.judges(copy.path());
                noticed = verdict.broken().contains(invariant) && verdict.code == Some(1);
                verdicts.push_str(&verdict.printed);
            }
            if noticed {
                break;
            }
        }
        assert!(
            noticed,
            "{what}: {invariant} does not notice it in any lane\n{verdicts}"
        );
    }
}

fn copy(evidence: &Folder) -> Folder {
    let copy = Folder::new();
    for name in ["florin.db", "sandbox.jsonl", "shop.jsonl"] {
        fs::copy(evidence.file(name), copy.file(name)).expect("evidence can be copied");
    }
    copy
}

impl Spoil {
    async fn spoils(&self, copy: &Folder) -> bool {
        match self {
            Ledger(statements) => spoil_ledger(&copy.file("florin.db"), statements).await > 0,
            ShopLog(spoil) => log_lines::change(&copy.file("shop.jsonl"), *spoil),
            SandboxLog(spoil) => log_lines::change(&copy.file("sandbox.jsonl"), *spoil),
        }
    }
}

/// Answers how many rows the last statement changed. Triggers and foreign keys, which would have none of it, are gone.
async fn spoil_ledger(file: &Path, statements: &'static str) -> u64 {
    let options = SqliteConnectOptions::new()
        .filename(file)
        .foreign_keys(false);
    let mut db = options.connect().await.expect("a copy of a good ledger");
    let triggers = "SELECT name FROM sqlite_master WHERE type = 'trigger'";
    let triggers: Vec<String> = sqlx::query_scalar(triggers)
        .fetch_all(&mut db)
        .await
        .unwrap();
    for trigger in triggers {
        let drop = AssertSqlSafe(format!("DROP TRIGGER {trigger}"));
        sqlx::raw_sql(drop).execute(&mut db).await.unwrap();
    }
    let mut changed = 0;
    for statement in statements.split(';') {
        let done = sqlx::raw_sql(statement).execute(&mut db).await;
        changed = done
            .unwrap_or_else(|error| panic!("{statement}: {error}"))
            .rows_affected();
    }
    db.close().await.unwrap();
    changed
}

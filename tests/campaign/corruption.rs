//! Proof that the auditor detects corruption: copies of good evidence are corrupted, each in one way, and each must
//! break the invariant that covers it.

use std::fs;
use std::path::Path;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};
use support::Folder;
use support::campaign::{Auditor, Campaign};

use super::log_lines::{self, Lines};

/// A change to a copy of the evidence.
enum Corruption {
    /// SQL statements; the last must change a row.
    Database(&'static str),
    /// Lines of the shop's log; returns `false` if nothing was changed.
    ShopLog(fn(&mut Lines) -> bool),
    /// Lines of the sandbox's log, likewise.
    SandboxLog(fn(&mut Lines) -> bool),
    /// Lines of the log of restored backups, likewise.
    RestoreLog(fn(&mut Lines) -> bool),
    /// SQL statements for the database that the first restore replaced.
    Replaced(&'static str),
}

use Corruption::{Database, Replaced, RestoreLog, SandboxLog, ShopLog};

/// The copy has no primary key.
const CREDIT_TWICE: &str = "CREATE TABLE copy AS SELECT * FROM credits;
    DROP TABLE credits;
    ALTER TABLE copy RENAME TO credits;
    INSERT INTO credits SELECT * FROM credits LIMIT 1";

/// Description, the invariant that must break, and the change.
const CORRUPTIONS: [(&str, &str, Corruption); 47] = [
    (
        "a credit is gone",
        "payment-is-credited",
        Database("DELETE FROM credits WHERE rowid = (SELECT min(rowid) FROM credits)"),
    ),
    (
        "an order is credited twice, in spite of the primary key",
        "credited-once",
        Database(CREDIT_TWICE),
    ),
    (
        "an order is credited that is not paid",
        "credit-has-payment",
        Database(
            "INSERT INTO credits (order_id, attempt_id, observation_id, amount, currency, credited_at)
             SELECT orders.id, attempts.id, (SELECT min(id) FROM observations), amount, currency, created_at
             FROM orders JOIN attempts ON order_id = orders.id
             WHERE attempts.state = 'open' AND orders.id NOT IN (SELECT order_id FROM credits) LIMIT 1",
        ),
    ),
    (
        "a credit came before its payment",
        "credit-has-payment",
        Database("UPDATE credits SET credited_at = credited_at - 600000"),
    ),
    (
        "a credit is a cent too small",
        "sums-agree",
        Database(
            "UPDATE credits SET amount = '0.01' WHERE rowid = (SELECT min(rowid) FROM credits)",
        ),
    ),
    (
        "an order is paid without a credit",
        "paid-has-credit",
        Database(
            "UPDATE orders SET status = 'paid' WHERE id =
             (SELECT id FROM orders WHERE id NOT IN (SELECT order_id FROM credits) LIMIT 1)",
        ),
    ),
    (
        "the last step of an order has no event",
        "state-has-event",
        Database(
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
        Database(
            "UPDATE orders SET status = 'underpaid' WHERE id = (SELECT order_id FROM credits LIMIT 1)",
        ),
    ),
    (
        "a second payment has no event",
        "late-payment-has-event",
        Database("UPDATE events SET type = 'order.processing' WHERE type = 'order.late_payment'"),
    ),
    (
        "a sequence number is missing",
        "no-gap",
        Database(
            "UPDATE events SET sequence = sequence + 1 WHERE position =
                 (SELECT max(position) FROM events GROUP BY order_id LIMIT 1)",
        ),
    ),
    (
        "an event carries another sequence number",
        "payload-matches-event",
        Database("UPDATE events SET payload = replace(payload, '\"sequence\":2', '\"sequence\":9')"),
    ),
    (
        "an event is in no outbox",
        "event-in-outbox",
        Database("DELETE FROM outbox WHERE position = (SELECT max(position) FROM outbox)"),
    ),
    (
        "an event waits for ever",
        "outbox-is-settled",
        Database(
            "UPDATE outbox SET state = 'pending' WHERE position = (SELECT max(position) FROM outbox)",
        ),
    ),
    (
        "an event was never delivered",
        "event-is-accepted",
        ShopLog(log_lines::remove_an_event),
    ),
    (
        "the shop never received order.paid",
        "shop-received-paid",
        ShopLog(log_lines::remove_paid_events),
    ),
    (
        "the shop received an event that is not in the database",
        "delivery-has-event",
        ShopLog(log_lines::replace_an_id),
    ),
    (
        "an event was repeated with other bytes",
        "same-bytes",
        ShopLog(log_lines::add_a_byte_to_a_body),
    ),
    (
        "a delivery has a wrong signature",
        "signed",
        ShopLog(log_lines::replace_a_signature),
    ),
    (
        "a delivery arrived an hour after it was signed",
        "signed",
        ShopLog(log_lines::delay_a_delivery),
    ),
    (
        "two events of an order arrived in the wrong order",
        "in-order",
        ShopLog(log_lines::move_second_event_first),
    ),
    (
        "two attempts show one address",
        "invoice-shown-once",
        Database(
            "UPDATE attempts SET address = (SELECT min(address) FROM attempts)
             WHERE address = (SELECT max(address) FROM attempts)",
        ),
    ),
    (
        "a customer was shown another address than the gateway's",
        "row-is-invoice",
        Database(
            "UPDATE attempts SET address = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx'
             WHERE id = (SELECT min(id) FROM attempts WHERE state = 'open' AND flow = 'custom')",
        ),
    ),
    (
        "a request for an invoice was repeated",
        "requested-once",
        SandboxLog(log_lines::repeat_an_invoice),
    ),
    (
        "a request for a session was repeated",
        "requested-once",
        SandboxLog(log_lines::repeat_a_session),
    ),
    (
        "a customer was sent to another page than the gateway's",
        "row-is-invoice",
        Database(
            "UPDATE attempts SET page_url = page_url || '0'
             WHERE id = (SELECT min(id) FROM attempts WHERE page_url IS NOT NULL)",
        ),
    ),
    (
        "a lost invoice belongs to no abandoned attempt",
        "lost-is-explained",
        Database("UPDATE attempts SET state = 'refused' WHERE state = 'outcome_unknown'"),
    ),
    (
        "an invoice was paid before it was stored",
        "paid-is-held",
        Database(
            "UPDATE attempts SET state = 'outcome_unknown', invoice_id = NULL
             WHERE id = (SELECT min(attempt_id) FROM credits)",
        ),
    ),
    (
        "a Retry-After was ignored",
        "pauses-kept",
        SandboxLog(log_lines::add_retry_after),
    ),
    (
        "an attempt is not polled any more",
        "still-polled",
        Database(
            "UPDATE polls SET next_poll_at = NULL WHERE payment_state <> 'settled'",
        ),
    ),
    (
        "an attempt stays in `creating`",
        "nothing-half-made",
        Database("UPDATE attempts SET state = 'creating' WHERE state = 'outcome_unknown'"),
    ),
    (
        "a credit refers to an observation of another attempt",
        "credit-has-observation",
        Database(
            "UPDATE credits SET observation_id =
                 (SELECT min(id) FROM observations WHERE attempt_id <> credits.attempt_id)",
        ),
    ),
    (
        "an older response was recorded after a newer one",
        "newest-response-counts",
        Database(
            "UPDATE observations SET look = -1 WHERE id = (SELECT max(id) FROM observations WHERE attempt_id IN
                 (SELECT attempt_id FROM observations GROUP BY attempt_id HAVING count(*) > 1))",
        ),
    ),
    (
        "a sale was reported as a sale and stored as a donation",
        "donation-has-prefix",
        Database(
            "UPDATE orders SET price_source = 'customer' WHERE id =
                 (SELECT min(order_id) FROM events WHERE type = 'order.paid')",
        ),
    ),
    (
        "an underpayment was reported that did not exist",
        "underpaid-has-short-invoice",
        Database(
            "UPDATE events SET type = 'order.underpaid' WHERE type LIKE '%.attempt_opened'
                 AND order_id IN (SELECT id FROM orders WHERE status = 'awaiting_payment' AND flow = 'custom')",
        ),
    ),
    (
        "an attempt requested less than the price",
        "requests-the-price",
        Database(
            "UPDATE attempts SET requested_usd = '0.01', requested_local = '0.01'
             WHERE id = (SELECT min(id) FROM attempts WHERE flow = 'custom')",
        ),
    ),
    (
        "an event was delivered before an earlier one of its order",
        "outbox-in-order",
        Database(
            "UPDATE outbox SET state = 'pending' WHERE position = (SELECT min(position) FROM outbox)",
        ),
    ),
    (
        "an event was delivered that the store had not subscribed to",
        "delivery-is-wanted",
        Database(
            "UPDATE outbox SET state = 'no_webhook' WHERE position =
                 (SELECT max(position) FROM outbox WHERE state = 'delivered')",
        ),
    ),
    (
        "a foreign key points to no row",
        "file-is-sound",
        Database(
            "UPDATE credits SET observation_id = -1 WHERE rowid = (SELECT min(rowid) FROM credits)",
        ),
    ),
    (
        "a client token is stored in the clear",
        "no-token-in-clear",
        // SHA-256 of sixty-four times the letter c, by sha256sum(1).
        Database(
            "INSERT INTO client_tokens (hash, order_id, expires_at)
                 SELECT x'52b6419d27bd7f547cee3b92f8c17a908b8a49601ecbec161e5030de1dfe9e0a', id, 0 FROM orders LIMIT 1;
             UPDATE orders SET title =
                 'cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc'
             WHERE id = (SELECT min(id) FROM orders)",
        ),
    ),
    (
        "a restore is not recorded",
        "delivery-has-event",
        RestoreLog(log_lines::remove_all),
    ),
    (
        "a restore is not recorded",
        "lost-is-explained",
        RestoreLog(log_lines::remove_all),
    ),
    (
        "a backup lacks what was delivered before it",
        "backup-is-complete",
        RestoreLog(log_lines::make_backups_late),
    ),
    (
        "the rows of a backup are gone",
        "backup-is-kept",
        Database("DELETE FROM attempts"),
    ),
    (
        "no payment is found after a restore",
        "restored-is-credited",
        Database("UPDATE credits SET order_id = 'not ' || order_id"),
    ),
    (
        "an event has other content after a restore",
        "id-has-one-content",
        Database("UPDATE events SET payload = payload || ' '"),
    ),
    (
        "a delivery before a restore has no event",
        "delivery-has-event",
        Replaced("DELETE FROM events"),
    ),
    (
        "an order was credited twice before a restore",
        "credited-once",
        Replaced(CREDIT_TWICE),
    ),
];

/// Applies every corruption to a copy of the evidence and checks that its invariant breaks.
pub(crate) async fn every_corruption_is_detected(campaign: &Campaign, auditor: &Auditor) {
    for (what, invariant, corruption) in &CORRUPTIONS {
        let mut verdicts = String::new();
        let mut detected = false;
        for evidence in &campaign.evidence {
            let copy = copy(evidence);
            if corruption.apply_to(&copy).await {
                let verdict = auditor.audit(copy.path());
                detected = verdict.broken().contains(invariant) && verdict.code == Some(1);
                verdicts.push_str(&verdict.printed);
            }
            if detected {
                break;
            }
        }
        assert!(
            detected,
            "{what}: {invariant} does not detect it in any shard\n{verdicts}"
        );
    }
}

fn copy(evidence: &Folder) -> Folder {
    let copy = Folder::new();
    let restored = fs::read_dir(evidence.path()).expect("the folder is ours");
    let restored = restored.filter_map(|file| file.ok()?.file_name().into_string().ok());
    let restored =
        restored.filter(|name| name.starts_with("backup-") || name.starts_with("replaced-"));
    let names = [
        "florin.db",
        "sandbox.jsonl",
        "shop.jsonl",
        "clock.jsonl",
        "restores.jsonl",
    ];
    for name in names.map(str::to_owned).into_iter().chain(restored) {
        fs::copy(evidence.file(&name), copy.file(&name)).expect("evidence can be copied");
    }
    copy
}

impl Corruption {
    async fn apply_to(&self, copy: &Folder) -> bool {
        match self {
            Database(statements) => run_statements(&copy.file("florin.db"), statements).await > 0,
            ShopLog(corruption) => log_lines::change(&copy.file("shop.jsonl"), *corruption),
            SandboxLog(corruption) => log_lines::change(&copy.file("sandbox.jsonl"), *corruption),
            RestoreLog(corruption) => log_lines::change(&copy.file("restores.jsonl"), *corruption),
            Replaced(statements) => {
                let file = copy.file("replaced-1.db");
                file.exists() && run_statements(&file, statements).await > 0
            }
        }
    }
}

/// Runs statements without triggers and foreign keys; returns how many rows the last one changed.
async fn run_statements(file: &Path, statements: &'static str) -> u64 {
    let options = SqliteConnectOptions::new()
        .filename(file)
        .foreign_keys(false);
    let mut db = options.connect().await.expect("a copy of a good database");
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

//! Databases that are replaced while the program `florin-proxy` is stopped: a backup that is restored, and a deleted file
//! that is saved from the process which has it open.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Connection as _};
use support::{Program, World, eventually};

use crate::disasters::{lines, paid_once, ready_with, refused_clearly};
use crate::helpers::paid_event_count;
use crate::program::start_program;

async fn connect(database: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(database);
    options.connect().await.unwrap()
}

/// A file beside the database: `-wal`, `-shm`, `-lock`.
fn beside(database: &Path, ending: &str) -> PathBuf {
    PathBuf::from(format!("{}{ending}", database.display()))
}

/// Puts a copy in the place of the database, as docs/operations/backups.md says.
fn restore(copy: &Path, database: &Path) {
    for ending in ["-wal", "-shm"] {
        let _ = fs::remove_file(beside(database, ending));
    }
    fs::copy(copy, database).unwrap();
}

async fn credits(database: &Path, order: &str) -> i64 {
    let mut file = connect(database).await;
    let credits = sqlx::query_scalar("SELECT count(*) FROM credits WHERE order_id = ?");
    let credits = credits.bind(order).fetch_one(&mut file).await.unwrap();
    file.close().await.unwrap();
    credits
}

#[tokio::test]
async fn a_restored_backup_credits_once_and_gives_no_id_to_two_contents() {
    let mut world = World::start().await;
    let mut program = start_program(&mut world).await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    world.wait_for_deliveries().await;
    let copy = world.file("backup.db");
    let (config, to) = (world.config_file(), copy.display().to_string());
    let config = config.display().to_string();
    let words = ["--config", &config, "store", "backup", "--to", &to];
    let made = Program::run(&words, &[]);
    assert_eq!(made.code, Some(0), "{}", made.printed);

    // The copy does not contain these events, which the store receives.
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(1).await;
    checkout.wait_for("processing").await;
    world.wait_for_deliveries().await;
    let received = world.webhooks.event_types(&checkout.order);
    assert!(
        received.contains(&"order.processing".to_owned()),
        "{received:?}"
    );
    assert_eq!(program.stop().await, Some(0), "{}", program.printed());
    restore(&copy, &world.database());
    // The first poll after the restore finds the whole payment: the events with the same numbers have other contents.
    world.sandbox().mine(2).await;
    let mut program = start_program(&mut world).await;
    checkout.wait_for("paid").await;
    eventually("order.paid is delivered", async || {
        let received = world.webhooks.event_types(&checkout.order);
        received.contains(&"order.paid".to_owned()).then_some(())
    })
    .await;
    world.wait_for_deliveries().await;

    let mut bodies: BTreeMap<String, Value> = BTreeMap::new();
    let mut numbers: BTreeMap<u64, usize> = BTreeMap::new();
    for delivery in world.webhooks.accepted(&checkout.order) {
        if let Some(first) = bodies.get(&delivery.id) {
            assert_eq!(*first, delivery.body, "{}", delivery.id);
            continue;
        }
        *numbers.entry(delivery.sequence).or_default() += 1;
        bodies.insert(delivery.id, delivery.body);
    }
    assert!(
        numbers.values().any(|events| *events > 1),
        "no number was given twice: {numbers:?}"
    );
    let paid = bodies.values().filter(|body| body["type"] == "order.paid");
    assert_eq!(paid.count(), 1);
    assert_eq!(paid_event_count(&world, &checkout.order).await, 1);
    assert_eq!(program.stop().await, Some(0), "{}", program.printed());
    assert_eq!(credits(&world.database(), &checkout.order).await, 1);
    assert_eq!(lines(&program, "ERROR", ""), [""; 0]);
    world.end().await;
}

/// The file that a process has open under this name, although it was deleted. Source: proc(5), `/proc/pid/fd`.
fn deleted_file(process: u32, name: &Path) -> PathBuf {
    let wanted = format!("{} (deleted)", name.display());
    let open = fs::read_dir(format!("/proc/{process}/fd")).unwrap();
    let mut open = open.map(|entry| entry.unwrap().path());
    let found = open.find(|file| fs::read_link(file).is_ok_and(|to| to == Path::new(&wanted)));
    found.unwrap_or_else(|| panic!("{wanted} is not open"))
}

#[tokio::test]
async fn a_deleted_database_takes_no_order_and_is_saved_from_the_process() {
    let mut world = World::start().await;
    let mut program = start_program(&mut world).await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    world.wait_for_deliveries().await;
    let database = world.database();
    for ending in ["", "-wal"] {
        fs::remove_file(beside(&database, ending)).unwrap();
    }
    refused_clearly(&world).await;
    let report = ready_with(&world, &program, 503).await;
    let reason = report["database_reason"].as_str().unwrap();
    assert!(reason.contains("was deleted or moved"), "{reason}");
    assert!(reason.contains("docs/operations/backups.md"), "{reason}");
    let errors = lines(&program, "ERROR", "");
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert!(errors[0].contains("do not end the process"), "{errors:#?}");
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(3).await;

    // As docs/operations/backups.md says.
    let process = fs::read_to_string(beside(&database, "-lock")).unwrap();
    let process: u32 = process.trim().parse().unwrap();
    assert_eq!(process, program.id());
    let saved = world.file("saved.db");
    for ending in ["", "-wal"] {
        let open = deleted_file(process, &beside(&database, ending));
        fs::copy(open, beside(&saved, ending)).unwrap();
    }
    let mut file = connect(&saved).await;
    let sound = sqlx::query_scalar::<_, String>("PRAGMA integrity_check");
    assert_eq!(sound.fetch_one(&mut file).await.unwrap(), "ok");
    file.close().await.unwrap();
    assert_eq!(program.stop().await, Some(0), "{}", program.printed());
    restore(&saved, &database);
    let saved_journal = beside(&saved, "-wal");
    if saved_journal.exists() {
        fs::rename(saved_journal, beside(&database, "-wal")).unwrap();
    }
    let mut program = start_program(&mut world).await;
    paid_once(&world, &checkout).await;
    assert_eq!(program.stop().await, Some(0), "{}", program.printed());
    world.end().await;
}

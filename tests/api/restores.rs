//! Databases that are replaced while the program `florin-proxy` is stopped: a backup that is restored, and a deleted file
//! that is saved from the process which has it open.

use std::fs;
use std::path::{Path, PathBuf};

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Connection as _};
use support::{Program, World};

use crate::disasters::{fails, lines, paid_once, refused_clearly, reported};
use crate::helpers::{paid_event_count, wait_for_event};
use crate::program::{assert_ended, end, start_program};

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

/// Events after the restore have other ids: `crates/storage/src/sqlite/tests/restart.rs`.
#[tokio::test]
async fn an_order_of_a_restored_backup_is_credited_once() {
    let mut world = World::start().await;
    let mut program = start_program(&mut world).await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    world.wait_for_deliveries().await;
    let copy = world.file("backup.db");
    let (config, to) = (world.config_file(), copy.display().to_string());
    let config = config.display().to_string();
    let words = ["--config", &config, "store", "backup", "--to", &to];
    assert_ended(&Program::run(&words, &[]), 0, &[]);

    // The copy does not contain these events, which the store receives.
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(1).await;
    wait_for_event(&world, &checkout.order, "order.processing").await;
    assert_eq!(program.stop().await, Some(0), "{}", program.printed());
    restore(&copy, &world.database());
    // The first poll after the restore finds the whole payment.
    world.sandbox().mine(2).await;
    let mut program = start_program(&mut world).await;
    wait_for_event(&world, &checkout.order, "order.paid").await;
    world.wait_for_deliveries().await;
    assert_eq!(paid_event_count(&world, &checkout.order).await, 1);
    assert_eq!(program.stop().await, Some(0), "{}", program.printed());
    let mut file = connect(&world.database()).await;
    let credits = sqlx::query_scalar::<_, i64>("SELECT count(*) FROM credits");
    assert_eq!(credits.fetch_one(&mut file).await.unwrap(), 1);
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
    let reason = "was deleted or moved";
    fails(&world, &program, &[reason, "docs/operations/backups.md"]).await;
    reported(&program, &[], reason, "do not end the process");
    world.sandbox().settle(&checkout, "exact").await;

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
    let program = start_program(&mut world).await;
    paid_once(&world, &checkout).await;
    end(world, program).await;
}

//! Faults of the disk and of the database file under the program `florin-proxy`: the disk is full; the file is moved away,
//! replaced, damaged, deleted, or in use by another process. Each fault is reported and loses no order, and the proxy recovers
//! without a restart where recovery is possible; else the deleted file is saved from the process. The simulation restores backups.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};
use support::{
    Checkout, Delivery, DiskError, FaultyMachine, Folder, HttpResponse, MovedFile, Program,
    SpoiledFile, World, within,
};

use crate::helpers::{ebook, event_types, paid_event_count, sequences};
use crate::program::{
    assert_ended, complete_environment, end, run, start_program, start_program_with,
};

/// Readiness notices an outage, and its end, within this time.
const NOTICED: Duration = Duration::from_secs(5);

/// Replaces the world's proxy by a program on a machine that can have faults.
async fn start_on_machine(world: &mut World) -> (FaultyMachine, Program) {
    let folder = world.file("machine");
    fs::create_dir_all(&folder).unwrap();
    let machine = FaultyMachine::build(&folder);
    let variables = machine.variables();
    let variables = variables
        .iter()
        .map(|(name, value)| (*name, value.as_str()));
    let program = start_program_with(world, &variables.collect::<Vec<_>>()).await;
    (machine, program)
}

async fn readiness(world: &World) -> Option<HttpResponse> {
    let url = format!("{}/health/ready", world.admin_url());
    let response = world.http().get(url).send().await.ok()?;
    Some(HttpResponse::read(response).await)
}

pub(crate) async fn ready_with(world: &World, program: &Program, status: u16) -> Value {
    let found = within(NOTICED, async || {
        readiness(world)
            .await
            .filter(|response| response.status == status)
    });
    let found = found.await;
    let found = found.unwrap_or_else(|| panic!("not {status} in time:\n{}", program.printed()));
    // Each further request finds the same, and reports it no more.
    for _ in 0..3 {
        readiness(world).await;
    }
    found.body
}

pub(crate) fn lines(program: &Program, level: &str, text: &str) -> Vec<String> {
    let level = format!("\"level\":\"{level}\"");
    let printed = program.printed();
    let lines = printed.lines();
    let lines = lines.filter(|line| line.contains(&level) && line.contains(text));
    lines.map(str::to_owned).collect()
}

async fn refused_clearly(world: &World) {
    let refused = world.customer().request_order(&ebook()).await;
    let refused = refused.refused(503, "storage_unavailable");
    assert!(refused.header("retry-after").is_some());
}

/// The order is paid and credited once. Its store has every event in order; one whose receipt could not be recorded came
/// again, with the same id and the same bytes.
pub(crate) async fn paid_once(world: &World, checkout: &Checkout) {
    checkout.wait_for("paid").await;
    world.wait_for_deliveries().await;
    let mut known: Vec<Delivery> = Vec::new();
    for delivery in world.webhooks.accepted(&checkout.order) {
        match known.iter().find(|known| known.id == delivery.id) {
            Some(first) => assert_eq!(first.body, delivery.body),
            None => known.push(delivery),
        }
    }
    let kinds: Vec<&str> = known.iter().map(|delivery| &*delivery.kind).collect();
    let events = world.store().events_of(&checkout.order).await;
    assert_eq!(kinds, event_types(&events));
    let numbers: Vec<u64> = (1..).take(events.len()).collect();
    assert_eq!(sequences(&events), numbers);
    assert_eq!(paid_event_count(world, &checkout.order).await, 1);
}

/// Waits until orders cannot be stored; the page of readiness has these reasons and remedies.
pub(crate) async fn fails(world: &World, program: &Program, reasons: &[&str]) {
    let report = ready_with(world, program, 503).await;
    assert_eq!(report["database"], "failing");
    let stated = report["database_reason"].as_str().unwrap();
    for reason in reasons {
        assert!(stated.contains(reason), "{stated}");
    }
}

/// An outage is one ERROR with this reason and remedy, and nothing else is; `known` are the errors before it.
fn reported(program: &Program, known: &[String], reason: &str, remedy: &str) {
    let errors = lines(program, "ERROR", "");
    assert_eq!(errors.len(), known.len() + 1, "{errors:#?}");
    let error = errors.last().unwrap();
    for text in ["orders cannot be stored", reason, remedy] {
        assert!(error.contains(text), "{error}");
    }
}

#[tokio::test]
async fn faults_of_the_file_and_the_disk_take_no_order_lose_none_and_need_no_restart() {
    let mut world = World::start().await;
    let (machine, program) = start_on_machine(&mut world).await;
    let checkout = world.customer().open_with("ebook", "BTC").await;
    let invoice = world.sandbox().invoice_of(&checkout.address().await).await;

    let moved = MovedFile::move_away(&world.database());
    refused_clearly(&world).await;
    let reason = "was deleted or moved";
    fails(&world, &program, &[reason, "Move the same file back"]).await;
    reported(&program, &[], reason, "do not end the process");
    // A backup in its place is another file.
    moved.replace_by_copy();
    refused_clearly(&world).await;
    let replaced = within(NOTICED, async || {
        let report = readiness(&world).await?.body;
        let reason = report["database_reason"].as_str()?;
        let is_replaced = reason.contains("was replaced by another file");
        is_replaced.then_some(())
    });
    replaced.await.expect("the reason is up to date");
    moved.put_back();
    ready_with(&world, &program, 200).await;

    let known = lines(&program, "ERROR", "");
    let spoiled = SpoiledFile::spoil(&world.database());
    refused_clearly(&world).await;
    fails(&world, &program, &["is damaged"]).await;
    reported(&program, &known, "is damaged", "restore a backup");
    spoiled.repair();
    ready_with(&world, &program, 200).await;

    // The log is a file of the same disk.
    for (error, stated) in [
        (DiskError::NoSpace, "no restart is needed"),
        (DiskError::Write, "no restart is needed"),
        (DiskError::Read, "cannot be read"),
    ] {
        machine.set_disk(Some(error));
        refused_clearly(&world).await;
        fails(&world, &program, &[stated]).await;
        if error == DiskError::Read {
            world.sandbox().settle_invoice(&invoice, "exact").await;
        } else {
            // What is known is still shown.
            assert_eq!(checkout.view().await["status"], "awaiting_payment");
        }
        machine.set_disk(None);
        ready_with(&world, &program, 200).await;
    }
    paid_once(&world, &checkout).await;
    end(world, program).await;
}

/// Runs the program without the rights of root, on a file and a folder that it may not write.
fn run_as_another_user(config: &Path, database: &Path) -> (Option<i32>, String) {
    // The rights of root would permit everything.
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let mut command = std::process::Command::new("env");
    if is_root {
        command = std::process::Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    }
    let url = format!("sqlite://{}", database.display());
    let ended = command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .envs(complete_environment(&url))
        .arg(support::built("florin-proxy", "florin-proxy"))
        .arg("--config")
        .arg(config)
        .output()
        .unwrap();
    let printed = [ended.stdout, ended.stderr].concat();
    let printed = String::from_utf8_lossy(&printed).into_owned();
    (ended.status.code(), printed)
}

#[test]
fn a_database_that_the_programs_user_cannot_write_is_a_readable_error() {
    let folder = Folder::new();
    let rights = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let (config, database) = (folder.file("florin.toml"), folder.file("florin.db"));
    for (file, text) in [(&config, "[[store]]\nid = \"demo\"\n"), (&database, "")] {
        fs::write(file, text).unwrap();
        rights(file, 0o444);
    }
    // First the file alone, then its folder.
    for (mode, place) in [(0o777, database.as_path()), (0o555, folder.path())] {
        rights(folder.path(), mode);
        let (code, printed) = run_as_another_user(&config, &database);
        rights(folder.path(), 0o755);
        if printed.contains("failed to execute") {
            return println!("not tested: other users may not enter the program's folder");
        }
        assert_eq!(code, Some(2), "{printed}");
        let last = printed.lines().last().unwrap();
        let reason = format!("database_url: {} cannot be written", place.display());
        assert!(last.starts_with(&reason), "{printed}");
        let remedy = "give the user of the proxy the right";
        assert!(last.contains(remedy), "{last}");
    }
}

#[tokio::test]
async fn the_databases_files_are_private_and_of_one_process() {
    let mut world = World::start().await;
    world.customer().open("ebook").await;
    world.stop_proxy().await;
    let database = world.database();
    fs::set_permissions(&database, fs::Permissions::from_mode(0o644)).unwrap();
    let program = start_program(&mut world).await;
    world.customer().open("ebook").await;
    for ending in ["", "-wal", "-shm", "-lock"] {
        let file = beside(&database, ending);
        let rights = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(rights & 0o777, 0o600, "{}", file.display());
    }
    let url = world.database_url();
    let second = tokio::task::spawn_blocking(move || {
        run(&Folder::new(), &[], &[("FLORIN_DATABASE_URL", &url)])
    });
    let process = format!("is in use by another process (pid {})", program.id());
    assert_ended(
        &second.await.unwrap(),
        1,
        &[&process, "Stop the other process"],
    );
    ready_with(&world, &program, 200).await;
    end(world, program).await;
}

/// A file beside the database: `-wal`, `-shm`, `-lock`.
fn beside(database: &Path, ending: &str) -> PathBuf {
    PathBuf::from(format!("{}{ending}", database.display()))
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
    let checkout = world.customer().open_with("ebook", "BTC").await;
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
    let options = SqliteConnectOptions::new().filename(&saved);
    let mut file = options.connect().await.unwrap();
    let sound = sqlx::query_scalar::<_, String>("PRAGMA integrity_check");
    assert_eq!(sound.fetch_one(&mut file).await.unwrap(), "ok");
    file.close().await.unwrap();
    assert_eq!(program.stop().await, Some(0), "{}", program.printed());
    for ending in ["-wal", "-shm"] {
        let _ = fs::remove_file(beside(&database, ending));
    }
    fs::copy(&saved, &database).unwrap();
    let saved_journal = beside(&saved, "-wal");
    if saved_journal.exists() {
        fs::rename(saved_journal, beside(&database, "-wal")).unwrap();
    }
    let program = start_program(&mut world).await;
    paid_once(&world, &checkout).await;
    end(world, program).await;
}

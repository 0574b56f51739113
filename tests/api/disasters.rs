//! Faults of the disk and of the database file under the program `florin-proxy`: the disk is full; the file is moved away,
//! replaced, damaged, or in use by another process. Each fault is reported and loses no order, and the proxy recovers
//! without a restart where recovery is possible.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use support::{
    Checkout, DiskError, FaultyMachine, Folder, HttpResponse, MovedFile, Program, SpoiledFile,
    World, within,
};

use crate::helpers::{event_types, paid_event_count, sequences};
use crate::program::{complete_environment, start_program, wait_until_up};

/// Readiness notices an outage, and its end, within this time.
const NOTICED: Duration = Duration::from_secs(5);

/// Replaces the world's proxy by a program on a machine that can have faults.
pub(crate) async fn start_on_machine(world: &mut World) -> (FaultyMachine, Program) {
    world.stop_proxy().await;
    let folder = world.file("machine");
    std::fs::create_dir_all(&folder).unwrap();
    let machine = FaultyMachine::build(&folder, &folder.join("clock.jsonl"));
    let variables = machine.variables();
    let variables: Vec<_> = variables
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let log = world.file("proxy.log");
    let program = Program::start(&world.config_file(), &log, &variables);
    wait_until_up(world, &program).await;
    (machine, program)
}

pub(crate) fn ebook() -> Value {
    json!({ "store": "demo", "product": "ebook" })
}

async fn readiness(world: &World) -> Option<HttpResponse> {
    let url = format!("{}/health/ready", world.admin_url());
    let response = world.http().get(url).send().await.ok()?;
    Some(HttpResponse::read(response).await)
}

/// Waits until the readiness page has this status; returns its report.
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

/// The program's log lines of a level that contain a text.
pub(crate) fn lines(program: &Program, level: &str, text: &str) -> Vec<String> {
    let level = format!("\"level\":\"{level}\"");
    let printed = program.printed();
    let lines = printed.lines();
    let lines = lines.filter(|line| line.contains(&level) && line.contains(text));
    lines.map(str::to_owned).collect()
}

/// An outage is one ERROR with this reason and remedy, and nothing else is.
fn reported_once(program: &Program, reason: &str, remedy: &str) {
    let errors = lines(program, "ERROR", "");
    assert_eq!(errors.len(), 1, "{errors:#?}");
    let [error] = &errors[..] else { unreachable!() };
    assert!(error.contains("orders cannot be stored"), "{error}");
    assert!(error.contains(reason), "{error}");
    assert!(error.contains(remedy), "{error}");
}

pub(crate) async fn refused_clearly(world: &World) {
    let refused = world.customer().request_order(&ebook()).await;
    let refused = refused.refused(503, "storage_unavailable");
    assert!(refused.header("retry-after").is_some());
}

/// The order is paid and credited once. Its store has every event in order; one whose receipt could not be recorded came
/// again, with the same id and the same bytes.
pub(crate) async fn paid_once(world: &World, checkout: &Checkout) {
    checkout.wait_for("paid").await;
    world.wait_for_deliveries().await;
    let mut known: Vec<support::Delivery> = Vec::new();
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

#[tokio::test]
async fn a_database_that_is_moved_away_or_replaced_takes_no_order_until_it_is_back() {
    let mut world = World::start().await;
    let mut program = start_program(&mut world).await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    let moved = MovedFile::move_away(&world.database());
    refused_clearly(&world).await;
    let report = ready_with(&world, &program, 503).await;
    let reason = report["database_reason"].as_str().unwrap();
    assert!(reason.contains("was deleted or moved"), "{reason}");
    assert!(reason.contains("Move the same file back"), "{reason}");
    reported_once(&program, "was deleted or moved", "do not end the process");
    // A backup in its place is another file.
    moved.replace_by_copy();
    refused_clearly(&world).await;
    let replaced = within(NOTICED, async || {
        let report = readiness(&world).await?.body;
        let reason = report["database_reason"].as_str()?;
        reason
            .contains("was replaced by another file")
            .then_some(())
    });
    replaced.await.expect("the reason is up to date");
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(3).await;
    moved.put_back();
    ready_with(&world, &program, 200).await;
    paid_once(&world, &checkout).await;
    assert_eq!(program.stop().await, Some(0));
    world.end().await;
}

#[tokio::test]
async fn a_database_that_is_spoiled_while_it_is_served_takes_no_order() {
    let mut world = World::start().await;
    let mut program = start_program(&mut world).await;
    world.customer().open("ebook").await;
    let spoiled = SpoiledFile::spoil(&world.database());
    refused_clearly(&world).await;
    let report = ready_with(&world, &program, 503).await;
    let reason = report["database_reason"].as_str().unwrap();
    assert!(reason.contains("is damaged"), "{reason}");
    reported_once(&program, "is damaged", "restore a backup");
    spoiled.repair();
    ready_with(&world, &program, 200).await;
    assert_eq!(program.stop().await, Some(0));
    world.end().await;
}

/// The log of this program is a file of the same disk.
#[tokio::test]
async fn errors_of_the_disk_end_no_process_and_are_no_damage() {
    let mut world = World::start().await;
    let (machine, mut program) = start_on_machine(&mut world).await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    let address = checkout.address().await;
    let invoice = world.sandbox().invoice_of(&address).await;
    for (error, stated) in [
        (DiskError::NoSpace, "no restart is needed"),
        (DiskError::Write, "no restart is needed"),
        (DiskError::Read, "cannot be read"),
    ] {
        machine.set_disk(Some(error));
        for _ in 0..3 {
            refused_clearly(&world).await;
        }
        let report = ready_with(&world, &program, 503).await;
        assert_eq!(report["database"], "failing");
        let reason = report["database_reason"].as_str().unwrap();
        assert!(reason.contains(stated), "{error:?}: {reason}");
        if error == DiskError::Read {
            world.sandbox().pay_invoice(&invoice, "exact").await;
            world.sandbox().mine(3).await;
        } else {
            // What is known is still shown.
            assert_eq!(checkout.view().await["status"], "awaiting_payment");
        }
        machine.set_disk(None);
        ready_with(&world, &program, 200).await;
    }
    paid_once(&world, &checkout).await;
    assert_eq!(program.stop().await, Some(0));
    world.end().await;
}

/// Runs the program on a database of this path to its end; returns exit code and output.
fn run_on(database: &Path) -> (Option<i32>, String) {
    let folder = Folder::new();
    let config = folder.file("florin.toml");
    fs::write(&config, "[[store]]\nid = \"demo\"\n").unwrap();
    let variables = complete_environment(&database.display().to_string());
    let variables: Vec<_> = variables
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let config = config.display().to_string();
    let ended = Program::run(&["--config", &config], &variables);
    (ended.code, ended.printed)
}

/// Runs the program without the rights of root, on a file and a folder that it may not write.
fn run_as_another_user(database: &Path) -> (Option<i32>, String) {
    let program = support::built("florin-proxy", "florin-proxy");
    // The rights of root would permit everything.
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let mut command = std::process::Command::new("env");
    if is_root {
        command = std::process::Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    }
    let config = database.with_file_name("florin.toml");
    let variables = complete_environment(&database.display().to_string());
    let ended = command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .envs(variables)
        .arg(program)
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
    fs::write(folder.file("florin.toml"), "[[store]]\nid = \"demo\"\n").unwrap();
    rights(&folder.file("florin.toml"), 0o444);
    let database = folder.file("florin.db");
    fs::write(&database, "").unwrap();
    rights(&database, 0o444);
    // First the file alone, then its folder.
    for (mode, place) in [(0o777, database.as_path()), (0o555, folder.path())] {
        rights(folder.path(), mode);
        let (code, printed) = run_as_another_user(&database);
        rights(folder.path(), 0o755);
        if printed.contains("failed to execute") {
            return println!("not tested: other users may not enter the program's folder");
        }
        assert_eq!(code, Some(2), "{printed}");
        let last = printed.lines().last().unwrap();
        let reason = format!("database_url: {} cannot be written", place.display());
        assert!(last.starts_with(&reason), "{printed}");
        assert!(
            last.contains("give the user of the proxy the right"),
            "{last}"
        );
    }
}

#[tokio::test]
async fn a_second_process_on_one_database_is_refused() {
    let mut world = World::start().await;
    let mut program = start_program(&mut world).await;
    let database = world.database();
    let (code, printed) = tokio::task::spawn_blocking(move || run_on(&database))
        .await
        .unwrap();
    assert_eq!(code, Some(1), "{printed}");
    let last = printed.lines().last().unwrap();
    assert!(
        last.contains(&format!(
            "is in use by another process (pid {})",
            program.id()
        )),
        "{last}"
    );
    assert!(last.contains("Stop the other process"), "{last}");
    ready_with(&world, &program, 200).await;
    assert_eq!(program.stop().await, Some(0));
    world.end().await;
}

#[tokio::test]
async fn an_overlapping_restart_waits_for_the_process_before() {
    let mut world = World::start().await;
    let mut program = start_program(&mut world).await;
    let checkout = world.customer().open("ebook").await;
    let folder = Folder::new();
    let (config, log) = (folder.file("florin.toml"), folder.file("proxy.log"));
    fs::copy(world.config_file(), &config).unwrap();
    let (listen, admin) = (crate::program::free_port(), crate::program::free_port());
    let (listen, admin_address) = (listen.to_string(), admin.to_string());
    let variables = [
        ("FLORIN_LISTEN", listen.as_str()),
        ("FLORIN_ADMIN_LISTEN", admin_address.as_str()),
    ];
    let mut next = Program::start(&config, &log, &variables);
    support::pause(Duration::from_secs(2)).await;
    assert!(!next.printed().contains("\"message\":\"listening\""));
    assert_eq!(program.stop().await, Some(0));
    let up = within(NOTICED, async || {
        let health = world.http().get(format!("http://{admin}/health/ready"));
        let response = health.send().await.ok()?;
        (response.status() == 200).then_some(())
    });
    assert!(up.await.is_some(), "{}", next.printed());
    let known = world
        .http()
        .get(format!("http://{listen}/v1/checkout"))
        .bearer_auth(checkout.token());
    let known = HttpResponse::read(known.send().await.unwrap())
        .await
        .with(200);
    assert_eq!(known.body["status"], "open");
    assert_eq!(next.stop().await, Some(0));
    world.end().await;
}

#[tokio::test]
async fn the_databases_files_are_private_and_old_ones_become_so() {
    let mut world = World::start().await;
    world.customer().open("ebook").await;
    world.stop_proxy().await;
    let database = world.database();
    fs::set_permissions(&database, fs::Permissions::from_mode(0o644)).unwrap();
    let mut program = start_program(&mut world).await;
    world.customer().open("ebook").await;
    for ending in ["", "-wal", "-shm", "-lock"] {
        let file = PathBuf::from(format!("{}{ending}", database.display()));
        let rights = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(rights & 0o777, 0o600, "{}", file.display());
    }
    assert_eq!(program.stop().await, Some(0));
    world.end().await;
}

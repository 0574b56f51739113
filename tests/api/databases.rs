//! Databases: those of earlier releases, upgraded, whose orders, credits and events are what they were; their schema and backups;
//! and proxies on PostgreSQL, of which any serves any request.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::json;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, PgConnection};
use support::{
    Folder, Program, ProgramOutput, Replicas, World, dump_postgres_database,
    empty_postgres_database, load_postgres_database, pooled, postgres_database, write_private,
};
use tokio::time::timeout;

use crate::helpers::{Stream, delivered_events, paid_event_count, wait_for_event};
use crate::program::{COMPLETE, assert_ended};
use crate::repository::{root, text_of};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/databases");
const NOTES: &str = "docs/operations/upgrading.md";
const STORED: &str = "SELECT id, status FROM orders WHERE store_id = 'demo' ORDER BY id";

type Stored = (String, String);

/// `<version>-<schema>.sql` of a kind of database: of each release.
fn dumps(kind: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(format!("{FOLDER}/{kind}")).unwrap();
    let mut dumps: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    dumps.sort();
    assert!(!dumps.is_empty(), "{kind} has no dump");
    dumps
}

/// The name of a dump, whose version has notes.
fn name_of(dump: &Path) -> String {
    let name = dump.file_stem().unwrap().to_string_lossy();
    let (version, _) = name.rsplit_once('-').expect("a version and a schema");
    assert!(
        text_of(NOTES).contains(&format!("\n| {version} |")),
        "{version} has no notes"
    );
    name.into_owned()
}

/// Starts the proxy on the upgraded database and compares its orders with those of the dump.
async fn is_upgraded(mut world: World, name: &str, before: &[Stored]) {
    let statuses: BTreeSet<&str> = before.iter().map(|(_, status)| status.as_str()).collect();
    assert!(statuses.len() >= 3, "{name} has only orders {statuses:?}");
    world.start_proxy().await;
    for (id, status) in before {
        let order = world.store().order(id).await;
        // The time of an order without an attempt may be over by now.
        let is_over = status == "open" && order["status"] == "expired";
        assert!(
            is_over || order["status"] == status.as_str(),
            "{name}: {order}"
        );
        let events = world.store().events_of(id).await;
        assert_eq!(events[0]["type"], "order.created", "{name}");
        let is_credited = matches!(status.as_str(), "paid" | "overpaid");
        let paid = paid_event_count(&world, id).await;
        assert_eq!(paid, usize::from(is_credited), "{name}: {id}");
    }
    // It takes new orders.
    let opened = world.customer().open("ebook").await;
    let order = world.store().order(&opened.order).await;
    assert_eq!(order["status"], "open");
    // The gateway stays away: it would answer that it does not know the invoices.
    world.end().await;
}

/// A world whose proxy is stopped. The dump's invoices are not this gateway's.
async fn stopped_world() -> World {
    let mut world = World::start().await;
    world.stop_proxy().await;
    world.gateway_link.cut().await;
    world
}

#[tokio::test]
async fn a_database_of_each_release_is_upgraded() {
    for dump in dumps("sqlite") {
        let world = stopped_world().await;
        for file in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{file}", world.database().display()));
        }
        let options = SqliteConnectOptions::new().filename(world.database());
        let mut database = options.create_if_missing(true).connect().await.unwrap();
        let text = fs::read_to_string(&dump).unwrap();
        let load = sqlx::raw_sql(sqlx::AssertSqlSafe(text));
        load.execute(&mut database).await.unwrap();
        let before = sqlx::query_as::<_, Stored>(STORED)
            .fetch_all(&mut database)
            .await;
        database.close().await.unwrap();
        is_upgraded(world, &name_of(&dump), &before.unwrap()).await;
    }
    for dump in dumps("postgres") {
        let mut world = stopped_world().await;
        let url = load_postgres_database(&dump);
        let mut database = PgConnection::connect(&url).await.unwrap();
        let before = sqlx::query_as::<_, Stored>(STORED)
            .fetch_all(&mut database)
            .await;
        database.close().await.unwrap();
        let migrated = florin_storage::migrate_postgres(&url, "test").await;
        migrated.unwrap();
        world.config.database_url = Some(url);
        is_upgraded(world, &name_of(&dump), &before.unwrap()).await;
    }
}

fn newest_migration(folder: &str) -> u32 {
    let folder = root().join("crates/storage/migrations").join(folder);
    let files = fs::read_dir(folder).unwrap();
    let number = |file: fs::DirEntry| {
        let name = file.file_name().into_string().unwrap();
        name.split('_').next().unwrap().parse().unwrap()
    };
    files.map(|file| number(file.unwrap())).max().unwrap()
}

fn dump_of_this_version(kind: &str) -> PathBuf {
    let schema = newest_migration(kind);
    let version = env!("CARGO_PKG_VERSION");
    PathBuf::from(format!("{FOLDER}/{kind}/{version}-{schema}.sql"))
}

#[test]
fn the_newest_schema_of_each_database_has_notes_and_a_dump() {
    let [sqlite, postgres] = ["sqlite", "postgres"].map(|kind| {
        let dump = dump_of_this_version(kind);
        assert!(
            dumps(kind).contains(&dump),
            "cargo test -p florin-tests --test api databases -- --ignored writes {}",
            dump.display()
        );
        newest_migration(kind)
    });
    let version = env!("CARGO_PKG_VERSION");
    let row = format!("\n| {version} | {sqlite} | {postgres} |");
    assert!(text_of(NOTES).contains(&row), "{NOTES} needs {row}");
}

/// Orders of each kind: paid, underpaid, overpaid, with an open invoice, without one.
async fn fill(world: &World) {
    let customer = world.customer();
    for (product, asset, payment, status) in [
        ("ebook", "BTC", "exact", "paid"),
        ("mug", "LTC", "half", "underpaid"),
        ("mug", "BTC", "double", "overpaid"),
    ] {
        let checkout = customer.open(product).await;
        checkout.choose(asset).await;
        world.sandbox().settle(&checkout, payment).await;
        checkout.wait_for(status).await;
    }
    customer.open("ebook").await.choose("ETH").await;
    customer.open("ebook").await;
    world.wait_for_deliveries().await;
}

/// Writes the databases of this version: run it for each release, and until then for each new schema.
#[tokio::test]
#[ignore = "writes files of the repository"]
async fn writes_the_databases_of_this_version() {
    let mut world = World::start().await;
    fill(&world).await;
    world.stop_proxy().await;
    let dump = Command::new("sqlite3")
        .arg(world.database())
        // Megabytes, which the next start writes.
        .arg("DELETE FROM static_files")
        .arg(".dump")
        .output();
    let dump = dump.expect("apt-get install sqlite3");
    fs::write(dump_of_this_version("sqlite"), dump.stdout).unwrap();
    world.end().await;

    let url = postgres_database().await;
    let mut world = World::start_on(&url).await;
    fill(&world).await;
    world.stop_proxy().await;
    dump_postgres_database(&url, &dump_of_this_version("postgres"));
    world.end().await;
}

fn store(config: &Path, words: &[&str]) -> ProgramOutput {
    let config = config.display().to_string();
    Program::run(&[&["--config", &config, "store"], words].concat(), &[])
}

#[tokio::test]
async fn readiness_shows_the_schema_and_the_clock_of_the_server() {
    let url = postgres_database().await;
    let world = World::start_on(&url).await;
    world.skip(Duration::from_mins(1));
    let ready = world.get_admin("/health/ready").await;
    let server = &ready.body["database_server"];
    assert!(server["schema"].as_u64() >= Some(1), "{server}");
    let ahead = server["clock_ahead_ms"].as_i64().unwrap();
    assert!((-61_000..=-50_000).contains(&ahead), "{ahead}");
    assert_eq!(server["clocks_agree"], false, "{server}");
    let none = serde_json::json!({"connected": 0, "synchronous": 0});
    assert_eq!(server["standbys"], none, "{server}");
    world.end().await;
}

/// Writes a complete configuration for the database at this address; returns its path.
fn config_for(folder: &Folder, url: &str) -> String {
    let config = folder.file("florin.toml");
    let text = COMPLETE.replace("sqlite://DATABASE", url);
    let free = "listen = \"127.0.0.1:0\"\nadmin_listen = \"127.0.0.1:0\"\n";
    write_private(&config, &format!("{free}{text}"));
    config.display().to_string()
}

#[test]
fn the_schema_is_brought_up_to_date_by_its_command_alone_and_past_a_pooler() {
    let folder = Folder::new();
    let url = empty_postgres_database();
    let config = config_for(&folder, &url);
    let refused = Program::run(&["--config", &config], &[]);
    assert_ended(&refused, 1, &["run `florin-proxy migrate`"]);
    let password = url.split([':', '@']).nth(2).unwrap();
    assert!(!refused.printed.contains(password), "{}", refused.printed);

    let config = config_for(&folder, &pooled(&url));
    let refused = Program::run(&["--config", &config, "migrate"], &[]);
    let remedy = "let database_url_direct lead to the server";
    assert_ended(&refused, 1, &[remedy]);
    let direct = [("FLORIN_DATABASE_URL_DIRECT", url.as_str())];
    for (words, printed) in [
        (&["migrate"][..], "migration(s) applied."),
        (&["migrate"], "is up to date."),
        (&["store", "verify"], ""),
    ] {
        let done = Program::run(&[&["--config", &config], words].concat(), &direct);
        assert_ended(&done, 0, &[printed]);
    }
}

/// A file and a server are checked by one command. The simulation pays in a restored file.
#[tokio::test]
async fn a_backup_is_made_while_the_proxy_serves() {
    let world = World::start().await;
    world.customer().open_with("ebook", "BTC").await;
    let copy = world.file("copy.db");
    let to = copy.display().to_string();
    let config = world.config_file();
    let run = |words: &[&str]| store(&config, words);
    assert_ended(&run(&["backup", "--to", &to]), 0, &["1  orders"]);
    let mode = std::fs::metadata(&copy).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_ended(&run(&["backup", "--to", &to]), 1, &["overwrites nothing"]);
    assert_ended(&run(&["verify"]), 0, &[]);
    let damaged = world.file("damaged.db");
    std::fs::copy(&copy, &damaged).unwrap();
    // A page in the middle.
    let file = std::fs::File::options().write(true).open(&damaged).unwrap();
    file.write_all_at(&[0xff; 2048], 8 * 4096).unwrap();
    let damaged = format!("sqlite://{}", damaged.display());
    assert_ended(&run(&["verify", "--database", &damaged]), 1, &["damaged"]);
    world.end().await;
}

#[tokio::test]
async fn a_server_is_verified_and_its_backup_is_left_to_its_programs() {
    let url = postgres_database().await;
    let world = World::start_on(&url).await;
    let checkout = world.customer().open_with("ebook", "BTC").await;
    support::pay_in_full(&world, &checkout).await;
    let config = world.config_file();
    let run = |words: &[&str]| store(&config, words);
    assert_ended(&run(&["verify"]), 0, &["1  credits"]);
    assert_ended(&run(&["backup", "--to", "copy.db"]), 1, &["pg_basebackup"]);
    let mut database = sqlx::PgConnection::connect(&url).await.unwrap();
    let lost = "SET session_replication_role = replica; DELETE FROM credits; UPDATE orders SET sequence = 9";
    sqlx::raw_sql(lost).execute(&mut database).await.unwrap();
    let found = ["1 paid orders without a credit", "1 orders whose events"];
    assert_ended(&run(&["verify"]), 1, &found);
    world.end().await;
}

/// A change on one proxy is on the streams of all others within this time.
const WAKE_UP: Duration = Duration::from_secs(1);

/// Callbacks reach the first of three, the page is another one's, and its stream is the third's.
#[tokio::test]
async fn any_proxy_honours_and_shows_what_the_others_do() {
    let url = postgres_database().await;
    let mut world = World::start_on(&url).await;
    let mut replicas = Replicas::start(&mut world, [&[], &[], &[]]).await;
    let first = world.customer().open("ebook").await;
    let [second, third] = [1, 2].map(|number| replicas.page(number, &world, &first));
    let mut stream = Stream::open(&third).await;
    stream.status("open").await;
    let quote = second.quote("BTC").await;
    assert_eq!(first.quote("BTC").await["quote_id"], quote["quote_id"]);
    wait_for_event(&world, &first.order, "order.created").await;
    replicas.kill(1);
    let choice = json!({ "crypto_code": "BTC", "quote_id": quote["quote_id"] });
    first.post("/attempt", &choice).await.with(200);
    let shown = timeout(WAKE_UP, stream.status("awaiting_payment")).await;
    shown.expect("it is shown in time");
    // A view is never older than a write that was answered before.
    for number in 0..12 {
        let mut pages = [&first, &third];
        pages.rotate_left(number % 2);
        pages[1].view().await;
        let is_kept = number % 4 < 2;
        let email = if is_kept { "buyer@shop.example" } else { "" };
        let kept = pages[0].post("/email", &json!({ "email": email })).await;
        kept.with(200);
        assert_eq!(pages[1].view().await["email_kept"], is_kept, "{number}");
    }
    first.report_paid().await;
    stream.status("checking").await;
    world.sandbox().settle(&first, "exact").await;
    first.wait_for("paid").await;
    let shown = timeout(WAKE_UP, stream.status("paid")).await;
    shown.expect("it is shown in time");
    // The bytes and the tag are the same, whichever answers.
    let tags = [first.get("").await, third.get("").await];
    let tags = tags.map(|view| view.with(200).header("etag").unwrap().to_owned());
    assert_eq!(tags[0], tags[1]);
    replicas.stop(&mut world).await;
    let delivered = delivered_events(&world, &first.order).await;
    assert_eq!(delivered.last().unwrap(), "order.paid");
    world.end().await;
}

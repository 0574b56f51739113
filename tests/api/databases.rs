//! Databases of earlier releases, upgraded: orders, credits and events are what they were.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, PgConnection};
use support::{World, dump_postgres_database, load_postgres_database, postgres_database};

use crate::helpers::paid_event_count;
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
        world.move_database(url);
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

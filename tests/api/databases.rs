//! Databases of earlier releases, upgraded: orders, credits and events are what they were.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::str::FromStr as _;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Connection as _};
use support::World;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/databases");

async fn connect(world: &World) -> SqliteConnection {
    let url = format!("sqlite://{}", world.database().display());
    let options = SqliteConnectOptions::from_str(&url).unwrap();
    options.create_if_missing(true).connect().await.unwrap()
}

/// Id, status and reference of each order, as the database of that version has them.
async fn orders(world: &World) -> Vec<(String, String)> {
    let mut database = connect(world).await;
    let orders =
        sqlx::query_as("SELECT id, status FROM orders WHERE store_id = 'demo' ORDER BY id");
    let orders = orders.fetch_all(&mut database).await.unwrap();
    database.close().await.unwrap();
    orders
}

/// `<version>.sql` of each release.
fn dumps() -> Vec<PathBuf> {
    let files = fs::read_dir(FOLDER).unwrap();
    let mut dumps: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    dumps.sort();
    dumps
}

#[tokio::test]
async fn a_database_of_each_release_is_upgraded() {
    let notes = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../docs/operations/upgrading.md"
    );
    let notes = fs::read_to_string(notes).unwrap();
    assert!(!dumps().is_empty());
    for dump in dumps() {
        let version = dump.file_stem().unwrap().to_string_lossy();
        assert!(
            notes.contains(&format!("\n| {version} |")),
            "{version} has no notes"
        );
        let mut world = World::start().await;
        world.stop_proxy().await;
        // Its invoices are not this gateway's.
        world.gateway_link.cut().await;
        for file in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{file}", world.database().display()));
        }
        let mut database = connect(&world).await;
        let text = fs::read_to_string(&dump).unwrap();
        sqlx::raw_sql(sqlx::AssertSqlSafe(text))
            .execute(&mut database)
            .await
            .unwrap();
        database.close().await.unwrap();
        let before = orders(&world).await;
        let mut statuses: Vec<&str> = before.iter().map(|(_, status)| status.as_str()).collect();
        statuses.sort_unstable();
        statuses.dedup();
        assert!(
            statuses.len() >= 3,
            "{version} has only orders {statuses:?}"
        );

        world.start_proxy().await;
        for (id, status) in &before {
            let order = world.store().order(id).await;
            assert_eq!(order["status"], status.as_str(), "{version}: {order}");
            let events = world.store().events_of(id).await;
            assert_eq!(events[0]["type"], "order.created", "{version}");
            let paid = events
                .iter()
                .filter(|event| event["type"] == "order.paid")
                .count();
            let is_credited = matches!(status.as_str(), "paid" | "overpaid");
            assert_eq!(paid, usize::from(is_credited), "{version}: {id}");
        }
        // It takes new orders.
        let opened = world.shopper().open("ebook").await;
        let order = world.store().order(&opened.order).await;
        assert_eq!(order["status"], "open");
        world.gateway_link.restore().await;
        world.end().await;
    }
}

/// The number of the newest migration in a folder.
fn newest_migration(folder: &str) -> u32 {
    let folder = format!(
        "{}/../crates/storage/migrations/{folder}",
        env!("CARGO_MANIFEST_DIR")
    );
    let files = fs::read_dir(folder).unwrap();
    let number = |file: fs::DirEntry| {
        let name = file.file_name().into_string().unwrap();
        name.split('_').next().unwrap().parse().unwrap()
    };
    files.map(|file| number(file.unwrap())).max().unwrap()
}

#[test]
fn the_notes_have_the_schemas_of_this_version() {
    let notes = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../docs/operations/upgrading.md"
    );
    let notes = fs::read_to_string(notes).unwrap();
    let (sqlite, postgres) = (newest_migration("sqlite"), newest_migration("postgres"));
    let row = format!(
        "\n| {} | {sqlite} | {postgres} |",
        env!("CARGO_PKG_VERSION")
    );
    assert!(
        notes.contains(&row),
        "docs/operations/upgrading.md needs {row}"
    );
}

/// Writes the database of this version: run it once for each release.
#[tokio::test]
#[ignore = "writes a file of the repository"]
async fn writes_the_database_of_this_version() {
    let mut world = World::start().await;
    let shopper = world.shopper();
    for (product, asset, payment) in [
        ("ebook", "BTC", Some("exact")),
        ("mug", "LTC", Some("half")),
        ("mug", "BTC", Some("double")),
        ("ebook", "ETH", None),
    ] {
        let checkout = shopper.open(product).await;
        checkout.choose(asset).await;
        if let Some(payment) = payment {
            world.sandbox().pay(&checkout, payment).await;
            world.sandbox().mine(3).await;
            let status = match payment {
                "exact" => "paid",
                "half" => "underpaid",
                _ => "overpaid",
            };
            checkout.wait_for(status).await;
        }
    }
    shopper.open("ebook").await;
    world.wait_for_deliveries().await;
    world.stop_proxy().await;
    let dump = Command::new("sqlite3")
        .arg(world.database())
        .arg(".dump")
        .output();
    let dump = dump.expect("apt-get install sqlite3");
    let file = format!("{FOLDER}/{}.sql", env!("CARGO_PKG_VERSION"));
    fs::create_dir_all(FOLDER).unwrap();
    fs::write(file, dump.stdout).unwrap();
    world.start_proxy().await;
    world.end().await;
}

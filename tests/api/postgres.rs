//! A proxy on PostgreSQL.

use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::Duration;

use sqlx::Connection as _;
use support::{
    Folder, Program, ProgramOutput, World, empty_postgres_database, pooled, postgres_database,
    write_private,
};

use crate::program::{COMPLETE, assert_ended};

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

/// A file and a server are checked by one command. `disasters.rs` pays in a restored file.
#[tokio::test]
async fn a_backup_is_made_while_the_proxy_serves() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
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
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
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

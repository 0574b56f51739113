//! A proxy on PostgreSQL.

use support::{
    Folder, Program, World, WorldConfig, empty_postgres_database, postgres_database, write_private,
};

use crate::helpers::{delivered_events, paid_event_count};

#[tokio::test]
async fn a_purchase_on_postgresql_is_paid_delivered_and_kept() {
    let mut world = World::start_with(WorldConfig {
        database_url: Some(postgres_database().await),
        ..WorldConfig::default()
    })
    .await;
    let checkout = world.shopper().open("ebook").await;
    checkout.choose("BTC").await;
    world.sandbox().pay(&checkout, "half").await;
    world.sandbox().mine(3).await;
    checkout.wait_for("underpaid").await;
    world.stop_proxy().await;
    world.start_proxy().await;
    world.sandbox().pay(&checkout, "rest").await;
    world.sandbox().mine(3).await;
    checkout.wait_for("paid").await;
    let delivered = delivered_events(&world, &checkout.order).await;
    assert_eq!(delivered.last().unwrap(), "order.paid");
    assert_eq!(paid_event_count(&world, &checkout.order).await, 1);
    assert!(!world.database().exists(), "no file is made");
    world.end().await;
}

/// The program's own words, and its exit code.
#[test]
fn the_schema_is_brought_up_to_date_by_its_command_alone() {
    let folder = Folder::new();
    let config = folder.file("florin.toml");
    let url = empty_postgres_database();
    let text = super::program::COMPLETE.replace("sqlite://DATABASE", &url);
    let free = "listen = \"127.0.0.1:0\"\nadmin_listen = \"127.0.0.1:0\"\n";
    write_private(&config, &format!("{free}{text}"));
    let config = config.display().to_string();
    let refused = Program::run(&["--config", &config], &[]);
    assert_eq!(refused.code, Some(1), "{}", refused.printed);
    assert!(
        refused.printed.contains("run `florin-proxy migrate`"),
        "{}",
        refused.printed
    );
    let password = url.split([':', '@']).nth(2).unwrap();
    assert!(!refused.printed.contains(password), "{}", refused.printed);
    for printed in ["1 migration(s) applied", "is up to date."] {
        let migrated = Program::run(&["--config", &config, "migrate"], &[]);
        assert_eq!(migrated.code, Some(0), "{}", migrated.printed);
        assert!(migrated.printed.contains(printed), "{}", migrated.printed);
    }
}

/// From a file to PostgreSQL, by the two commands: the page of a customer who pays meanwhile goes on.
#[tokio::test]
async fn a_store_moves_to_postgresql_in_the_middle_of_a_payment() {
    let mut world = World::start().await;
    let checkout = world.shopper().open("ebook").await;
    checkout.choose("BTC").await;
    world.sandbox().pay(&checkout, "half").await;
    world.sandbox().mine(3).await;
    checkout.wait_for("underpaid").await;
    world.stop_proxy().await;
    let from = world.database_url();
    let url = postgres_database().await;
    let config = world.config_file().display().to_string();
    let copied = Program::run(
        &[
            "--config", &config, "store", "copy", "--from", &from, "--to", &url,
        ],
        &[],
    );
    assert_eq!(copied.code, Some(0), "{}", copied.printed);
    let refused = Program::run(&["--config", &config], &[]);
    assert_eq!(refused.code, Some(1), "{}", refused.printed);
    assert!(
        refused
            .printed
            .contains("was copied to postgres://florin@127.0.0.1"),
        "{}",
        refused.printed
    );
    world.move_database(url);
    world.start_proxy().await;
    world.sandbox().pay(&checkout, "rest").await;
    world.sandbox().mine(3).await;
    checkout.wait_for("paid").await;
    let delivered = delivered_events(&world, &checkout.order).await;
    assert_eq!(delivered.last().unwrap(), "order.paid");
    world.end().await;
}

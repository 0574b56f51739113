//! The program `florin-proxy`: wrong configuration, orderly shutdown. The campaign kills it.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use support::{Folder, Program, ProgramOutput, World};
use tokio::net::{TcpListener, TcpStream};

/// Replaces the world's proxy by the program, at the same addresses and on the same database.
pub(crate) async fn start_program(world: &mut World) -> Program {
    start_program_with(world, &[]).await
}

pub(crate) async fn start_program_with(world: &mut World, variables: &[(&str, &str)]) -> Program {
    world.stop_proxy().await;
    let program = Program::start(&world.config_file(), &world.file("proxy.log"), variables);
    wait_until_up(world, &program).await;
    program
}

pub(crate) async fn wait_until_up(world: &World, program: &Program) {
    let health = format!("{}/health/ready", world.admin_url());
    let up = async || {
        let response = world.http().get(&health).send().await.ok()?;
        (response.status() == 200).then_some(())
    };
    let up = support::within(Duration::from_secs(10), up).await;
    assert!(up.is_some(), "it does not start:\n{}", program.printed());
}

/// Ends a program in order, and the world with its own proxy.
pub(crate) async fn end(world: World, mut program: Program) {
    assert_eq!(program.stop().await, Some(0), "{}", program.printed());
    world.end().await;
}

/// Checks how a command ended: its exit code, and texts that it printed.
#[track_caller]
pub(crate) fn assert_ended(ended: &ProgramOutput, code: i32, texts: &[&str]) {
    assert_eq!(ended.code, Some(code), "{}", ended.printed);
    for text in texts {
        assert!(ended.printed.contains(text), "{text} in {}", ended.printed);
    }
}

pub(crate) fn free_port() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], support::free_port()))
}

/// Variables of a complete configuration; its gateway does not exist.
pub(crate) fn complete_environment(database_url: &str) -> Vec<(&'static str, String)> {
    vec![
        ("FLORIN_LISTEN", free_port().to_string()),
        ("FLORIN_ADMIN_LISTEN", free_port().to_string()),
        ("FLORIN_DATABASE_URL", database_url.to_owned()),
        ("FLORIN_GATEWAY__URL", "http://127.0.0.1:9/api".into()),
        ("FLORIN_GATEWAY__API_KEY", "key".into()),
        ("FLORIN_GATEWAY__API_SECRET", "canary-secret".into()),
        (
            "FLORIN_GATEWAY__CALLBACK_TOKEN",
            "0123456789abcdef".repeat(2),
        ),
    ]
}

pub(crate) fn database_in(folder: &Folder) -> String {
    format!("sqlite://{}", folder.file("florin.db").display())
}

pub(crate) fn run_with(words: &[&str], variables: &[(&str, String)]) -> ProgramOutput {
    let variables = variables
        .iter()
        .map(|(name, value)| (*name, value.as_str()));
    Program::run(words, &variables.collect::<Vec<_>>())
}

/// Runs the program with a complete configuration and these changes; an empty value takes a variable away.
pub(crate) fn run(
    folder: &Folder,
    words: &[&str],
    changes: &[(&'static str, &str)],
) -> ProgramOutput {
    let config = folder.file("florin.toml");
    fs::write(&config, "[[store]]\nid = \"demo\"\n").unwrap();
    let mut variables = complete_environment(&database_in(folder));
    for (name, value) in changes {
        variables.retain(|(known, _)| known != name);
        variables.push((name, (*value).to_owned()));
    }
    variables.retain(|(_, value)| !value.is_empty());
    let config = config.display().to_string();
    run_with(&[&["--config", &config], words].concat(), &variables)
}

/// Runs a command with the configuration of a world, which answers meanwhile.
pub(crate) async fn run_for(
    world: &World,
    words: &[&str],
    variables: &[(&str, &str)],
) -> ProgramOutput {
    let config = world.config_file().display().to_string();
    Program::run_beside(&[words, &["--config", &config]].concat(), variables).await
}

pub(crate) const IS_COMPLETE: &str = "The configuration is complete: 1 store(s).\n";

/// `check-config` refuses a complete configuration with this database.
#[track_caller]
fn assert_database_refused(folder: &Folder, database: &Path, sentence: &str) {
    let config = folder.file("florin.toml");
    let text = COMPLETE.replace("DATABASE", &database.display().to_string());
    support::write_private(&config, &text);
    let words = ["--config", &config.display().to_string(), "check-config"];
    assert_ended(&Program::run(&words, &[]), 2, &["database_url: ", sentence]);
}

pub(crate) const COMPLETE: &str = r#"
database_url = "sqlite://DATABASE"
[gateway]
url = "http://127.0.0.1:8090/api"
api_key = "key"
api_secret = "secret"
callback_token = "0123456789abcdef0123456789abcdef"
[[store]]
id = "demo"
secret_key = "sk_0123456789abcdef0123456789abcdef"
[[store.product]]
sku = "ebook"
price = "19.90"
"#;

/// `proxy/src/config/tests.rs` has what each section takes.
#[test]
fn a_database_that_cannot_be_one_gets_a_sentence() {
    let folder = Folder::new();
    let text = folder.file("notes.txt");
    fs::write(&text, "Buy milk, and some more text than sixteen bytes.").unwrap();
    let (nowhere, here) = (folder.file("not/there/florin.db"), folder.path().to_owned());
    for (database, sentence) in [
        (nowhere, "does not exist: create it"),
        (here, "is a folder: write the path of a file in it"),
        (text, "is not an SQLite database"),
    ] {
        assert_database_refused(&folder, &database, sentence);
    }
    assert_ended(&run(&folder, &["check-config"], &[]), 0, &[]);
    let database = folder.file("florin.db");
    assert!(!database.exists(), "the check creates nothing");
}

#[tokio::test]
async fn a_database_of_a_newer_version_or_of_another_program_is_named() {
    let folder = Folder::new();
    let (newer, other) = (folder.file("newer.db"), folder.file("other.db"));
    let url = format!("sqlite://{}", newer.display());
    let storage = florin_storage::SqliteStorage::open(&url, "test").await;
    storage.unwrap().close().await;
    for (file, statement, sentence) in [
        (
            &newer,
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
             VALUES (9999, 'later', 1, x'00', 0)",
            "a newer version of Florin wrote the database",
        ),
        (
            &other,
            "CREATE TABLE orders (id INTEGER PRIMARY KEY)",
            "it is the database of another program",
        ),
    ] {
        let options = sqlx::sqlite::SqliteConnectOptions::new();
        let options = options.filename(file).create_if_missing(true);
        let mut database = sqlx::ConnectOptions::connect(&options).await.unwrap();
        sqlx::query(statement).execute(&mut database).await.unwrap();
        sqlx::Connection::close(database).await.unwrap();
        // The check of the configuration finds the same, and changes nothing.
        let before = fs::read(file).unwrap();
        let name = file.display().to_string();
        assert_database_refused(&folder, file, sentence);
        assert_eq!(fs::read(file).unwrap(), before);
        let url = format!("sqlite://{name}");
        let ended = run(&folder, &[], &[("FLORIN_DATABASE_URL", &url)]);
        assert_ended(
            &ended,
            1,
            &["florin-proxy: database_url: ", sentence, &name],
        );
    }
}

#[tokio::test]
async fn what_another_program_or_environment_has_is_a_readable_error() {
    let folder = Folder::new();
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for (variable, key) in [
        ("FLORIN_LISTEN", "listen"),
        ("FLORIN_ADMIN_LISTEN", "admin_listen"),
    ] {
        let ended = run(&folder, &[], &[(variable, &address)]);
        let sentence = format!("{key}: cannot listen on {address}; is another program there?");
        assert_ended(&ended, 1, &[&sentence]);
    }
    let storage = florin_storage::SqliteStorage::open(&database_in(&folder), "test").await;
    storage.unwrap().close().await;
    let production = [
        ("FLORIN_ENVIRONMENT", "production"),
        ("FLORIN_PUBLIC_URL", "https://pay.shop.example"),
    ];
    let ended = run(&folder, &[], &production);
    assert_eq!(ended.code, Some(1), "{}", ended.printed);
    let last = ended.printed.lines().last().unwrap();
    assert!(
        last.contains("test") && last.contains("production"),
        "{last}"
    );
}

#[tokio::test]
async fn sigterm_ends_it_quickly_even_with_an_open_stream() {
    let mut world = World::start().await;
    let mut program = start_program(&mut world).await;
    let checkout = world.customer().open("ebook").await;
    let mut stream = checkout.stream().await;
    stream.chunk().await.unwrap().unwrap();
    let address = world.proxy_url().replace("http://", "");
    let _silent = TcpStream::connect(address).await.unwrap();
    #[expect(clippy::disallowed_methods, reason = "the operator's own watch")]
    let began = Instant::now();
    assert_eq!(program.stop().await, Some(0), "{}", program.printed());
    let took = began.elapsed().as_secs();
    assert!(took < 5, "{took} s");
    world.start_proxy().await;
    assert_eq!(checkout.view().await["status"], "open");
    world.end().await;
}

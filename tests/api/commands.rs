//! The commands of the program `florin-proxy` that prepare and check an installation, and the line that long ones show: on a
//! terminal, and nowhere else. With `--json`, every command prints JSON, and nothing else.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use support::{
    Folder, Program, ProgramOutput, World, built, command, empty_postgres_database, secrets,
};

use crate::operators_pages::underpaid;
use crate::program::{IS_COMPLETE, assert_ended, run, start_program};
use crate::repository::text_of;

fn init(file: &Path, words: &[&str]) -> ProgramOutput {
    let file = file.display().to_string();
    Program::run(&[&["init", "--config", &file], words].concat(), &[])
}

fn check(file: &Path, words: &[&str]) -> ProgramOutput {
    let file = file.display().to_string();
    Program::run(&[&["check-config", "--config", &file], words].concat(), &[])
}

#[test]
fn init_writes_a_private_configuration_that_is_complete_for_the_sandbox() {
    let folder = Folder::new();
    let file = folder.file("florin.toml");
    let written = init(&file, &["--sandbox"]);
    let lines = [
        r#"  <script src="http://127.0.0.1:8080/florin.js" async></script>"#,
        r#"  <florin-checkout store="demo" product="mug"><iframe src="http://127.0.0.1:8080/pay?store=demo&amp;product=mug" title="Checkout" allow="clipboard-write"></iframe></florin-checkout>"#,
        r#"  import { verifyWebhook } from "florin-server";"#,
        &format!("  florin-proxy --config {}", file.display()),
        "  florin-sandbox --callback-url \"http://127.0.0.1:8080/callbacks/$(sed ",
        "The operator's page, http://127.0.0.1:9090/, takes the name owner and the password ",
    ];
    assert_ended(&written, 0, &lines);
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(check(&file, &[]).printed, IS_COMPLETE);
    // No secret is printed.
    let text = fs::read_to_string(&file).unwrap();
    let keys = ["callback_token", "secret_key", "secret", "password_hash"];
    let is_secret = |line: &&str| {
        keys.iter()
            .any(|key| line.starts_with(&format!("{key} = \"")))
    };
    let secrets = text.lines().filter(is_secret);
    let secrets: Vec<&str> = secrets.filter_map(|line| line.split('"').nth(1)).collect();
    assert_eq!(secrets.len(), 5, "{text}");
    assert!(
        !secrets
            .iter()
            .any(|secret| written.printed.contains(secret))
    );
}

#[test]
fn init_writes_each_secret_to_a_file() {
    let folder = Folder::new();
    let (file, secrets) = (folder.file("florin.toml"), folder.file("secrets"));
    let secrets = secrets.display().to_string();
    let written = init(&file, &["--sandbox", "--secrets", &secrets]);
    assert_ended(&written, 0, &[]);
    assert_ended(&check(&file, &[]), 0, &[]);
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(fs::read_dir(&secrets).unwrap().count(), 7);
    for secret in fs::read_dir(&secrets).unwrap().map(Result::unwrap) {
        let mode = secret.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let content = fs::read_to_string(secret.path()).unwrap();
        let content = content.trim();
        assert!(!text.contains(content), "{text}");
        assert!(!written.printed.contains(content), "{}", written.printed);
    }
    // A second time nothing is replaced, and nothing is left behind.
    let refused = init(&file, &["--sandbox"]);
    let sentence = format!("{} exists, and its secrets would be lost", file.display());
    assert!(refused.printed.contains(&sentence), "{}", refused.printed);
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    let other = folder.file("other.toml");
    let refused = init(&other, &["--sandbox", "--secrets", &secrets]);
    assert_ended(&refused, 1, &["api_key exists"]);
    assert!(!other.exists());
}

/// As `florin-proxy … | head` does.
#[test]
fn a_reader_that_closes_the_pipe_ends_each_command_in_order() {
    let folder = Folder::new();
    for (number, words) in [
        &["init", "--sandbox"][..],
        &["config-reference"],
        &["command-reference"],
        &["secrets", "new"],
        &["check-config"],
    ]
    .into_iter()
    .enumerate()
    {
        let file = folder.file(&format!("{number}.toml")).display().to_string();
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ended = Command::new(built("florin-proxy", "florin-proxy"))
            .args([words, &["--config", &file]].concat())
            .stdout(writer.try_clone().unwrap())
            .stderr(writer)
            .status()
            .unwrap();
        // 128 and SIGPIPE: what a shell reports of other programs. A panic is 101.
        assert_eq!(ended.code(), Some(141), "{words:?}");
    }
}

#[test]
fn init_for_production_says_what_is_missing_and_writes_nothing_wrong() {
    let folder = Folder::new();
    let file = folder.file("florin.toml");
    let shop = ["--production", "--origin", "https://shop.example"];
    let url = ["--public-url", "https://pay.shop.example"];
    for (words, sentence) in [
        (vec![], "--sandbox|--production"),
        (shop.to_vec(), "--production needs --public-url"),
        (
            [&shop[..], &["--public-url", "http://pay.shop.example"]].concat(),
            "public_url: \"http://pay.shop.example\" is not encrypted",
        ),
        (
            [&shop[..], &url, &["--store", "My Shop"]].concat(),
            "store.My Shop.id: ",
        ),
    ] {
        let refused = init(&file, &words);
        assert_ne!(refused.code, Some(0), "{words:?}");
        assert!(refused.printed.contains(sentence), "{}", refused.printed);
        assert!(!file.exists(), "{words:?}");
    }
    let written = init(&file, &[&shop[..], &url].concat());
    assert_eq!(written.code, Some(0), "{}", written.printed);
    let report: Value = serde_json::from_str(&check(&file, &["--json"]).printed).unwrap();
    let problems = report["problems"].as_array().unwrap();
    let keys = problems.iter().map(|problem| problem["key"].as_str());
    let keys = keys.flatten().filter(|key| *key != "database_url");
    let keys: Vec<&str> = keys.collect();
    let missing = ["gateway.url", "gateway.api_key", "gateway.api_secret"];
    assert_eq!(keys, missing);
    let missing = missing.map(|key| format!("  {key}: "));
    assert_ended(&written, 0, &missing.each_ref().map(String::as_str));
}

#[test]
fn secrets_are_drawn_in_the_form_that_their_keys_take() {
    let drawn = || {
        let printed = Program::run(&["secrets", "new", "--json"], &[]).printed;
        serde_json::from_str::<Value>(&printed).unwrap()
    };
    let (one, other) = (drawn(), drawn());
    for (key, start, chars) in [
        ("gateway.callback_token", "", 64),
        ("store.secret_key", "sk_", 67),
        ("store.token_keys.secret", "tk_", 67),
        ("store.webhook.secret", "whsec_", 50),
    ] {
        let secret = one[key].as_str().unwrap();
        assert!(secret.starts_with(start), "{key}");
        assert_eq!(secret.len(), chars, "{key}");
        assert_ne!(one[key], other[key]);
    }
    let alone = Program::run(&["secrets", "new", "webhook-secret"], &[]).printed;
    assert!(alone.starts_with("whsec_") && alone.lines().count() == 1);
    let short = Program::run_with_input(&["secrets", "hash"], "hunter2\n");
    assert_ended(&short, 1, &["fewer than 12 characters"]);
}

/// `alerts.rs` asks a proxy whose database fails.
#[tokio::test]
async fn health_says_whether_a_proxy_answers_and_reads_its_address_alone() {
    let mut world = World::start().await;
    let address = world.admin_url().replace("http://", "");
    // The file may be incomplete while it is edited.
    let file = world.file("edited.toml");
    support::write_private(&file, &format!("admin_listen = \"{address}\"\nlog = 7\n"));
    let file = file.display().to_string();
    let health = async || Program::run_beside(&["health", "--config", &file], &[]).await;
    assert_ended(&health().await, 0, &["The proxy is ready.\n"]);
    world.stop_proxy().await;
    let sentence = format!("no proxy answers at {address}, its admin_listen");
    assert_ended(&health().await, 1, &[&sentence]);
    world.end().await;
}

#[test]
fn the_page_of_the_commands_has_what_the_program_prints() {
    let page = text_of("docs/reference/commands.md");
    let (_, commands) = page.split_once("\n## Commands\n\n").unwrap();
    let reference = Program::run(&["command-reference"], &[]).printed;
    assert!(
        commands == reference,
        "below `## Commands`, write what florin-proxy command-reference prints"
    );
}

/// What a command prints on a terminal, standard error included.
fn on_terminal(words: &str) -> String {
    // Of util-linux: runs a command with a terminal.
    let line = format!(
        "{} {words}",
        built("florin-proxy", "florin-proxy").display()
    );
    let output = command(Path::new("script"), &[("TERM", "xterm")])
        .args(["-q", "-e", "-c", &line, "/dev/null"])
        .env_remove("NO_COLOR")
        .output()
        .expect("apt-get install bsdutils");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{printed}");
    printed
}

#[tokio::test]
async fn a_long_command_shows_its_progress_on_a_terminal_and_nowhere_else() {
    let mut world = World::start().await;
    world.customer().open("ebook").await;
    world.wait_for_deliveries().await;
    world.stop_proxy().await;
    let config = world.config_file().display().to_string();
    let copy = world.file("copy.db").display().to_string();
    for (words, line) in [
        (format!("store backup --to {copy}"), "Copying"),
        ("store verify".to_owned(), "Reading the whole database"),
    ] {
        let words = format!("--config {config} {words}");
        let printed = on_terminal(&words);
        assert!(printed.contains(line), "{printed}");
        let _ = std::fs::remove_file(&copy);
        let printed = on_terminal(&format!("--json {words}"));
        assert!(!printed.contains(line), "{printed}");
        let _ = std::fs::remove_file(&copy);
        let piped = Program::run(&words.split(' ').collect::<Vec<_>>(), &[]);
        assert!(!piped.printed.contains(line), "{}", piped.printed);
    }
    world.end().await;
}

/// Commands that print the gateway's response as it came, which is JSON, to a change of the account.
const CHANGES_OF_THE_ACCOUNT: [&str; 4] = [
    "gateway add-preferences",
    "gateway update-preferences",
    "gateway onboard-merchant",
    "gateway update-settings",
];

/// The commands of docs/reference/commands.md that have none below them.
fn commands() -> BTreeSet<String> {
    let page = text_of("docs/reference/commands.md");
    let headings = page.lines().filter_map(|line| {
        let name = line.strip_prefix("### `florin-proxy ")?;
        name.strip_suffix('`').map(str::to_owned)
    });
    let all: Vec<String> = headings.collect();
    let has_none_below = |name: &&String| {
        let start = format!("{name} ");
        !all.iter().any(|other| other.starts_with(&start))
    };
    all.iter().filter(has_none_below).cloned().collect()
}

async fn json(words: &[&str], variables: &[(&str, &str)]) -> Value {
    let ended = Program::run_beside(&[words, &["--json"]].concat(), variables).await;
    assert_ended(&ended, 0, &[]);
    parsed(words, &ended)
}

fn parsed(words: &[&str], ended: &ProgramOutput) -> Value {
    let value = serde_json::from_str(&ended.printed);
    value.unwrap_or_else(|error| panic!("{words:?}: {error} in {}", ended.printed))
}

#[tokio::test]
async fn every_command_prints_json() {
    let mut world = World::start().await;
    let checkout = underpaid(&world).await;
    let id = checkout.order.as_str();
    let event = world.webhooks.accepted(id)[0].id.clone();
    let invoice = world.sandbox().invoice_of(&checkout.address().await).await;
    let program = start_program(&mut world).await;

    let folder = Folder::new();
    let backup = folder.file("backup.db").display().to_string();
    let backup_url = format!("sqlite://{backup}");
    let new = folder.file("new.toml").display().to_string();
    let config = world.config_file().display().to_string();
    let server = empty_postgres_database();
    let token = [("FLORIN_OPERATOR_TOKEN", secrets::OPERATOR_TOKEN)];
    let mut done = BTreeSet::new();
    let mut check = async |name: &str, rest: &[&str], variables: &[(&str, &str)]| {
        let words: Vec<&str> = name.split(' ').chain(rest.iter().copied()).collect();
        done.insert(name.to_owned());
        json(&[&words[..], &["--config", &config]].concat(), variables).await
    };
    let shown = check("orders show", &[id], &token).await;
    let version = shown["order"]["version"].to_string();
    let decision = ["--decision", "resolve", "--reason", "agreed"];
    let decision = [&[id, "--seen", &version][..], &decision].concat();
    for (name, rest) in [
        ("orders list", &[][..]),
        ("orders resolve", &decision),
        ("orders refund", &[id, "--amount", "0.00001"]),
        ("settlements", &["--store", "demo"]),
        ("deliveries list", &["--store", "demo"]),
        ("deliveries redeliver", &[&event]),
        ("webhooks test", &["demo"]),
    ] {
        check(name, rest, &token).await;
    }
    for (name, rest) in [
        ("health", &[][..]),
        ("check-config", &[]),
        ("config-reference", &[]),
        ("secrets new", &[]),
        ("gateway currencies", &[]),
        ("gateway prices", &[]),
        ("gateway invoice", &[invoice.as_str()]),
        ("gateway merchant-account", &[]),
    ] {
        check(name, rest, &[]).await;
    }
    let copied = check("store backup", &["--to", &backup], &[]).await;
    assert_eq!(copied["rows"]["orders"], 1, "{copied}");
    let read = check("store verify", &["--database", &backup_url], &[]).await;
    assert_eq!(read, copied);
    let of_server = [("FLORIN_DATABASE_URL", server.as_str())];
    let migrated = check("migrate", &[], &of_server).await;
    let applied = migrated["migrations_applied"].as_u64();
    assert!(applied > Some(0), "{migrated}");
    let moved = check("store copy", &["--from", &backup_url], &of_server).await;
    let sum = moved["tables"][0]["sha256"].as_str().unwrap();
    assert_eq!(sum.len(), 64, "{moved}");
    // These read no configuration of the world.
    json(&["init", "--sandbox", "--config", &new], &[]).await;
    let words = ["secrets", "hash", "--json"];
    let hash = Program::run_with_input(&words, "correct horse battery\n");
    let hash = parsed(&words, &hash)["operator.password_hash"].to_string();
    assert!(hash.starts_with("\"$argon2id$"), "{hash}");
    // Findings are no failure of the output: the doctor exits with 1 where something failed.
    let words = ["doctor", "--json"];
    parsed(&words, &run(&folder, &words, &[]));
    for name in ["init", "secrets hash", "doctor"] {
        done.insert(name.to_owned());
    }
    done.extend(CHANGES_OF_THE_ACCOUNT.map(str::to_owned));
    assert_eq!(done, commands());
    drop(program);
    world.end().await;
}

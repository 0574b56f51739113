//! `--json`: every command prints JSON, and nothing else.

use std::collections::BTreeSet;

use serde_json::Value;
use support::{Folder, Program, ProgramOutput, World, empty_postgres_database, secrets};

use crate::operator_commands::underpaid;
use crate::program::{complete_environment, start_program};

/// Commands that print the gateway's response as it came, which is JSON, to a change of the account.
const CHANGES_OF_THE_ACCOUNT: [&str; 4] = [
    "gateway add-preferences",
    "gateway update-preferences",
    "gateway onboard-merchant",
    "gateway update-settings",
];

/// The commands of docs/reference/commands.md that have none below them.
fn commands() -> BTreeSet<String> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference/commands.md");
    let page = std::fs::read_to_string(page).unwrap();
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

/// Runs a command with `--json`. The world answers meanwhile.
async fn json(words: &[&str], variables: &[(&'static str, &str)], input: &str) -> Value {
    let named: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let variables: Vec<_> = variables
        .iter()
        .map(|(name, value)| (*name, (*value).to_owned()))
        .collect();
    let input = input.to_owned();
    let run = move || -> ProgramOutput {
        let words: Vec<&str> = named.iter().map(String::as_str).chain(["--json"]).collect();
        let variables: Vec<_> = variables
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        if input.is_empty() {
            Program::run(&words, &variables)
        } else {
            Program::run_with_input(&words, &input)
        }
    };
    let ended = tokio::task::spawn_blocking(run).await.unwrap();
    assert_eq!(ended.code, Some(0), "{words:?}: {}", ended.printed);
    serde_json::from_str(&ended.printed)
        .unwrap_or_else(|error| panic!("{words:?}: {error} in {}", ended.printed))
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
    let mut check = async |name: &str, rest: &[&str], variables: &[(&'static str, &str)]| {
        let words: Vec<&str> = name.split(' ').chain(rest.iter().copied()).collect();
        done.insert(name.to_owned());
        json(
            &[&words[..], &["--config", &config]].concat(),
            variables,
            "",
        )
        .await
    };
    let shown = check("orders show", &[id], &token).await;
    let version = shown["order"]["version"].to_string();
    check("orders list", &[], &token).await;
    let decision = [
        "--decision",
        "close",
        "--reason",
        "agreed",
        "--seen",
        &version,
    ];
    check("orders resolve", &[&[id][..], &decision].concat(), &token).await;
    check("deliveries list", &["--store", "demo"], &token).await;
    check("deliveries redeliver", &[&event], &token).await;
    check("webhooks test", &["demo"], &token).await;
    check("health", &[], &[]).await;
    check("check-config", &[], &[]).await;
    check("config-reference", &[], &[]).await;
    check("secrets new", &[], &[]).await;
    check("gateway currencies", &[], &[]).await;
    check("gateway prices", &[], &[]).await;
    check("gateway invoice", &[&invoice], &[]).await;
    check("gateway merchant-account", &[], &[]).await;
    let copied = check("store backup", &["--to", &backup], &[]).await;
    assert_eq!(copied["rows"]["orders"], 1, "{copied}");
    let read = check("store verify", &["--database", &backup_url], &[]).await;
    assert_eq!(read, copied);
    let of_server = [("FLORIN_DATABASE_URL", server.as_str())];
    let migrated = check("migrate", &[], &of_server).await;
    assert!(
        migrated["migrations_applied"].as_u64() > Some(0),
        "{migrated}"
    );
    let moved = check("store copy", &["--from", &backup_url], &of_server).await;
    assert_eq!(
        moved["tables"][0]["sha256"].as_str().unwrap().len(),
        64,
        "{moved}"
    );
    // These read no configuration of the world.
    json(&["init", "--sandbox", "--config", &new], &[], "").await;
    let hash = json(&["secrets", "hash"], &[], "correct horse battery\n").await;
    let hash = hash["operator.password_hash"].as_str().unwrap().to_owned();
    assert!(hash.starts_with("$argon2id$"), "{hash}");
    // Findings are no failure of the output: the doctor exits with 1 where something failed.
    let variables = complete_environment(&folder.file("doctor.db").display().to_string());
    let variables: Vec<_> = variables
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let config = folder.file("doctor.toml");
    std::fs::write(&config, "[[store]]\nid = \"demo\"\n").unwrap();
    let config = config.display().to_string();
    let words = ["doctor", "--config", &config, "--json"];
    let examined = Program::run(&words, &variables);
    serde_json::from_str::<Value>(&examined.printed).expect(&examined.printed);
    for name in ["init", "secrets hash", "doctor"] {
        done.insert(name.to_owned());
    }
    done.extend(CHANGES_OF_THE_ACCOUNT.map(str::to_owned));
    assert_eq!(done, commands());
    drop(program);
    world.end().await;
}

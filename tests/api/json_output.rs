//! `--json`: every command prints JSON, and nothing else.

use std::collections::BTreeSet;

use serde_json::Value;
use support::{Folder, Program, ProgramOutput, World, empty_postgres_database, secrets};

use crate::operator_commands::underpaid;
use crate::program::{assert_ended, run, start_program};
use crate::repository::text_of;

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
    let decision = ["--decision", "close", "--reason", "agreed"];
    let decision = [&[id, "--seen", &version][..], &decision].concat();
    for (name, rest) in [
        ("orders list", &[][..]),
        ("orders resolve", &decision),
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

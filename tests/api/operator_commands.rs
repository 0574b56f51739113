//! `florin-proxy orders`, `deliveries` and `webhooks`: the operator's API from a terminal.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use support::{Program, ProgramOutput, Reply, World, eventually, secrets, write_private};

use crate::helpers::paid_event_count;
pub(crate) use crate::operators_pages::underpaid;
use crate::program::free_port;

/// The variable of the token.
const TOKEN: &str = "FLORIN_OPERATOR_TOKEN";

/// Runs a command with these variables. The world answers meanwhile.
async fn run(world: &World, words: &[&str], variables: &[(&str, &str)]) -> ProgramOutput {
    let config = world.config_file().display().to_string();
    Program::run_beside(&[words, &["--config", &config]].concat(), variables).await
}

/// Runs a command as the operator who may write; it must succeed.
async fn ada(world: &World, words: &[&str]) -> String {
    let ended = run(world, words, &[(TOKEN, secrets::OPERATOR_TOKEN)]).await;
    assert_eq!(ended.code, Some(0), "{words:?}: {}", ended.printed);
    ended.printed
}

/// Runs a command as the operator who may write; it prints JSON.
async fn ada_json(world: &World, words: &[&str]) -> Value {
    let printed = ada(world, &[words, &["--json"]].concat()).await;
    serde_json::from_str(&printed).unwrap()
}

/// Runs a command as the operator who may write; it must fail. Returns the sentence.
async fn ada_fails(world: &World, words: &[&str]) -> String {
    let ended = run(world, words, &[(TOKEN, secrets::OPERATOR_TOKEN)]).await;
    assert_eq!(ended.code, Some(1), "{words:?}: {}", ended.printed);
    ended.printed
}

#[tokio::test]
async fn an_order_is_found_shown_and_resolved_once() {
    let world = World::start().await;
    let checkout = underpaid(&world).await;
    let id = checkout.order.as_str();
    let waiting = ada(&world, &["orders", "list", "--attention"]).await;
    let first = waiting.lines().next().unwrap();
    assert!(
        first.starts_with(id) && first.contains(" underpaid "),
        "{waiting}"
    );
    assert!(first.ends_with("  Underpaid"), "{waiting}");
    assert_eq!(
        ada(&world, &["orders", "list", "--status", "paid"]).await,
        "No order.\n"
    );
    let found = ada_json(&world, &["orders", "list", "--search", id]).await;
    assert_eq!(found["orders"][0]["id"], id);

    let shown = ada(&world, &["orders", "show", id]).await;
    let json = ada_json(&world, &["orders", "show", id]).await;
    let version = json["order"]["version"].to_string();
    let invoice = &json["attempts"][0]["invoice"];
    let [address, hash] = ["address", "transaction_hash"].map(|it| invoice[it].as_str().unwrap());
    for part in [
        "\n  status                   underpaid\n".to_owned(),
        format!("\n  version                  {version}\n"),
        format!("  invoice address          {address}\n"),
        format!("  invoice transaction hash {hash}\n"),
        "  delivered  order.underpaid\n".to_owned(),
        format!(
            "  florin-proxy orders resolve {id} --decision accept_as_paid --seen {version} --reason …\n"
        ),
    ] {
        assert!(shown.contains(&part), "{part} in {shown}");
    }

    let words = format!("orders resolve {id} --decision accept_as_paid --seen {version}");
    let words: Vec<&str> = words.split(' ').collect();
    let words = [&words[..], &["--reason", "agreed by phone"]].concat();
    let decided = ada(&world, &words).await;
    let sentence = format!("{id} is paid, version ");
    assert!(decided.starts_with(&sentence), "{decided}");
    // A second operator, who saw the order as it was.
    let refused = ada_fails(&world, &words).await;
    let sentence = "florin-proxy: the order has changed: it has version ";
    assert!(refused.starts_with(sentence), "{refused}");
    assert!(refused.contains("Nothing was done: read it again with `florin-proxy orders show`"));
    let shown = ada(&world, &["orders", "show", id]).await;
    let entry = "  ada  accept_as_paid  underpaid  paid  agreed by phone\n";
    assert!(shown.contains(entry), "{shown}");

    assert_eq!(paid_event_count(&world, id).await, 1);
    world.end().await;
}

#[tokio::test]
async fn an_event_is_sent_again_and_an_endpoint_tested() {
    let world = World::start().await;
    let checkout = underpaid(&world).await;
    let list = ["deliveries", "list", "--store", "demo"];
    let listed = ada(&world, &[&list[..], &["--limit", "1"]].concat()).await;
    let (delivery, _) = listed.split_once("  ").unwrap();
    assert!(listed.contains("  order.underpaid  204  "), "{listed}");
    assert!(
        listed.ends_with(&format!("More: --after {delivery}\n")),
        "{listed}"
    );
    let more = [&list[..], &["--after", delivery]].concat();
    let more = ada_json(&world, &more).await;
    assert_ne!(more["deliveries"][0]["id"], delivery);

    let before = world.webhooks.accepted(&checkout.order).len();
    let sent = ada(&world, &["deliveries", "redeliver", delivery]).await;
    assert!(
        sent.ends_with(" (order.underpaid) is sent again.\n"),
        "{sent}"
    );
    eventually("the event is delivered again", async || {
        (world.webhooks.accepted(&checkout.order).len() > before).then_some(())
    })
    .await;
    let unknown = ada_fails(&world, &["deliveries", "redeliver", "evt_unknown"]).await;
    let sentence = "florin-proxy: there is no such event or delivery\n";
    assert_eq!(unknown, sentence);

    let tested = ada(&world, &["webhooks", "test", "demo"]).await;
    let sentence = "The endpoint accepts the test event: answered 2";
    assert!(tested.starts_with(sentence), "{tested}");
    world.webhooks.reply_with(Reply::Status(500));
    let refused = ada_fails(&world, &["webhooks", "test", "demo", "--json"]).await;
    let json: Value = serde_json::from_str(refused.lines().next().unwrap()).unwrap();
    let found = (&json["accepted"], &json["http_status"]);
    assert_eq!(found, (&json!(false), &json!(500)));
    world.webhooks.reply_with(Reply::Accept);
    world.end().await;
}

#[tokio::test]
async fn the_token_comes_from_a_file_or_the_environment() {
    let world = World::start().await;
    let file = world.file("ada.token");
    write_private(&file, &format!("{}\n", secrets::OPERATOR_TOKEN));
    let path = file.display().to_string();
    let list = ["orders", "list"];
    let named = ["orders", "list", "--token-file", &path];
    let in_file = [("FLORIN_OPERATOR_TOKEN_FILE", path.as_str())];
    let value = [(TOKEN, secrets::OPERATOR_TOKEN)];
    for (words, variables) in [
        // The file that is named wins.
        (&named[..], &[(TOKEN, "another")][..]),
        (&list, &in_file),
        (&list, &value),
    ] {
        let ended = run(&world, words, variables).await;
        let found = (ended.code, ended.printed.as_str());
        assert_eq!(found, (Some(0), "No order.\n"));
    }
    // The variables are no keys of the configuration, and no mistake in it.
    let checked = run(&world, &["check-config"], &in_file).await;
    assert_eq!(checked.code, Some(0), "{}", checked.printed);

    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let short = [(TOKEN, "canary-short")];
    let both = [value[0], in_file[0]];
    for (words, variables, sentence) in [
        (
            &list[..],
            &[][..],
            "--token-file: names no file, and neither",
        ),
        (&named, &[], "can be read by group or others (mode 0644)"),
        (
            &list,
            &both,
            "FLORIN_OPERATOR_TOKEN: is given as value and as file",
        ),
        (&list, &short, "FLORIN_OPERATOR_TOKEN: has 12 characters"),
        (
            &["orders", "list", "--token", "canary"],
            &[],
            "unexpected argument '--token'",
        ),
    ] {
        let ended = run(&world, words, variables).await;
        let printed = ended.printed;
        assert_eq!(ended.code, Some(2), "{printed}");
        assert!(printed.contains(sentence), "{sentence} in {printed}");
        assert!(!printed.contains("canary-"), "{printed}");
    }
    // A container's platform sets the rights of its files.
    let switch = [("FLORIN_DANGEROUS_ALLOW_SHARED_FILES", "true")];
    assert_eq!(run(&world, &named, &switch).await.code, Some(0));
    world.end().await;
}

/// The operator, the code of the exit, the words of the command, and a part of the sentence.
const REFUSALS: &str = r#"
reader   | 1 | webhooks test demo | rita has the role read: this needs role = "write"
stranger | 1 | orders list | no operator with this token: compare it with `token` of [[operator]]
writer   | 1 | orders show ord_1 | there is no such order
writer   | 1 | orders show ../audit | there is no such order
writer   | 1 | webhooks test other | the store other has no webhook
writer   | 2 | orders list --after ord_1 | after:
writer   | 2 | orders list --status gone | awaiting_payment
writer   | 2 | orders list --limit 101 | 101
writer   | 2 | orders resolve ord_1 --decision close --reason x | --seen <VERSION>
writer   | 1 | orders list --at SANDBOX | is another program at this address
writer   | 1 | orders list --at NOTHING | no proxy answers at NOTHING, its admin_listen: is it running
"#;

#[tokio::test]
async fn each_refusal_is_a_sentence() {
    let mut world = World::start().await;
    let sandbox = world.sandbox_url().replace("http://", "");
    let nothing = free_port().to_string();
    let table = REFUSALS.replace("SANDBOX", &sandbox);
    let table = table.replace("NOTHING", &nothing);
    for line in table.trim().lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [who, code, words, sentence] = cells[..] else {
            panic!("{line}")
        };
        let token = match who {
            "writer" => secrets::OPERATOR_TOKEN,
            "reader" => secrets::READER_TOKEN,
            _ => "0123456789abcdef0123456789abcdef",
        };
        let words: Vec<&str> = words.split(' ').collect();
        let ended = run(&world, &words, &[(TOKEN, token)]).await;
        let printed = ended.printed;
        assert_eq!(ended.code, code.parse().ok(), "{words:?}: {printed}");
        assert!(printed.contains(sentence), "{sentence} in {printed}");
        assert!(!printed.contains("canary-"), "{printed}");
    }
    world.stop_proxy().await;
    let none = ada_fails(&world, &["orders", "list"]).await;
    let address = world.admin_url().replace("http://", "");
    let sentence = format!("no proxy answers at {address}");
    assert!(none.contains(&sentence), "{none}");
    world.start_proxy().await;
    world.end().await;
}

//! `florin-proxy orders`, `deliveries` and `webhooks`: the operator's API from a terminal.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use support::{Checkout, Program, ProgramOutput, Reply, World, eventually, secrets, write_private};

use crate::helpers::paid_event_count;
use crate::program::{free_port, start_program};

/// The variable of the token.
const TOKEN: &str = "FLORIN_OPERATOR_TOKEN";

/// Runs a command with these variables. The world answers meanwhile.
async fn run(world: &World, words: &[&str], variables: &[(&'static str, &str)]) -> ProgramOutput {
    let config = world.config_file().display().to_string();
    let words: Vec<String> = [words, &["--config", &config]]
        .concat()
        .into_iter()
        .map(str::to_owned)
        .collect();
    let variables: Vec<_> = (variables.iter())
        .map(|(name, value)| (*name, (*value).to_owned()))
        .collect();
    let run = move || {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let variables: Vec<_> = (variables.iter())
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        Program::run(&words, &variables)
    };
    tokio::task::spawn_blocking(run).await.unwrap()
}

/// Runs a command as the operator who may write; it must succeed.
async fn ada(world: &World, words: &[&str]) -> String {
    let ended = run(world, words, &[(TOKEN, secrets::OPERATOR_TOKEN)]).await;
    assert_eq!(ended.code, Some(0), "{words:?}: {}", ended.printed);
    ended.printed
}

/// Runs a command as the operator who may write; it must fail. Returns the exit code and the sentence.
async fn ada_fails(world: &World, words: &[&str]) -> (Option<i32>, String) {
    let ended = run(world, words, &[(TOKEN, secrets::OPERATOR_TOKEN)]).await;
    (ended.code, ended.printed)
}

/// An order of which half is paid and confirmed.
pub(crate) async fn underpaid(world: &World) -> Checkout {
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    world.sandbox().pay(&checkout, "half").await;
    world.sandbox().mine(3).await;
    checkout.wait_for("underpaid").await;
    world.wait_for_deliveries().await;
    checkout
}

#[tokio::test]
async fn an_order_is_found_shown_and_resolved_once() {
    let mut world = World::start().await;
    let checkout = underpaid(&world).await;
    let id = checkout.order.as_str();
    let mut program = start_program(&mut world).await;

    let waiting = ada(&world, &["orders", "list", "--attention"]).await;
    let first = waiting.lines().next().unwrap();
    assert!(
        first.starts_with(id) && first.contains(" underpaid "),
        "{waiting}"
    );
    assert!(waiting.contains(": Underpaid\n"), "{waiting}");
    assert_eq!(
        ada(&world, &["orders", "list", "--status", "paid"]).await,
        "No order.\n"
    );
    let found = ada(&world, &["orders", "list", "--search", id, "--json"]).await;
    let found: Value = serde_json::from_str(&found).unwrap();
    assert_eq!(found["orders"][0]["id"], id);

    let shown = ada(&world, &["orders", "show", id]).await;
    let json: Value =
        serde_json::from_str(&ada(&world, &["orders", "show", id, "--json"]).await).unwrap();
    let version = json["order"]["version"].to_string();
    let invoice = &json["attempts"][0]["invoice"];
    for part in [
        "\nStatus       underpaid\n".to_owned(),
        format!("\nVersion      {version}\n"),
        format!(
            "    address        {}\n",
            invoice["address"].as_str().unwrap()
        ),
        format!(
            "    transaction    {}\n",
            invoice["transaction_hash"].as_str().unwrap()
        ),
        "  order.underpaid  delivered\n".to_owned(),
        format!(
            "  florin-proxy orders resolve {id} --decision accept_as_paid --seen {version} --reason …\n"
        ),
    ] {
        assert!(shown.contains(&part), "{part} in {shown}");
    }

    let resolve = |seen: &str| {
        let words = ["orders", "resolve", id, "--decision", "accept_as_paid"];
        let rest = ["--reason", "agreed by phone", "--seen", seen];
        [&words[..], &rest]
            .concat()
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let words = resolve(&version);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let decided = ada(&world, &words).await;
    assert!(
        decided.starts_with(&format!("{id} is paid, version ")),
        "{decided}"
    );
    // A second operator, who saw the order as it was.
    let (code, refused) = ada_fails(&world, &words).await;
    assert_eq!(code, Some(1));
    let sentence = "florin-proxy: the order has changed: it has version ";
    assert!(refused.starts_with(sentence), "{refused}");
    assert!(refused.contains("Nothing was done: read it again with `florin-proxy orders show`"));
    let shown = ada(&world, &["orders", "show", id]).await;
    let entry = "  ada  accept_as_paid  underpaid → paid: agreed by phone\n";
    assert!(shown.contains(entry), "{shown}");
    // It is credited already.
    let json: Value =
        serde_json::from_str(&ada(&world, &["orders", "show", id, "--json"]).await).unwrap();
    let words = resolve(&json["order"]["version"].to_string());
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (code, refused) = ada_fails(&world, &words).await;
    assert_eq!(code, Some(1));
    assert!(refused.contains("credited once"), "{refused}");

    assert_eq!(program.stop().await, Some(0));
    world.start_proxy().await;
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
    assert!(listed.contains("  order.underpaid       204  "), "{listed}");
    assert!(
        listed.ends_with(&format!("More: --after {delivery}\n")),
        "{listed}"
    );
    let more = [&list[..], &["--after", delivery, "--json"]].concat();
    let more = ada(&world, &more).await;
    let more: Value = serde_json::from_str(&more).unwrap();
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
    let (code, unknown) = ada_fails(&world, &["deliveries", "redeliver", "evt_unknown"]).await;
    assert_eq!(code, Some(1));
    assert_eq!(
        unknown,
        "florin-proxy: there is no such event or delivery\n"
    );

    let tested = ada(&world, &["webhooks", "test", "demo"]).await;
    assert!(
        tested.starts_with("The endpoint accepts the test event: answered 2"),
        "{tested}"
    );
    world.webhooks.reply_with(Reply::Status(500));
    let (code, refused) = ada_fails(&world, &["webhooks", "test", "demo"]).await;
    assert_eq!(code, Some(1));
    let sentence = "florin-proxy: the endpoint does not accept the test event: answered 500";
    assert!(refused.starts_with(sentence), "{refused}");
    let (code, refused) = ada_fails(&world, &["webhooks", "test", "demo", "--json"]).await;
    assert_eq!(code, Some(1));
    let json: Value = serde_json::from_str(refused.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&json["accepted"], &json["http_status"]),
        (&json!(false), &json!(500))
    );
    world.webhooks.reply_with(Reply::Accept);
    let (code, none) = ada_fails(&world, &["webhooks", "test", "other"]).await;
    assert_eq!(code, Some(1));
    assert!(none.contains("the store other has no webhook"), "{none}");
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
    for (words, variables) in [
        (&named[..], &[][..]),
        // The file that is named wins.
        (&named, &[(TOKEN, "another")]),
        (&list, &[("FLORIN_OPERATOR_TOKEN_FILE", path.as_str())]),
        (&list, &[(TOKEN, secrets::OPERATOR_TOKEN)]),
    ] {
        let ended = run(&world, words, variables).await;
        assert_eq!(
            (ended.code, ended.printed.as_str()),
            (Some(0), "No order.\n")
        );
    }
    // The variables are no keys of the configuration, and no mistake in it.
    let checked = run(
        &world,
        &["check-config"],
        &[(TOKEN, "x"), ("FLORIN_OPERATOR_TOKEN_FILE", "y")],
    );
    let checked = checked.await;
    assert_eq!(checked.code, Some(0), "{}", checked.printed);

    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    for (words, variables, sentence) in [
        (
            &list[..],
            &[][..],
            "--token-file: names no file, and neither FLORIN_OPERATOR_TOKEN nor",
        ),
        (
            &named,
            &[],
            "can be read by group or others (mode 0644): run chmod 600",
        ),
        (
            &list,
            &[
                (TOKEN, secrets::OPERATOR_TOKEN),
                ("FLORIN_OPERATOR_TOKEN_FILE", path.as_str()),
            ],
            "FLORIN_OPERATOR_TOKEN: is given as value and as file",
        ),
        (
            &list,
            &[(TOKEN, "canary-short")],
            "FLORIN_OPERATOR_TOKEN: has 12 characters",
        ),
        (
            &["orders", "list", "--token-file", "/nowhere/token"],
            &[],
            "/nowhere/token cannot be read",
        ),
        (
            &["orders", "list", "--token", "canary"],
            &[],
            "unexpected argument '--token'",
        ),
    ] {
        let ended = run(&world, words, variables).await;
        assert_eq!(ended.code, Some(2), "{}", ended.printed);
        assert!(
            ended.printed.contains(sentence),
            "{sentence} in {}",
            ended.printed
        );
        assert!(!ended.printed.contains("canary-"), "{}", ended.printed);
    }
    // A container's platform sets the rights of its files.
    let switch = [("FLORIN_DANGEROUS_ALLOW_SHARED_FILES", "true")];
    assert_eq!(run(&world, &named, &switch).await.code, Some(0));
    world.end().await;
}

/// The words that close an order which was seen with version 1.
fn close<'a>(order: &'a str, reason: &'a str) -> [&'a str; 9] {
    let [command, decision, why, seen] = ["resolve", "--decision", "--reason", "--seen"];
    [
        "orders", command, order, decision, "close", why, reason, seen, "1",
    ]
}

#[tokio::test]
async fn each_refusal_is_a_sentence() {
    let mut world = World::start().await;
    let checkout = underpaid(&world).await;
    let id = checkout.order.as_str();
    let resolve = close(id, "refunded");
    let elsewhere = world.sandbox_url().replace("http://", "");
    let no_program = free_port().to_string();
    let blank = close(id, " ");
    let (writer, reader) = (secrets::OPERATOR_TOKEN, secrets::READER_TOKEN);
    for (token, words, code, sentence) in [
        (
            reader,
            &resolve[..],
            1,
            "rita has the role read: this needs role = \"write\"",
        ),
        (
            reader,
            &["webhooks", "test", "demo"],
            1,
            "rita has the role read",
        ),
        (
            "0123456789abcdef0123456789abcdef",
            &["orders", "list"],
            1,
            "the proxy knows no operator with this token: compare it with `token` of [[operator]]",
        ),
        (
            writer,
            &["orders", "show", "ord_1"],
            1,
            "there is no such order",
        ),
        (
            writer,
            &["orders", "show", "../audit"],
            1,
            "there is no such order",
        ),
        (writer, &blank, 2, "reason: write why"),
        (
            writer,
            &["orders", "list", "--after", "ord_1"],
            2,
            "after: ",
        ),
        (
            writer,
            &["orders", "list", "--status", "gone"],
            2,
            "awaiting_payment",
        ),
        (writer, &["orders", "list", "--limit", "101"], 2, "101"),
        (writer, &resolve[..7], 2, "--seen <VERSION>"),
        (
            writer,
            &["orders", "list", "--at", &elsewhere],
            1,
            "is another program at this address",
        ),
        (
            writer,
            &["orders", "list", "--at", &no_program],
            1,
            &format!("no proxy answers at {no_program}, its admin_listen: is it running"),
        ),
    ] {
        let ended = run(&world, words, &[(TOKEN, token)]).await;
        assert_eq!(ended.code, Some(code), "{words:?}: {}", ended.printed);
        assert!(
            ended.printed.contains(sentence),
            "{sentence} in {}",
            ended.printed
        );
        assert!(!ended.printed.contains("canary-"), "{}", ended.printed);
    }
    let kept = world
        .operator(secrets::OPERATOR_TOKEN)
        .get("/api/audit")
        .await;
    assert_eq!(kept.body["entries"], json!([]), "a refusal does nothing");
    world.stop_proxy().await;
    let (code, none) = ada_fails(&world, &["orders", "list"]).await;
    assert_eq!(code, Some(1));
    let address = world.admin_url().replace("http://", "");
    assert!(
        none.contains(&format!("no proxy answers at {address}")),
        "{none}"
    );
    world.start_proxy().await;
    world.end().await;
}

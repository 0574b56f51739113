//! SIGHUP: the configuration is loaded again, all of it or nothing. `alerts.rs` changes the gateway's secret.

use reqwest::StatusCode;
use serde_json::json;
use support::{Program, World, eventually, secrets, write_private};
use tokio::task::JoinSet;

use crate::idempotency::database;
use crate::operators::ada_runs;
use crate::program::{start_program, wait_until_up};

/// base64 of `canary-webhook-secret-next`.
const NEXT_WEBHOOK: &str = "whsec_Y2FuYXJ5LXdlYmhvb2stc2VjcmV0LW5leHQ=";
const NEXT_KEY: &str = "canary-store-key-next-1f6b0c93a7e2d854";
const NEXT_CALLBACK_TOKEN: &str = "canary-callback-token-next-7b20e4c6";
const NEXT_OPERATOR_TOKEN: &str = "canary-operator-token-next-31f8a0";
pub(crate) const RELOADED: &str = "configuration reloaded";
const REFUSED: &str = "the configuration was not reloaded";

/// Replaces texts of the configuration file, and sends the signal.
pub(crate) fn change(world: &World, program: &Program, changes: &[(&str, &str)]) {
    let file = world.config_file();
    let mut text = std::fs::read_to_string(&file).unwrap();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    write_private(&file, &text);
    program.reload();
}

/// Waits for a further line of the log with this text, and returns it.
pub(crate) async fn line(program: &Program, known: usize, text: &str) -> String {
    eventually("the signal is handled", async || {
        let printed = program.printed();
        let found: Vec<&str> = printed.lines().filter(|line| line.contains(text)).collect();
        found.get(known).map(|line| (*line).to_owned())
    })
    .await
}

async fn status_with(world: &World, key: &str) -> StatusCode {
    let url = format!("{}/v1/orders", world.proxy_url());
    let response = world.http().get(url).bearer_auth(key).send().await;
    response.unwrap().status()
}

#[tokio::test]
async fn a_price_and_the_webhooks_change_under_load_without_an_error() {
    let mut world = World::start().await;
    let program = start_program(&mut world).await;
    let before = world.customer().open("ebook").await.view().await;
    assert_eq!(before["amount"], "19.90");
    let mut load = JoinSet::new();
    for _ in 0..4 {
        let customer = world.customer();
        load.spawn(async move {
            let mut prices = Vec::new();
            // Each panics on any other response than 201 and 200.
            while prices.last() != Some(&json!("21.50")) {
                let checkout = customer.open("ebook").await;
                prices.push(checkout.view().await["amount"].clone());
            }
            prices
        });
    }
    eventually("orders are opened", async || {
        (world.store().orders().await.len() > 4).then_some(())
    })
    .await;
    let old_secret = format!("secret = \"{}\"", secrets::WEBHOOK);
    let pair = format!("secret = [\"{NEXT_WEBHOOK}\", \"{}\"]", secrets::WEBHOOK);
    let price = ("price = \"19.90\"", "price = \"21.50\"");
    let text = std::fs::read_to_string(world.config_file()).unwrap();
    let (head, end) = ("[[store.webhook]]", "targets = true");
    let section = text.split(head).nth(1).unwrap().split(end).next().unwrap();
    let books = "id = \"books\"\nevents = [\"order.attempt_opened\"]";
    let both = format!("{head}\n{books}{section}{end}\n{head}");
    let changes = [price, (&old_secret, &pair), (head, &both)];
    change(&world, &program, &changes);
    let logged = line(&program, 0, RELOADED).await;
    for key in [
        "store.demo.product.ebook.price",
        "store.demo.webhook.0.secret",
    ] {
        assert!(logged.contains(key), "{logged}");
    }
    assert!(!logged.contains("whsec_"), "{logged}");
    let after = world.customer().open("ebook").await;
    assert_eq!(after.view().await["amount"], "21.50");
    let prices = load.join_all().await.concat();
    assert!(prices.iter().all(|it| it == "19.90" || it == "21.50"));
    assert!(prices.contains(&json!("19.90")));
    // Each delivery has two signatures; `proxy/src/webhooks/sign.rs` has what they sign.
    let delivered = eventually("the order's first event arrives", async || {
        world.webhooks.accepted(&after.order).into_iter().next()
    })
    .await;
    assert_eq!(delivered.signatures.split(' ').count(), 2);
    // The new webhook has the events that it asks for, beside the other one.
    after.choose("BTC").await;
    let tries = eventually("both have the second event", async || {
        let page = world.store().get("/v1/deliveries").await.with(200).body;
        let mut tries = page["deliveries"].as_array().unwrap().clone();
        tries.retain(|it| it["webhook"] == "books" || it["type"] == "order.attempt_opened");
        (tries.len() > 1).then_some(tries)
    })
    .await;
    let mut types = tries.iter().map(|it| &it["type"]);
    assert!(types.all(|kind| kind == "order.attempt_opened"));
    // A delivery is sent again to its webhook alone, and a removed webhook is forgotten.
    let to_books = tries.iter().find(|it| it["webhook"] == "books").unwrap();
    let [id, event] = ["id", "event"].map(|name| to_books[name].as_str().unwrap());
    ada_runs(&world, &["deliveries", "redeliver", id]).await;
    world.wait_for_deliveries().await;
    change(&world, &program, &[(&both, head)]);
    let counts = "SELECT (SELECT count(*) FROM webhooks WHERE webhook = 'books'),
         (SELECT count(*) FROM deliveries WHERE event_id = $1)";
    eventually("the webhook is forgotten", async || {
        let counts = sqlx::query_as::<_, (i64, i64)>(counts).bind(event);
        let counts = counts.fetch_one(&mut database(&world).await).await;
        (counts.unwrap() == (0, 3)).then_some(())
    })
    .await;
    let printed = program.printed();
    assert!(!printed.contains("\"level\":\"ERROR\""), "{printed}");
    drop(program);
    world.end().await;
}

#[tokio::test]
async fn a_configuration_that_cannot_be_used_changes_nothing_and_is_named_by_its_keys() {
    let mut world = World::start().await;
    let program = start_program(&mut world).await;
    let amount = async || world.customer().open("ebook").await.view().await["amount"].clone();
    let price = ("price = \"19.90\"", "price = \"21.50\"");
    let zero = ("poll_interval_seconds = 1", "poll_interval_seconds = 0");
    let unknown = ("name = \"Quiet Goods\"", "nom = \"canary-value\"");
    change(&world, &program, &[price, zero, unknown]);
    let logged = line(&program, 0, REFUSED).await;
    for text in [
        "\"level\":\"ERROR\"",
        "gateway.poll_interval_seconds",
        "store.demo.nom",
    ] {
        assert!(logged.contains(text), "{logged}");
    }
    assert!(!logged.contains("canary"), "{logged}");
    assert_eq!(amount().await, "19.90");
    // Keys that need a restart, together with all others.
    let back = |(from, to)| (to, from);
    let old = format!("listen = \"{}\"", world.listen_address());
    let listen = (&*old, "listen = \"127.0.0.1:1\"");
    let budget = ("requests_per_second = 100", "requests_per_second = 99");
    let changes = [back(zero), back(unknown), listen, budget];
    change(&world, &program, &changes);
    let logged = line(&program, 1, REFUSED).await;
    for text in [
        "\"listen, ",
        "gateway.requests_per_second",
        "need a restart",
    ] {
        assert!(logged.contains(text), "{logged}");
    }
    assert_eq!(amount().await, "19.90");
    // The same file without those is taken.
    change(&world, &program, &[back(listen), back(budget)]);
    line(&program, 0, RELOADED).await;
    assert_eq!(amount().await, "21.50");
    // A file that is no TOML.
    write_private(&world.config_file(), "[gateway");
    program.reload();
    line(&program, 2, REFUSED).await;
    assert_eq!(amount().await, "21.50");
    drop(program);
    world.end().await;
}

#[tokio::test]
async fn keys_in_pairs_are_both_accepted_until_the_old_one_is_removed() {
    let mut world = World::start().await;
    let program = start_program(&mut world).await;
    let pair = |key: &str, new: &str, old: &str| format!("{key} = [\"{new}\", \"{old}\"]");
    let one = |key: &str, value: &str| format!("{key} = \"{value}\"");
    let keys = [
        ("secret_key", NEXT_KEY, secrets::STORE_KEY),
        (
            "callback_token",
            NEXT_CALLBACK_TOKEN,
            secrets::CALLBACK_TOKEN,
        ),
        ("token", NEXT_OPERATOR_TOKEN, secrets::OPERATOR_TOKEN),
    ];
    let statuses = async |[key, token, operator]: [&str; 3]| {
        let callback = format!("{}/callbacks/{token}", world.proxy_url());
        let hint = json!({ "invoice_id": "inv_1", "status": "COMPLETED" });
        let callback = world.http().post(callback).json(&hint).send().await;
        let orders = format!("{}/api/orders", world.admin_url());
        let orders = world.http().get(orders).bearer_auth(operator).send().await;
        let [callback, orders] = [callback, orders].map(|response| response.unwrap().status());
        (status_with(&world, key).await, callback, orders)
    };
    let accepted = (StatusCode::OK, StatusCode::OK, StatusCode::OK);
    let unknown = StatusCode::UNAUTHORIZED;
    let refused = (unknown, StatusCode::NOT_FOUND, unknown);
    let new = [NEXT_KEY, NEXT_CALLBACK_TOKEN, NEXT_OPERATOR_TOKEN];
    let old = keys.map(|(_, _, old)| old);
    assert_eq!(statuses(old).await, accepted);
    assert_eq!(statuses(new).await, refused);
    let to_pairs = keys.map(|(key, new, old)| (one(key, old), pair(key, new, old)));
    let to_pairs = to_pairs.each_ref().map(|(from, to)| (&**from, &**to));
    change(&world, &program, &to_pairs);
    line(&program, 0, RELOADED).await;
    assert_eq!(statuses(old).await, accepted);
    assert_eq!(statuses(new).await, accepted);
    let to_new = keys.map(|(key, new, old)| (pair(key, new, old), one(key, new)));
    let to_new = to_new.each_ref().map(|(from, to)| (&**from, &**to));
    change(&world, &program, &to_new);
    line(&program, 1, RELOADED).await;
    assert_eq!(statuses(old).await, refused);
    assert_eq!(statuses(new).await, accepted);
    drop(program);
    world.end().await;
}

#[tokio::test]
async fn a_store_comes_and_goes_and_limits_and_the_log_follow() {
    let mut world = World::start().await;
    let program = start_program(&mut world).await;
    let text = std::fs::read_to_string(world.config_file()).unwrap();
    let added = format!(
        "log = \"info,florin_proxy::http=debug\"\n{text}\n[[store]]\nid = \"late\"\nsecret_key = \"{NEXT_KEY}\"\n\
         [[store.product]]\nsku = \"mug\"\ntitle = \"Mug\"\nprice = \"5.00\"\n"
    );
    write_private(&world.config_file(), &added);
    program.reload();
    let logged = line(&program, 0, RELOADED).await;
    assert!(logged.contains("log, store.late."), "{logged}");
    assert_eq!(status_with(&world, NEXT_KEY).await, StatusCode::OK);
    let order = json!({ "store": "late", "product": "mug" });
    let url = format!("{}/v1/checkout", world.proxy_url());
    let opened = world.http().post(&url).json(&order).send().await.unwrap();
    assert_eq!(opened.status(), StatusCode::CREATED);
    // Its series exist, beside those of the stores of the start. The event of a store that is gone waits for its return:
    // this one is ended before.
    eventually("the new store has no event that waits", async || {
        let metrics = world.get_admin("/metrics").await.text;
        let series = "florin_events_waiting{store=\"late\"} 0";
        metrics.lines().any(|line| line == series).then_some(())
    })
    .await;
    write_private(&world.config_file(), &text);
    program.reload();
    line(&program, 1, RELOADED).await;
    let without = status_with(&world, NEXT_KEY).await;
    assert_eq!(without, StatusCode::UNAUTHORIZED);
    let refused = world.http().post(&url).json(&order).send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::NOT_FOUND);
    wait_until_up(&world, &program).await;
    drop(program);
    world.end().await;
}

//! Each alert has a text, a runbook and a unit test by promtool; `metrics.rs` compares the series of the proxy's tests with what it
//! exports. Faults set the series that the rules read, and are on the operator's first page.

use std::fs;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use support::{Folder, MovedFile, Reply, World, eventually, secrets, yaml_documents};

use crate::metrics::Scrape;
use crate::operators_pages::{Pages, ada};
use crate::program::{assert_ended, end, run_for, start_program};
use crate::reload::{RELOADED, change, line};
use crate::repository::{root, text_of};
use crate::staff_pages::zoe;

fn promtool(words: &[&str]) {
    let done = Command::new("promtool")
        .args(words)
        .current_dir(root().join("deploy/prometheus"))
        .output();
    let done = done.expect("promtool comes with Debian's package prometheus");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let printed = [text(&done.stdout), text(&done.stderr)].concat();
    assert!(done.status.success(), "{printed}");
}

#[test]
fn the_alerts_pass_their_unit_tests() {
    for name in ["alerts", "gateway-alerts"] {
        promtool(&["check", "rules", &format!("{name}.yml")]);
        promtool(&["test", "rules", &format!("{name}.test.yml")]);
    }
}

#[test]
fn the_expressions_of_the_dashboards_are_promql() {
    let dashboards = ["florin", "florin-gateway"];
    let dashboards = dashboards.map(|name| {
        let text = text_of(&format!("deploy/grafana/{name}.json"));
        serde_json::from_str::<Value>(&text).unwrap()
    });
    let panels = dashboards
        .iter()
        .flat_map(|dashboard| dashboard["panels"].as_array().unwrap());
    let targets = panels.flat_map(|panel| panel["targets"].as_array().into_iter().flatten());
    let rules = targets.zip(1..).map(|(target, number)| {
        let expression = target["expr"].as_str().unwrap();
        let expression = expression.replace("$__rate_interval", "2m");
        json!({ "record": format!("panel_{number}"), "expr": expression })
    });
    let rules: Vec<Value> = rules.collect();
    assert!(rules.len() > 15, "{rules:?}");
    let folder = Folder::new();
    let file = folder.file("panels.yml");
    // JSON is YAML.
    let text = json!({ "groups": [{ "name": "panels", "rules": rules }] });
    fs::write(&file, text.to_string()).unwrap();
    promtool(&["check", "rules", &file.display().to_string()]);
}

#[test]
fn every_alert_says_what_to_do_and_has_a_runbook_and_a_unit_test() {
    says_what_to_do("alerts", "alerts", "##", 10);
    says_what_to_do("gateway-alerts", "gateway-service", "###", 4);
}

/// Checks the alerts of a file. Each has a section of this level in a page of operations.
fn says_what_to_do(file: &str, page: &str, level: &str, fewest: usize) {
    let path = format!("docs/operations/{page}.md");
    let groups = yaml_documents(&text_of(&format!("deploy/prometheus/{file}.yml"))).remove(0);
    let groups = groups["groups"].as_array().unwrap().iter();
    let rules: Vec<&Value> = groups
        .flat_map(|group| group["rules"].as_array().unwrap())
        .collect();
    let (page, tests) = (
        text_of(&path),
        text_of(&format!("deploy/prometheus/{file}.test.yml")),
    );
    assert!(rules.len() > fewest);
    for rule in &rules {
        let name = rule["alert"].as_str().unwrap();
        let annotation = |key: &str| rule["annotations"][key].as_str().unwrap_or_default();
        assert!(annotation("summary").len() > 20, "{name}");
        assert!(annotation("action").ends_with('.'), "{name}");
        let runbook = format!("{path}#{}", name.to_lowercase());
        assert_eq!(annotation("runbook"), runbook);
        let has_section = page.contains(&format!("\n{level} {name}\n"));
        assert!(has_section, "{name} has no section");
        let severity = rule["labels"]["severity"].as_str();
        assert!(matches!(severity, Some("page" | "ticket")), "{name}");
        let times = tests.matches(&format!("alertname: {name}\n")).count();
        assert_eq!(times, 2, "{name} is tested silent and firing");
    }
    let sections = page.matches(&format!("\n{level} Florin")).count();
    assert_eq!(sections, rules.len(), "a section without an alert");
}

/// The gateway writes its series by name.
#[test]
fn the_series_of_the_gateways_alerts_and_dashboard_are_exported() {
    let server = text_of("crates/gateway-server/src/server.rs");
    let (mut count, page) = (0, text_of("docs/operations/gateway-service.md"));
    for file in [
        "prometheus/gateway-alerts.yml",
        "prometheus/gateway-alerts.test.yml",
        "grafana/florin-gateway.json",
    ] {
        for rest in text_of(&format!("deploy/{file}"))
            .split("florin_gateway_")
            .skip(1)
        {
            let end = rest.find(|letter: char| !letter.is_ascii_lowercase() && letter != '_');
            let name = format!("florin_gateway_{}", &rest[..end.unwrap_or(rest.len())]);
            count += 1;
            assert!(
                server.contains(&name) && page.contains(&name),
                "{file}: {name}"
            );
        }
    }
    assert!(count > 15, "the names were not found");
}

#[test]
fn the_table_of_faults_names_what_there_is() {
    let page = text_of("docs/operations/alerts.md");
    let (_, section) = page.split_once("\n## Faults\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| "));
    let rows: Vec<&str> = rows.skip(1).collect();
    assert!(rows.len() > 20);
    let pages = ["operators-page", "metrics", "logs"];
    let pages = pages.map(|name| text_of(&format!("docs/operations/{name}.md")));
    let [operator, metrics, logs] = pages;
    let rules = text_of("deploy/prometheus/alerts.yml");
    for row in rows {
        let cells = row.trim_matches('|').split('|').map(str::trim);
        let [_, entry, metric, alert, line] = cells.collect::<Vec<_>>()[..] else {
            panic!("five cells: {row}");
        };
        for (cell, text, expected) in [
            (entry, &operator, format!("\n| {entry} | ")),
            (metric, &metrics, format!("\n| {metric} | ")),
            (alert, &rules, format!("alert: {alert}\n")),
            (line, &logs, line.trim_end_matches('`').to_owned()),
        ] {
            let is_none = cell.starts_with("none") || cell == "`up` of Prometheus";
            assert!(is_none || text.contains(&expected), "{cell}");
        }
    }
}

const ALL_IS_WELL: &str = "Nothing waits for you.";

/// Waits until the first page of an operator has all of these texts, and returns it.
async fn page_with(world: &World, session: &[(String, String)], texts: &[&str]) -> String {
    eventually(&texts.join(", "), async || {
        let mut pages = Pages::of(world);
        pages.cookies = session.to_vec();
        let page = pages.get("/").await.with(200).text;
        let has_all = texts.iter().all(|text| page.contains(text));
        has_all.then_some(page)
    })
    .await
}

async fn wait_for_series(world: &World, series: &str, is_reached: impl Fn(u64) -> bool) {
    eventually(series, async || {
        is_reached(Scrape::of(world).await.value(series)).then_some(())
    })
    .await;
}

#[tokio::test]
async fn faults_of_configuration_and_disk_are_in_metrics_and_on_the_operators_page() {
    let mut world = World::start().await;
    let program = start_program(&mut world).await;
    let checkout = world.customer().open("ebook").await;
    let session = ada(&world).await.cookies;
    page_with(&world, &session, &[ALL_IS_WELL]).await;

    let right = format!("api_secret = \"{}\"", secrets::API_SECRET);
    let wrong = "api_secret = \"canary-wrong-secret\"";
    change(&world, &program, &[(&right, wrong)]);
    line(&program, 0, RELOADED).await;
    assert_eq!(checkout.get("/quotes").await.status, 503);
    wait_for_series(&world, "florin_gateway_key_rejected", |value| value == 1).await;
    let text = "the gateway refuses us: check the key and the secret";
    let logged = line(&program, 0, text).await;
    let reason = "\"gateway_message\":\"the signature is not";
    assert!(logged.contains(reason), "{logged}");
    let page = page_with(&world, &session, &["The gateway rejects the key"]).await;
    assert!(!page.contains("canary"), "{page}");
    let health = async |words: &[&str]| run_for(&world, &[&["health"], words].concat(), &[]).await;
    let condition = "The gateway rejects the key: It answers 401.";
    // A restart would not help.
    assert_ended(&health(&[]).await, 0, &["The proxy is ready.\n", condition]);

    let (price, number) = ("price = \"19.90\"", "price = 19.90");
    change(&world, &program, &[(wrong, &right), (price, number)]);
    wait_for_series(&world, "florin_reload_refused", |value| value == 1).await;
    let refused = ["The configuration was not reloaded", "product.ebook.price"];
    page_with(&world, &session, &refused).await;
    change(&world, &program, &[(number, price)]);
    line(&program, 1, RELOADED).await;
    checkout.choose("BTC").await;
    page_with(&world, &session, &[ALL_IS_WELL]).await;

    let moved = MovedFile::move_away(&world.database());
    wait_for_series(&world, "florin_storage_failing", |value| value == 1).await;
    wait_for_series(&world, "florin_ready", |value| value == 0).await;
    let fails = "the proxy is not ready: the database fails: ";
    assert_ended(&health(&["--json"]).await, 1, &[fails, "\"healthy\":false"]);
    assert_ended(&health(&["--live"]).await, 0, &["The proxy is alive.\n"]);
    let remedy = "Move the same file back";
    let page = "docs/operations/running.md#full-disk";
    let page = page_with(&world, &session, &["Orders cannot be stored", remedy, page]).await;
    assert!(!page.contains(ALL_IS_WELL), "{page}");
    moved.put_back();
    page_with(&world, &session, &[ALL_IS_WELL]).await;
    for series in ["florin_reload_refused", "florin_storage_failing"] {
        wait_for_series(&world, series, |value| value == 0).await;
    }
    end(world, program).await;
}

#[tokio::test]
async fn a_gateway_that_is_away_and_what_waits_are_in_metrics_and_on_the_operators_page_alone() {
    let mut world = World::with(|config| config.callbacks = false).await;
    world.customer().open("ebook").await.choose("BTC").await;
    world.wait_for_deliveries().await;
    world.webhooks.reply_with(Reply::Status(500));
    world.customer().open("ebook").await.choose("BTC").await;
    world.skip(Duration::from_mins(2));
    let session = ada(&world).await.cookies;
    let waiting = "demo, default: 2, the oldest happened 2 minutes ago";
    page_with(&world, &session, &["Events wait for a store", waiting]).await;
    world.sandbox().set_clock(3600).await;
    world.customer().open("ebook").await.choose("LTC").await;
    page_with(&world, &session, &["The clocks differ", "s ahead."]).await;
    world.gateway_link.cut().await;
    page_with(&world, &session, &["The gateway does not answer"]).await;
    let staff = zoe(&world).await.get("/staff/").await.with(200).text;
    assert!(staff.contains(ALL_IS_WELL), "{staff}");
    wait_for_series(&world, "florin_gateway_up", |value| value == 0).await;
    eventually("polls are late", async || {
        world.skip(Duration::from_secs(30));
        let scrape = Scrape::of(&world).await;
        let is_late = |priority| {
            let series = format!("florin_poll_lag_seconds{{priority=\"{priority}\"}}");
            scrape.value(&series) > 60
        };
        let is_late = ["callback", "watched", "unwatched"]
            .into_iter()
            .any(is_late);
        is_late.then_some(())
    })
    .await;
    world.gateway_link.restore().await;
    world.sandbox().set_clock(0).await;
    world.webhooks.reply_with(Reply::Accept);
    // The other session may be over by now.
    let session = ada(&world).await.cookies;
    eventually("all is well again", async || {
        world.skip(Duration::from_mins(1));
        let mut pages = Pages::of(&world);
        pages.cookies.clone_from(&session);
        let page = pages.get("/").await.text;
        page.contains(ALL_IS_WELL).then_some(())
    })
    .await;

    let customer = world.customer();
    let forwarded = customer.with_header("x-forwarded-for", "203.0.113.7");
    forwarded.open("ebook").await;
    page_with(&world, &session, &["A reverse proxy is not named"]).await;
    // Every rule of pauses and rates is in `crates/gateway/src/client/limits`.
    world.expect_error("the gateway asks for a pause that would stop payments");
    let limit = json!({
        "endpoint": "prices", "kind": "status", "status": 429, "retry_after": 4_000_000, "times": 9,
    });
    world.sandbox().inject_fault(limit).await;
    let refused = world.customer().open("ebook").await.get("/quotes").await;
    refused.refused(503, "gateway_unavailable");
    let pause = "florin_gateway_retry_after_seconds";
    wait_for_series(&world, pause, |seconds| seconds > 0).await;
    let gateway = world.get_admin("/health/ready").await.with(503).body["gateway"].clone();
    assert_eq!(gateway["pause_excessive"], true);
    assert!(gateway["pause_seconds"].as_u64().unwrap() <= 300);
    world.sandbox().clear_faults().await;
    world.end().await;
}

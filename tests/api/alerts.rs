//! Each alert has a text, a runbook and a unit test, and fires in the fault that it is for, as a real Prometheus sees it.

use std::fs;
use std::io::Write as _;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use support::{
    Program, Prometheus, Reply, TcpProxy, World, WorldConfig, eventually, pause, postgres_database,
    secrets,
};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::connections::limited_program;
use crate::helpers::skip_until;
use crate::program::{start_program, wait_until_up};
use crate::reload::{RELOADED, change, line};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn file(name: &str) -> String {
    fs::read_to_string(format!("{ROOT}/{name}")).unwrap()
}

async fn prometheus(world: &World) -> Prometheus {
    Prometheus::start(&world.admin_url(), &file("deploy/prometheus/alerts.yml")).await
}

fn promtool(words: &[&str]) {
    let done = Command::new("promtool")
        .args(words)
        .current_dir(format!("{ROOT}/deploy/prometheus"))
        .output();
    let done = done.expect("promtool comes with Debian's package prometheus");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let printed = [text(&done.stdout), text(&done.stderr)].concat();
    assert!(done.status.success(), "{printed}");
}

#[test]
fn the_alerts_pass_their_unit_tests() {
    promtool(&["check", "rules", "alerts.yml"]);
    promtool(&["test", "rules", "alerts.test.yml"]);
}

#[tokio::test]
async fn every_alert_says_what_to_do_and_has_a_runbook_and_a_unit_test() {
    let world = World::start().await;
    let rules = prometheus(&world).await.rules().await;
    let (page, tests) = (
        file("docs/operations/alerts.md"),
        file("deploy/prometheus/alerts.test.yml"),
    );
    assert!(rules.len() > 10);
    for rule in &rules {
        let name = rule["name"].as_str().unwrap();
        let annotation = |key: &str| rule["annotations"][key].as_str().unwrap_or_default();
        assert!(annotation("summary").len() > 20, "{name}");
        assert!(annotation("action").ends_with('.'), "{name}");
        let runbook = format!("docs/operations/alerts.md#{}", name.to_lowercase());
        assert_eq!(annotation("runbook"), runbook);
        assert!(
            page.contains(&format!("\n## {name}\n")),
            "{name} has no section"
        );
        let severity = rule["labels"]["severity"].as_str();
        assert!(matches!(severity, Some("page" | "ticket")), "{name}");
        let times = tests.matches(&format!("alertname: {name}\n")).count();
        assert_eq!(times, 2, "{name} is tested silent and firing");
    }
    let sections = page.matches("\n## Florin").count();
    assert_eq!(sections, rules.len(), "a section without an alert");
    world.end().await;
}

/// The cells of each row of the table of faults.
fn faults() -> Vec<Vec<String>> {
    let page = file("docs/operations/alerts.md");
    let section = page.split("\n## Faults\n").nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section
        .lines()
        .filter(|line| line.starts_with("| "))
        .skip(1);
    let cells = |row: &str| {
        row.trim_matches('|')
            .split('|')
            .map(|it| it.trim().to_owned())
            .collect()
    };
    rows.map(cells).collect()
}

#[test]
fn the_table_of_faults_names_what_there_is_and_every_alert_of_a_file() {
    let (rules, metrics, logs, page) = (
        file("deploy/prometheus/alerts.yml"),
        file("docs/operations/metrics.md"),
        file("docs/operations/logs.md"),
        file("docs/operations/operators-page.md"),
    );
    let faults = faults();
    assert!(faults.len() > 20);
    for fault in &faults {
        let [_, entry, metric, alert, line] = &fault[..] else {
            panic!("five cells: {fault:?}");
        };
        assert!(
            entry == "none" || page.contains(&format!("\n| {entry} | ")),
            "{entry}"
        );
        let is_named = metric == "none" || metric == "`up` of Prometheus";
        assert!(
            is_named || metrics.contains(&format!("\n| {metric} | ")),
            "{metric}"
        );
        assert!(
            alert == "none" || rules.contains(&format!("alert: {alert}\n")),
            "{alert}"
        );
        let start = line.trim_end_matches('`');
        assert!(line.starts_with("none") || logs.contains(start), "{line}");
    }
    // What is wrong with a database server has its own page; the other two are symptoms of any fault.
    let elsewhere =
        |name: &str| name.starts_with("FlorinDatabase") || name == "FlorinStandbyMissing";
    let symptoms = ["FlorinServerErrors", "FlorinStatusReadsSlow"];
    for name in rules.split("alert: ").skip(1) {
        let name = name.lines().next().unwrap();
        let is_there = faults.iter().any(|fault| fault[3] == name);
        assert!(
            is_there || elsewhere(name) || symptoms.contains(&name),
            "{name} is for no fault"
        );
    }
}

#[tokio::test]
async fn alerts_report_that_the_gateway_rejects_the_key_and_that_a_reload_was_refused() {
    let mut world = World::start().await;
    let program = start_program(&mut world).await;
    let prometheus = prometheus(&world).await;
    let right = format!("api_secret = \"{}\"", secrets::API_SECRET);
    let wrong = "api_secret = \"canary-wrong-secret\"";
    change(&world, &program, &[(&right, wrong)]);
    line(&program, 0, RELOADED).await;
    let checkout = world.customer().open("ebook").await;
    assert_eq!(checkout.get("/quotes").await.status, 503);
    prometheus
        .wait_until_fires("FlorinGatewayKeyRejected")
        .await;
    let logged = line(
        &program,
        0,
        "the gateway refuses us: check the key and the secret",
    )
    .await;
    assert!(
        logged.contains("\"gateway_message\":\"the signature is not"),
        "{logged}"
    );
    change(
        &world,
        &program,
        &[(wrong, &right), ("price = \"19.90\"", "price = 19.90")],
    );
    line(&program, 0, "the configuration was not reloaded").await;
    prometheus.wait_until_fires("FlorinReloadRefused").await;
    change(&world, &program, &[("price = 19.90", "price = \"19.90\"")]);
    line(&program, 1, RELOADED).await;
    checkout.choose("BTC").await;
    prometheus.wait_until_over("FlorinReloadRefused").await;
    prometheus.wait_until_over("FlorinGatewayKeyRejected").await;
    drop(program);
    world.end().await;
}

#[tokio::test]
async fn alerts_report_that_the_gateway_is_away_and_that_payments_are_found_late() {
    let mut world = World::start_with(WorldConfig {
        callbacks: false,
        ..WorldConfig::default()
    })
    .await;
    for _ in 0..3 {
        world.customer().open("ebook").await.choose("LTC").await;
    }
    world.wait_for_deliveries().await;
    let prometheus = prometheus(&world).await;
    // Longer than any alert waits here.
    pause(Duration::from_secs(3)).await;
    assert_eq!(prometheus.firing().await, [].into(), "all is well");
    world.gateway_link.cut().await;
    prometheus.wait_until_fires("FlorinGatewayDown").await;
    eventually("FlorinPollsLate fires", async || {
        world.skip(Duration::from_secs(30));
        let fires = prometheus.firing().await.contains("FlorinPollsLate");
        fires.then_some(())
    })
    .await;
    world.gateway_link.restore().await;
    eventually("both are over", async || {
        world.skip(Duration::from_secs(30));
        let firing = prometheus.firing().await;
        let is_over = |alert| !firing.contains(alert);
        (is_over("FlorinGatewayDown") && is_over("FlorinPollsLate")).then_some(())
    })
    .await;
    world.end().await;
}

#[tokio::test]
async fn alerts_report_that_orders_cannot_be_stored_and_that_the_proxy_is_gone() {
    let mut world = World::start().await;
    let mut program = start_program(&mut world).await;
    let prometheus = prometheus(&world).await;
    let (here, away) = (world.database(), world.file("away.db"));
    fs::rename(&here, &away).unwrap();
    prometheus.wait_until_fires("FlorinStorageFailing").await;
    prometheus.wait_until_fires("FlorinNotReady").await;
    fs::rename(&away, &here).unwrap();
    prometheus.wait_until_over("FlorinStorageFailing").await;
    prometheus.wait_until_over("FlorinNotReady").await;
    assert_eq!(program.stop().await, Some(0));
    prometheus.wait_until_fires("FlorinDown").await;
    world.start_proxy().await;
    prometheus.wait_until_over("FlorinDown").await;
    world.end().await;
}

#[tokio::test]
async fn alerts_report_that_a_store_does_not_accept_its_events() {
    let world = World::start().await;
    world.expect_error("an event was given up");
    world.expect_error("a store's endpoint says that it is gone");
    let prometheus = prometheus(&world).await;
    world.webhooks.reply_with(Reply::Status(500));
    world.customer().open("ebook").await;
    let step = Duration::from_mins(6);
    eventually("FlorinEventsWait fires", async || {
        world.skip(step);
        pause(Duration::from_millis(200)).await;
        let fires = prometheus.firing().await.contains("FlorinEventsWait");
        fires.then_some(())
    })
    .await;
    let step = Duration::from_hours(48);
    skip_until(&world, step, "the event is given up", || {
        world.logged("an event was given up")
    })
    .await;
    prometheus.wait_until_fires("FlorinEventGivenUp").await;
    world.webhooks.reply_with(Reply::Status(410));
    world.customer().open("mug").await;
    prometheus.wait_until_fires("FlorinWebhookDisabled").await;
    // The store asked for it.
    prometheus.wait_until_over("FlorinEventsWait").await;
    world.webhooks.reply_with(Reply::Accept);
    let enabled = world.store().post("/v1/webhook/enable", &json!({})).await;
    enabled.with(200);
    prometheus.wait_until_over("FlorinWebhookDisabled").await;
    world.end().await;
}

#[tokio::test]
async fn alerts_report_that_a_payment_needs_a_person() {
    let world = World::start_with(WorldConfig {
        callbacks: false,
        ..WorldConfig::default()
    })
    .await;
    world.expect_error("the gateway changed an invoice's address");
    world.expect_error("a payment needs review");
    let (blocked, unclear) = (
        world.customer().open("ebook").await,
        world.customer().open("mug").await,
    );
    let prometheus = prometheus(&world).await;
    unclear.choose("BTC").await;
    let invoice = world.sandbox().invoice_of(&unclear.address().await).await;
    let overrides = json!({ "transaction_status": "LOST" });
    world.sandbox().override_invoice(&invoice, &overrides).await;
    prometheus
        .wait_until_fires("FlorinPaymentNeedsReview")
        .await;
    let firing = prometheus.firing().await;
    assert!(!firing.contains("FlorinOrderNeedsPerson"), "{firing:?}");
    blocked.choose("BTC").await;
    let other = "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7";
    world.sandbox().change_address(&blocked, other).await;
    prometheus.wait_until_fires("FlorinOrderNeedsPerson").await;
    let what = prometheus
        .query("ALERTS{alertname=\"FlorinOrderNeedsPerson\"}")
        .await;
    let cause = &what.unwrap()[0]["metric"]["cause"];
    assert_eq!(*cause, Value::from("address_changed"));
    world.end().await;
}

#[tokio::test]
async fn an_alert_reports_that_the_clocks_differ() {
    let mut world = World::start().await;
    // The program has the clock of this machine, and the gateway the world's.
    let mut program = start_program(&mut world).await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    let prometheus = prometheus(&world).await;
    world.skip(Duration::from_mins(2));
    eventually("FlorinClockSkew fires", async || {
        checkout.view().await;
        let fires = prometheus.firing().await.contains("FlorinClockSkew");
        fires.then_some(())
    })
    .await;
    world.wait_for_deliveries().await;
    assert_eq!(program.stop().await, Some(0));
    world.end().await;
}

#[tokio::test]
async fn an_alert_reports_that_the_gateway_asks_for_pauses() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let prometheus = prometheus(&world).await;
    let limit = json!({
        "endpoint": "prices", "kind": "status", "status": 429, "retry_after": 200, "times": 9,
    });
    world.sandbox().inject_fault(limit).await;
    checkout
        .get("/quotes")
        .await
        .refused(503, "gateway_unavailable");
    prometheus.wait_until_fires("FlorinGatewayPause").await;
    world.sandbox().clear_faults().await;
    world.wait_for_deliveries().await;
    world.skip(Duration::from_mins(6));
    prometheus.wait_until_over("FlorinGatewayPause").await;
    world.end().await;
}

#[tokio::test]
async fn an_alert_reports_that_requests_fail() {
    let mut world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let prometheus = prometheus(&world).await;
    world.gateway_link.cut().await;
    eventually("FlorinServerErrors fires", async || {
        // No prices: 503.
        checkout.get("/quotes").await;
        let fires = prometheus.firing().await.contains("FlorinServerErrors");
        fires.then_some(())
    })
    .await;
    world.gateway_link.restore().await;
    world.end().await;
}

#[tokio::test]
async fn an_alert_reports_that_the_disk_fills_up() {
    let world = World::start().await;
    let prometheus = prometheus(&world).await;
    let path = world.file("grows");
    let grows = fs::File::create(&path).unwrap();
    let more = vec![1; 2 << 20];
    // At this pace the volume is full within hours.
    eventually("FlorinDiskFillsUp fires", async || {
        (&grows).write_all(&more).unwrap();
        let fires = prometheus.firing().await.contains("FlorinDiskFillsUp");
        fires.then_some(())
    })
    .await;
    drop(grows);
    fs::remove_file(path).unwrap();
    world.end().await;
}

#[tokio::test]
async fn an_alert_reports_that_connections_run_out() {
    let mut world = World::start().await;
    world.stop_proxy().await;
    let (config, log) = (world.config_file(), world.file("proxy.log"));
    let mut program = Program::start_at(&limited_program(&world, 400), &config, &log);
    wait_until_up(&world, &program).await;
    let prometheus = prometheus(&world).await;
    let mut silent = Vec::new();
    for _ in 0..180 {
        let mut stream = TcpStream::connect(world.listen_address()).await.unwrap();
        // After its first request a connection may wait for 75 s.
        let request = b"GET /none HTTP/1.1\r\nhost: localhost\r\n\r\n";
        stream.write_all(request).await.unwrap();
        silent.push(stream);
    }
    prometheus.wait_until_fires("FlorinFilesRunOut").await;
    drop(silent);
    prometheus.wait_until_over("FlorinFilesRunOut").await;
    assert_eq!(program.stop().await, Some(0));
    world.start_proxy().await;
    world.end().await;
}

#[tokio::test]
async fn an_alert_reports_that_status_reads_are_slow() {
    let mut url = reqwest::Url::parse(&postgres_database().await).unwrap();
    let server = (url.host_str().unwrap(), url.port().unwrap());
    let server = format!("{}:{}", server.0, server.1).parse().unwrap();
    let link = TcpProxy::to(server).await;
    url.set_port(Some(link.address().port())).unwrap();
    let world = World::start_with(WorldConfig {
        database_url: Some(url.to_string()),
        ..WorldConfig::default()
    })
    .await;
    let checkout = world.customer().open("ebook").await;
    world.wait_for_deliveries().await;
    let prometheus = prometheus(&world).await;
    eventually("FlorinStatusReadsSlow fires", async || {
        // The network of the database is slow, again and again. A scrape reads the database, too, and may last 100 ms here.
        link.delay(Duration::from_millis(60));
        checkout.view().await;
        link.delay(Duration::ZERO);
        pause(Duration::from_millis(300)).await;
        let fires = prometheus.firing().await.contains("FlorinStatusReadsSlow");
        fires.then_some(())
    })
    .await;
    eventually("FlorinStatusReadsSlow is over", async || {
        checkout.view().await;
        let fires = prometheus.firing().await.contains("FlorinStatusReadsSlow");
        (!fires).then_some(())
    })
    .await;
    world.end().await;
}

#[tokio::test]
async fn an_alert_reports_that_the_gateway_takes_a_payment_back() {
    let world = World::start().await;
    world.expect_error("the gateway takes back a payment that was credited");
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(3).await;
    checkout.wait_for("paid").await;
    let prometheus = prometheus(&world).await;
    world.sandbox().reorg(9).await;
    eventually("FlorinOrderNeedsPerson fires", async || {
        world.skip(Duration::from_mins(1));
        pause(Duration::from_millis(100)).await;
        let alert = "ALERTS{alertname=\"FlorinOrderNeedsPerson\",alertstate=\"firing\"}";
        let found = prometheus.query(alert).await?;
        (found[0]["metric"]["cause"] == "reverted").then_some(())
    })
    .await;
    world.end().await;
}

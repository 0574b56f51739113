//! Each alert has a text, a runbook and a unit test by promtool. A real Prometheus shows that the proxy's series and the rules
//! belong together, beside what the operator's first page shows of the same faults: one in which a minute lasts 200 ms.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use support::{
    Folder, MovedFile, Program, Reply, Running, World, eventually, free_port, secrets,
    yaml_documents,
};

use crate::operators_pages::{Pages, ada};
use crate::program::{assert_ended, start_program};
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
    promtool(&["check", "rules", "alerts.yml"]);
    promtool(&["test", "rules", "alerts.test.yml"]);
}

#[test]
fn every_alert_says_what_to_do_and_has_a_runbook_and_a_unit_test() {
    let groups = yaml_documents(&text_of("deploy/prometheus/alerts.yml")).remove(0);
    let groups = groups["groups"].as_array().unwrap().iter();
    let rules: Vec<&Value> = groups
        .flat_map(|group| group["rules"].as_array().unwrap())
        .collect();
    let (page, tests) = (
        text_of("docs/operations/alerts.md"),
        text_of("deploy/prometheus/alerts.test.yml"),
    );
    assert!(rules.len() > 10);
    for rule in &rules {
        let name = rule["alert"].as_str().unwrap();
        let annotation = |key: &str| rule["annotations"][key].as_str().unwrap_or_default();
        assert!(annotation("summary").len() > 20, "{name}");
        assert!(annotation("action").ends_with('.'), "{name}");
        let runbook = format!("docs/operations/alerts.md#{}", name.to_lowercase());
        assert_eq!(annotation("runbook"), runbook);
        let has_section = page.contains(&format!("\n## {name}\n"));
        assert!(has_section, "{name} has no section");
        let severity = rule["labels"]["severity"].as_str();
        assert!(matches!(severity, Some("page" | "ticket")), "{name}");
        let times = tests.matches(&format!("alertname: {name}\n")).count();
        assert_eq!(times, 2, "{name} is tested silent and firing");
    }
    let sections = page.matches("\n## Florin").count();
    assert_eq!(sections, rules.len(), "a section without an alert");
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

#[tokio::test]
async fn faults_of_configuration_disk_and_process_are_alerts_and_on_the_operators_page() {
    let mut world = World::start().await;
    let mut program = start_program(&mut world).await;
    let prometheus = Prometheus::start(&world).await;
    let checkout = world.customer().open("ebook").await;
    let session = ada(&world).await.cookies;
    page_with(&world, &session, &[ALL_IS_WELL]).await;

    let right = format!("api_secret = \"{}\"", secrets::API_SECRET);
    let wrong = "api_secret = \"canary-wrong-secret\"";
    change(&world, &program, &[(&right, wrong)]);
    line(&program, 0, RELOADED).await;
    assert_eq!(checkout.get("/quotes").await.status, 503);
    prometheus
        .wait_until_fires("FlorinGatewayKeyRejected")
        .await;
    let text = "the gateway refuses us: check the key and the secret";
    let logged = line(&program, 0, text).await;
    let reason = "\"gateway_message\":\"the signature is not";
    assert!(logged.contains(reason), "{logged}");
    let page = page_with(&world, &session, &["The gateway rejects the key"]).await;
    assert!(!page.contains("canary"), "{page}");
    let config = world.config_file().display().to_string();
    let health = |words: &[&str]| {
        let words = [&["health", "--config", &config], words].concat();
        Program::run(&words, &[])
    };
    let condition = "The gateway rejects the key: It answers 401.";
    // A restart would not help.
    assert_ended(&health(&[]), 0, &["The proxy is ready.\n", condition]);

    let (price, number) = ("price = \"19.90\"", "price = 19.90");
    change(&world, &program, &[(wrong, &right), (price, number)]);
    prometheus.wait_until_fires("FlorinReloadRefused").await;
    let refused = ["The configuration was not reloaded", "product.ebook.price"];
    page_with(&world, &session, &refused).await;
    change(&world, &program, &[(number, price)]);
    line(&program, 1, RELOADED).await;
    checkout.choose("BTC").await;
    page_with(&world, &session, &[ALL_IS_WELL]).await;

    let moved = MovedFile::move_away(&world.database());
    prometheus.wait_until_fires("FlorinStorageFailing").await;
    prometheus.wait_until_fires("FlorinNotReady").await;
    let fails = "the proxy is not ready: the database fails: ";
    assert_ended(&health(&["--json"]), 1, &[fails, "\"healthy\":false"]);
    assert_ended(&health(&["--live"]), 0, &["The proxy is alive.\n"]);
    let remedy = "Move the same file back";
    let page = "docs/operations/running.md#full-disk";
    let page = page_with(&world, &session, &["Orders cannot be stored", remedy, page]).await;
    assert!(!page.contains(ALL_IS_WELL), "{page}");
    moved.put_back();
    page_with(&world, &session, &[ALL_IS_WELL]).await;
    for alert in ["FlorinReloadRefused", "FlorinStorageFailing"] {
        prometheus.wait_until_over(alert).await;
    }
    assert_eq!(program.stop().await, Some(0));
    prometheus.wait_until_fires("FlorinDown").await;
    world.start_proxy().await;
    prometheus.wait_until_over("FlorinDown").await;
    world.end().await;
}

async fn dashboard_has_values(prometheus: &Prometheus) {
    let dashboard: Value = serde_json::from_str(&text_of("deploy/grafana/florin.json")).unwrap();
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().into_iter().flatten());
    let expressions: Vec<_> = targets
        .map(|target| target["expr"].as_str().unwrap())
        .collect();
    assert!(expressions.len() > 15, "{expressions:?}");
    for expression in expressions {
        let expression = expression.replace("$__rate_interval", "2s");
        eventually(&format!("{expression} has a value"), async || {
            let found = prometheus.query(&expression).await?;
            (!found.as_array()?.is_empty()).then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn a_gateway_that_is_away_and_what_waits_are_alerts_and_on_the_operators_page_alone() {
    let mut world = World::with(|config| config.callbacks = false).await;
    world.customer().open("ebook").await.choose("BTC").await;
    world.wait_for_deliveries().await;
    let prometheus = Prometheus::start(&world).await;
    dashboard_has_values(&prometheus).await;
    let mut firing = prometheus.firing().await;
    // Other tests write to the same volume.
    firing.remove("FlorinDiskFillsUp");
    assert_eq!(firing, [].into(), "all is well");

    world.webhooks.reply_with(Reply::Status(500));
    world.customer().open("ebook").await.choose("BTC").await;
    world.skip(Duration::from_mins(2));
    let session = ada(&world).await.cookies;
    let waiting = "demo: 2, the oldest happened 2 minutes ago";
    page_with(&world, &session, &["Events wait for a store", waiting]).await;
    world.sandbox().set_clock(3600).await;
    world.customer().open("ebook").await.choose("LTC").await;
    page_with(&world, &session, &["The clocks differ", "s ahead."]).await;
    world.gateway_link.cut().await;
    page_with(&world, &session, &["The gateway does not answer"]).await;
    let staff = zoe(&world).await.get("/staff/").await.with(200).text;
    assert!(staff.contains(ALL_IS_WELL), "{staff}");
    prometheus.wait_until_fires("FlorinGatewayDown").await;
    eventually("FlorinPollsLate fires", async || {
        world.skip(Duration::from_secs(30));
        let fires = prometheus.firing().await.contains("FlorinPollsLate");
        fires.then_some(())
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
        let firing = prometheus.firing().await;
        let is_well = page.contains(ALL_IS_WELL) && !firing.contains("FlorinGatewayDown");
        is_well.then_some(())
    })
    .await;

    let customer = world.customer();
    let forwarded = customer.with_header("x-forwarded-for", "203.0.113.7");
    forwarded.open("ebook").await;
    page_with(&world, &session, &["A reverse proxy is not named"]).await;
    let limit = json!({
        "endpoint": "prices", "kind": "status", "status": 429, "retry_after": 200, "times": 9,
    });
    world.sandbox().inject_fault(limit).await;
    let refused = world.customer().open("ebook").await.get("/quotes").await;
    refused.refused(503, "gateway_unavailable");
    prometheus.wait_until_fires("FlorinGatewayPause").await;
    world.sandbox().clear_faults().await;
    world.end().await;
}

/// What a minute of the rules lasts.
const MINUTE_MS: u64 = 200;

struct Prometheus {
    _child: Running,
    url: String,
    http: reqwest::Client,
    folder: Folder,
}

impl Prometheus {
    /// Starts one that scrapes the world's proxy and evaluates the rules of `deploy/`.
    async fn start(world: &World) -> Self {
        let folder = Folder::new();
        let target = world.admin_url().replace("http://", "");
        let config = format!(
            "global: {{ scrape_interval: 100ms, scrape_timeout: 100ms, evaluation_interval: 100ms }}\n\
             rule_files: [rules.yml]\n\
             scrape_configs:\n  - job_name: florin\n    static_configs: [{{ targets: [\"{target}\"] }}]\n"
        );
        let write = |name, text: &str| fs::write(folder.file(name), text).unwrap();
        write("prometheus.yml", &config);
        write(
            "rules.yml",
            &compressed(&text_of("deploy/prometheus/alerts.yml")),
        );
        let address = SocketAddr::from(([127, 0, 0, 1], free_port()));
        let log = File::create(folder.file("prometheus.log")).unwrap();
        let child = Command::new("prometheus")
            .arg(format!("--web.listen-address={address}"))
            .current_dir(folder.path())
            .arg("--config.file=prometheus.yml")
            .arg("--storage.tsdb.path=data")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect(
                "prometheus is installed by `cargo xtask test`, or by apt-get install prometheus",
            );
        let prometheus = Self {
            _child: Running(child),
            url: format!("http://{address}/api/v1"),
            http: world.http().clone(),
            folder,
        };
        eventually("Prometheus scrapes the proxy", async || {
            let found = prometheus.query("up{job=\"florin\"} == 1").await?;
            (!found.as_array()?.is_empty()).then_some(())
        })
        .await;
        prometheus
    }

    async fn query(&self, expression: &str) -> Option<Value> {
        let mut url = reqwest::Url::parse(&format!("{}/query", self.url)).ok()?;
        url.query_pairs_mut().append_pair("query", expression);
        let response = self.http.get(url).send().await.ok()?;
        let mut response: Value = response.json().await.ok()?;
        Some(response["data"]["result"].take())
    }

    async fn firing(&self) -> BTreeSet<String> {
        let found = self.query("ALERTS{alertstate=\"firing\"}").await;
        let found = found.unwrap_or_default();
        let name = |alert: &Value| alert["metric"]["alertname"].as_str().map(str::to_owned);
        let found = found.as_array().into_iter().flatten();
        found.filter_map(name).collect()
    }

    async fn wait_until_fires(&self, alert: &str) {
        self.wait_until(alert, true).await;
    }

    async fn wait_until_over(&self, alert: &str) {
        self.wait_until(alert, false).await;
    }

    async fn wait_until(&self, alert: &str, fires: bool) {
        let what = format!("{alert} fires: {fires}");
        let is_reached = async || (self.firing().await.contains(alert) == fires).then_some(());
        eventually(&what, is_reached).await;
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = fs::read_to_string(self.folder.file("prometheus.log"));
            eprintln!("what Prometheus logged:\n{}", log.unwrap_or_default());
        }
    }
}

/// Shortens the durations of rules: those behind `for:` and those in brackets.
fn compressed(rules: &str) -> String {
    let mut words = Vec::new();
    for word in rules.split_inclusive([' ', '\n', '[', ']']) {
        let (duration, end) = word.split_at(word.len() - 1);
        let number = |unit| duration.strip_suffix(unit)?.parse::<u64>().ok();
        let (minutes, hours) = (number('m'), number('h'));
        match minutes.or(hours.map(|hours| hours * 60)) {
            Some(minutes) => words.push(format!("{}ms{end}", minutes * MINUTE_MS)),
            None => words.push(word.to_owned()),
        }
    }
    words.concat()
}

//! A real Prometheus beside the world, in which a minute lasts 200 ms.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use florin_postgres::free_port;
use serde_json::Value;

use crate::program::Folder;
use crate::wait::eventually;

/// What a minute of the rules lasts.
const MINUTE_MS: u64 = 200;

#[derive(Debug)]
pub struct Prometheus {
    child: Child,
    url: String,
    http: reqwest::Client,
    folder: Folder,
}

impl Prometheus {
    /// Starts one that scrapes the address of an admin listener and evaluates these rules.
    pub async fn start(admin_url: &str, rules: &str) -> Self {
        let folder = Folder::new();
        let target = admin_url.trim_start_matches("http://");
        let config = format!(
            "global: {{ scrape_interval: 100ms, scrape_timeout: 100ms, evaluation_interval: 100ms }}\n\
             rule_files: [rules.yml]\n\
             scrape_configs:\n  - job_name: florin\n    static_configs: [{{ targets: [\"{target}\"] }}]\n"
        );
        let write = |name, text: &str| fs::write(folder.file(name), text).expect("our own folder");
        write("prometheus.yml", &config);
        write("rules.yml", &compressed(rules));
        let address = SocketAddr::from(([127, 0, 0, 1], free_port()));
        let log = File::create(folder.file("prometheus.log")).expect("our own folder");
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
            child,
            url: format!("http://{address}/api/v1"),
            http: crate::http_response::client()
                .build()
                .expect("no TLS is used"),
            folder,
        };
        eventually("Prometheus scrapes the proxy", async || {
            let found = prometheus.query("up{job=\"florin\"} == 1").await?;
            (!found.as_array()?.is_empty()).then_some(())
        })
        .await;
        prometheus
    }

    pub async fn query(&self, expression: &str) -> Option<Value> {
        let mut url = reqwest::Url::parse(&format!("{}/query", self.url)).ok()?;
        url.query_pairs_mut().append_pair("query", expression);
        let response = self.http.get(url).send().await.ok()?;
        let mut response: Value = response.json().await.ok()?;
        Some(response["data"]["result"].take())
    }

    pub async fn firing(&self) -> BTreeSet<String> {
        let found = self.query("ALERTS{alertstate=\"firing\"}").await;
        let found = found.unwrap_or_default();
        let name = |alert: &Value| alert["metric"]["alertname"].as_str().map(str::to_owned);
        let found = found.as_array().into_iter().flatten();
        found.filter_map(name).collect()
    }

    pub async fn wait_until_fires(&self, alert: &str) {
        self.wait_until(alert, true).await;
    }

    pub async fn wait_until_over(&self, alert: &str) {
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
        // Both do nothing to a program that has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
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

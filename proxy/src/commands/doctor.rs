//! `florin-proxy doctor`: everything outside the configuration that a payment needs, each finding with its remedy.

use std::sync::Arc;
use std::time::Duration;

use florin_gateway_client::{CallError, Client, Endpoint, PaymentGateway as _, Prices, RawRequest};
use florin_proxy::clock::{Clock as _, MAX_SKEW, SystemClock, SystemRandom};
use florin_proxy::config::{Config, Problem};
use florin_proxy::webhooks::{SendOutcome, WebhookSender, probe};
use florin_proxy::{gateway_account, unpayable_offers, unpriced_stores};
use florin_storage::{Database, StorageError, check_database, check_place, is_postgres};
use jiff::{SignedDuration, Timestamp};
use reqwest::tls::TlsInfo;
use reqwest::{Response, redirect};
use serde::Serialize;
use serde_json::json;
use strum::IntoStaticStr;
use x509_cert::Certificate;
use x509_cert::der::Decode as _;

use crate::commands::runtime;

/// Limit of the request to `public_url`.
const TIMEOUT: Duration = Duration::from_secs(10);
/// ACME clients renew a month before the end. With fewer days than this, their renewals have failed for two weeks.
const FEW_DAYS: i64 = 14;
/// A receiver refuses webhooks that are older. Source: the libraries of Standard Webhooks.
const WEBHOOK_TOLERANCE: SignedDuration = SignedDuration::from_secs(300);

type OpenedServer = Result<Database, StorageError>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, Serialize)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Status {
    Ok,
    Warning,
    Failed,
}

#[derive(Debug, Serialize)]
pub(crate) struct Finding {
    /// The key of the configuration that it is about, or `clock`, `certificate`.
    pub(crate) key: String,
    pub(crate) status: Status,
    pub(crate) message: String,
    /// What to do; `None` if all is well, or if the message says it.
    pub(crate) remedy: Option<String>,
}

impl Finding {
    fn ok(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            status: Status::Ok,
            message: message.into(),
            remedy: None,
        }
    }

    fn new(
        status: Status,
        key: impl Into<String>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            status,
            remedy: Some(remedy.into()),
            ..Self::ok(key, message)
        }
    }

    /// A database that cannot be used; its message has the remedy.
    pub(crate) fn unusable_database(message: String) -> Self {
        Self {
            status: Status::Failed,
            ..Self::ok("database_url", message)
        }
    }

    pub(crate) fn problem(&self) -> Problem {
        let message = match &self.remedy {
            Some(remedy) => format!("{}. Remedy: {remedy}", self.message),
            None => self.message.clone(),
        };
        Problem {
            key: self.key.clone(),
            message,
        }
    }

    fn failed(
        key: impl Into<String>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::new(Status::Failed, key, message, remedy)
    }
}

/// Examines and prints. Returns `true` if nothing failed.
pub(crate) fn run(config: &Config, json: bool) -> anyhow::Result<bool> {
    let findings = runtime()?.block_on(examine(config))?;
    let is_well = findings
        .iter()
        .all(|finding| finding.status != Status::Failed);
    if json {
        println!("{}", json!({"ok": is_well, "findings": findings}));
        return Ok(is_well);
    }
    for finding in &findings {
        let status: &str = finding.status.into();
        println!("{status:<8} {}: {}", finding.key, finding.message);
        if let Some(remedy) = &finding.remedy {
            println!("         → {remedy}");
        }
    }
    Ok(is_well)
}

async fn examine(config: &Config) -> anyhow::Result<Vec<Finding>> {
    let mut findings: Vec<Finding> = config.warnings.iter().map(warning).collect();
    findings.extend(essentials(config).await?);
    findings.extend(public_url(config).await?);
    Ok(findings)
}

fn warning(Problem { key, message }: &Problem) -> Finding {
    Finding {
        key: key.clone(),
        status: Status::Warning,
        message: message.clone(),
        remedy: None,
    }
}

/// The parts that `check-config --online` asks: gateway, clock, webhooks, database.
pub(crate) async fn essentials(config: &Config) -> anyhow::Result<Vec<Finding>> {
    // Fails when it is installed already, which is the aim.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let url = &config.database_url;
    let server = if is_postgres(url) {
        let direct = config.database_url_direct.as_deref();
        let environment = config.environment.as_str();
        Some(Database::open_limited(url, direct, environment, &config.database).await)
    } else {
        None
    };
    let mut findings = gateway(config, server.as_ref()).await?;
    findings.extend(webhooks(config).await?);
    findings.push(match server {
        Some(server) => database_server(server).await,
        None => database_file(config).await,
    });
    Ok(findings)
}

/// Sends one signed call within the limits that the proxies on the database share, and compares the clocks by its response.
async fn gateway(config: &Config, server: Option<&OpenedServer>) -> anyhow::Result<Vec<Finding>> {
    let (settings, clock) = (config.gateway.client.clone(), Arc::new(SystemClock));
    let client = match server {
        None => Client::new(settings, clock, Arc::new(SystemRandom))?,
        Some(Ok(database)) => gateway_account::client(settings, database, clock)?,
        Some(Err(_)) => {
            return Ok(vec![Finding::new(
                Status::Warning,
                "gateway",
                "was not asked: the limits of its account are in the database, which cannot be opened",
                "see database_url",
            )]);
        }
    };
    let request = RawRequest::new(Endpoint::Prices, "", None)?;
    let response = client.forward(&request).await;
    let reached = match &response {
        Ok(_) => Finding::ok("gateway", "answers, and accepts the key and the signature"),
        Err(CallError::Refused {
            status: 401 | 403,
            error,
        }) => {
            let reason = error.message.as_deref().unwrap_or("no reason is given");
            Finding::failed(
                "gateway.api_secret",
                format!("the gateway refuses the key or the signature: {reason}"),
                "compare gateway.api_key and gateway.api_secret with the account, and gateway.url with its environment",
            )
        }
        Err(CallError::NotSent(reason)) => Finding::failed(
            "gateway.url",
            format!("the gateway cannot be reached: {reason}"),
            "check the address, its name in DNS, and that the firewall lets this machine connect to it",
        ),
        Err(error @ (CallError::Refused { .. } | CallError::Ambiguous(_))) => Finding::failed(
            "gateway.url",
            error.to_string(),
            "write the gateway's base address with its /api",
        ),
        Err(error) => Finding::failed(
            "gateway",
            error.to_string(),
            "wait, and ask the gateway's operator if it stays so",
        ),
    };
    let mut findings = vec![reached];
    let prices = response
        .ok()
        .and_then(|text| serde_json::from_str(&text).ok());
    findings.extend(prices.iter().flat_map(|prices| payable(config, prices)));
    findings.extend(client.health().skew.map(clock_finding));
    client.flush().await;
    Ok(findings)
}

/// What the gateway's prices say of the stores: whether their currency and what they sell can be paid.
fn payable(config: &Config, prices: &Prices) -> Vec<Finding> {
    let found = unpriced_stores(config, prices).into_iter();
    let found = found.chain(unpayable_offers(config, prices)).map(|it| {
        let status = if it.is_fatal {
            Status::Failed
        } else {
            Status::Warning
        };
        Finding::new(status, it.problem.key, it.problem.message, it.remedy)
    });
    found.collect()
}

/// `skew` is how far the gateway's clock is ahead of this machine's.
fn clock_finding(skew: SignedDuration) -> Finding {
    let seconds = skew.as_secs().unsigned_abs();
    if skew.abs() <= MAX_SKEW {
        return Finding::ok("clock", "is the gateway's");
    }
    let word = if skew.is_positive() {
        "behind"
    } else {
        "ahead of"
    };
    let message = format!("this machine's clock is {seconds} s {word} the gateway's");
    let status = if skew.abs() > WEBHOOK_TOLERANCE {
        Status::Failed
    } else {
        Status::Warning
    };
    let remedy = "set it by NTP: timedatectl set-ntp true. Receivers refuse webhooks that seem older than five minutes";
    Finding::new(status, "clock", message, remedy)
}

async fn webhooks(config: &Config) -> anyhow::Result<Vec<Finding>> {
    let sender = WebhookSender::new()?;
    let mut findings = Vec::new();
    for store in &config.stores {
        for webhook in &store.webhooks {
            let now = SystemClock.now();
            let sent = probe(&sender, webhook, &SystemRandom, now).await;
            let key = format!("store.{}.webhook.{}.url", store.id, webhook.key.webhook);
            findings.push(endpoint(key, sent));
        }
    }
    Ok(findings)
}

/// What the response to a delivery with a wrong signature says of an endpoint.
fn endpoint(key: String, sent: SendOutcome) -> Finding {
    let response = match sent {
        SendOutcome::Failed(reason) => {
            return Finding::failed(
                key,
                format!("the endpoint does not answer: {reason}"),
                "start the store's server, and check the address, its name in DNS, its certificate and the firewall",
            );
        }
        SendOutcome::Response(response) => response,
    };
    let status = response.status;
    match status {
        200..=299 => Finding::failed(
            key,
            format!(
                "the endpoint accepts a wrong signature (status {status}): any client can report a payment"
            ),
            "verify each delivery by a library of Standard Webhooks, as examples/receivers do",
        ),
        300..=399 => Finding::failed(
            key,
            format!("the endpoint redirects (status {status}), and deliveries follow no redirect"),
            "write the address that it redirects to",
        ),
        404 | 405 | 410 => Finding::failed(
            key,
            format!("the address takes no deliveries (status {status})"),
            "write the address of the receiver, which takes POST",
        ),
        400..=499 => Finding::ok(key, "answers, and refuses a wrong signature"),
        _ => Finding::new(
            Status::Warning,
            key,
            format!("the endpoint fails on a wrong signature (status {status})"),
            "answer it with 400. If it fails on each delivery, its log says why",
        ),
    }
}

/// Checks the rights and the content of a file, which a running proxy has to itself.
async fn database_file(config: &Config) -> Finding {
    let url = &config.database_url;
    let checked = match check_place(url) {
        Ok(()) => check_database(url, config.environment.as_str()).await,
        Err(reason) => Err(reason),
    };
    match checked {
        Ok(()) => Finding::ok("database_url", "the file can be written, and is Florin's"),
        Err(message) => Finding::unusable_database(message),
    }
}

async fn database_server(server: OpenedServer) -> Finding {
    let key = "database_url";
    let written = match server {
        Ok(database) => {
            let now = SystemClock.now();
            let written = database.storage().check_writing(now).await;
            database.close().await;
            written
        }
        Err(error) => Err(error),
    };
    match written {
        Ok(()) => Finding::ok(key, "the server answers and can be written"),
        Err(error) => {
            let remedy = error.outage().map(|outage| outage.remedy().to_string());
            let remedy = remedy.unwrap_or_else(|| "see the server's log".to_owned());
            Finding::failed(key, error.to_string(), remedy)
        }
    }
}

/// Fetches the loader where browsers do, with the check of the certificate that they do, and reads how long it is valid.
async fn public_url(config: &Config) -> anyhow::Result<Vec<Finding>> {
    let key = "public_url";
    let url = format!("{}/florin.js", config.public_url.base());
    let response = match get(&url).await? {
        Ok(response) => response,
        Err(reason) => {
            let message = format!("{url} cannot be fetched: {reason}");
            let remedy = "start the proxy and the reverse proxy, and check the name in DNS, the certificate and the firewall";
            return Ok(vec![Finding::failed(key, message, remedy)]);
        }
    };
    let status = response.status().as_u16();
    let is_script = response
        .headers()
        .get("content-type")
        .and_then(|text| text.to_str().ok())
        .is_some_and(|text| text.contains("javascript"));
    if status != 200 || !is_script {
        return Ok(vec![Finding::failed(
            key,
            format!("{url} is not the loader (status {status})"),
            "let the reverse proxy pass all paths of this host to listen, unchanged",
        )]);
    }
    let Some((until, days)) = validity(&response) else {
        return Ok(vec![Finding::ok(key, "the proxy answers there")]);
    };
    let plural = if days == 1 { "" } else { "s" };
    let (text, base) = (format!("{days} day{plural}"), config.public_url.base());
    let message = format!("the proxy answers there, and its certificate is valid for {text}");
    let mut findings = vec![Finding::ok(key, message)];
    if days < FEW_DAYS {
        findings.push(Finding::new(
            Status::Warning,
            "certificate",
            format!("the certificate of {base} expires in {text}, at {until}"),
            "renew it. ACME clients do so a month before the end: the log of yours says why it does not",
        ));
    }
    Ok(findings)
}

/// When the certificate of a response ends, and the whole days until then; `None` without TLS. Source: RFC 5280, section
/// 4.1.2.5.
fn validity(response: &Response) -> Option<(Timestamp, i64)> {
    let der = response.extensions().get::<TlsInfo>()?.peer_certificate()?;
    let certificate = Certificate::from_der(der).ok()?;
    let until = certificate.tbs_certificate().validity().not_after;
    let seconds = until.to_unix_duration().as_secs();
    let until = Timestamp::from_second(i64::try_from(seconds).ok()?).ok()?;
    let left = until.duration_since(SystemClock.now());
    Some((until, left.as_hours().div_euclid(24)))
}

/// Fetches an address; the inner error is the innermost reason.
async fn get(url: &str) -> anyhow::Result<Result<Response, String>> {
    let client = reqwest::Client::builder()
        .no_proxy()
        .tls_info(true)
        .redirect(redirect::Policy::none())
        .timeout(TIMEOUT)
        .build()?;
    let response = client.get(url).send().await;
    Ok(response.map_err(|error| anyhow::Error::from(error).root_cause().to_string()))
}

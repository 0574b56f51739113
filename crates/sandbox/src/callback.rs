//! Sends callbacks: COMPLETED and FAILED, until one is accepted.
//!
//! Source: payment-service.md, "Events": unsigned, COMPLETED and FAILED only, answered with 200 and an empty body.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use reqwest::Url;
use reqwest::redirect::Policy;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::journal::Event;
use crate::state::{Callback, Sandbox};

/// `Assumed:` eight tries within a minute, each pause twice as long as the one before; the specification says "several times"
/// and no delays.
const TRIES: u32 = 8;
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// Callbacks in delivery at once, those between two tries included; others wait.
const MAX_DELIVERIES: usize = 1_000;
const TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Clone, Debug)]
pub(crate) struct CallbackSender {
    client: reqwest::Client,
    /// For invoices that name no URL themselves.
    account_url: Option<Url>,
}

/// A client for the sandbox's own requests: callbacks, and those to a node.
pub(crate) fn http_client() -> anyhow::Result<reqwest::Client> {
    // An error means that the process has one already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().timeout(TIMEOUT);
    let client = client.redirect(Policy::none()).no_proxy().build();
    client.context("the client for callbacks cannot be built")
}

impl CallbackSender {
    pub(crate) fn new(client: reqwest::Client, account_url: Option<&str>) -> anyhow::Result<Self> {
        let parse = |url: &str| {
            let parsed: Result<Url, _> = url.parse();
            parsed.with_context(|| format!("the callback URL {url:?} is no URL"))
        };
        let account_url = account_url.map(parse).transpose()?;
        Ok(Self {
            client,
            account_url,
        })
    }

    /// Sends callbacks until the shutdown; one without a URL is discarded.
    pub(crate) async fn run(
        self,
        sandbox: &Arc<Sandbox>,
        mut callbacks: UnboundedReceiver<Callback>,
        shutdown: &CancellationToken,
    ) {
        let mut deliveries = JoinSet::new();
        loop {
            tokio::select! {
                () = shutdown.cancelled() => return,
                Some(_) = deliveries.join_next() => {}
                Some(callback) = callbacks.recv(), if deliveries.len() < MAX_DELIVERIES => {
                    deliveries.spawn(self.clone().deliver(sandbox.clone(), callback));
                }
            }
        }
    }

    async fn deliver(self, sandbox: Arc<Sandbox>, callback: Callback) {
        let Callback {
            invoice_id,
            status,
            url,
        } = callback;
        let own: Option<Url> = url.and_then(|url| url.parse().ok());
        let Some(url) = own.or(self.account_url) else {
            return;
        };
        let status = status.as_str();
        let body = serde_json::json!({"invoice_id": invoice_id, "status": status});
        let mut pause = FIRST_PAUSE;
        for attempt in 1.. {
            let (response, result) = post(&self.client, &url, &body).await;
            let tried = Event::Callback {
                invoice_id: invoice_id.clone(),
                status,
                url: url.to_string(),
                attempt,
                accepted: result.is_ok(),
                response,
                why: result.clone().err(),
            };
            sandbox.update(|state, now| state.journal.add(now, tried));
            let Err(reason) = result else {
                tracing::info!(invoice_id, status, "callback accepted");
                return;
            };
            if attempt == TRIES {
                tracing::warn!(invoice_id, status, "callback given up: {reason}");
                return;
            }
            tracing::info!(invoice_id, status, "callback failed: {reason}");
            sandbox.clock().sleep(pause).await;
            pause *= 2;
        }
    }
}

/// One try: the status of the response, and why it is not accepted. Only 200 with an empty body is.
async fn post(
    client: &reqwest::Client,
    url: &Url,
    body: &serde_json::Value,
) -> (Option<u16>, Result<(), String>) {
    let network = |error: reqwest::Error| error.without_url().to_string();
    let mut response = match client.post(url.clone()).json(body).send().await {
        Ok(response) => response,
        Err(error) => return (None, Err(network(error))),
    };
    let status = response.status().as_u16();
    let result = if status == 200 {
        match response.chunk().await {
            Ok(None) => Ok(()),
            Ok(Some(_)) => Err("the response's body is not empty".to_owned()),
            Err(error) => Err(network(error)),
        }
    } else {
        Err(format!("the response's status is {status}, not 200"))
    };
    (Some(status), result)
}

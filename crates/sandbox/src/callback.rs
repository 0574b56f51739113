//! Tells the merchant that an invoice has come to an end.
//!
//! Source: payment-service.md, "Events": unsigned, COMPLETED and FAILED only, answered with 200 and an empty body.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use reqwest::redirect::Policy;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::Clock;
use crate::invoices::Announcement;

/// Pauses between the five tries. `Assumed:` the specification says "several times" and no delays.
const PAUSES: [Duration; 4] = [
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
];
/// How long one try may take.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Sends callbacks to one URL.
#[derive(Clone, Debug)]
pub(crate) struct Callbacks {
    client: reqwest::Client,
    url: reqwest::Url,
    clock: Arc<dyn Clock>,
}

impl Callbacks {
    pub(crate) fn to(url: &str, clock: Arc<dyn Clock>) -> anyhow::Result<Self> {
        let url = url
            .parse()
            .with_context(|| format!("the callback URL {url:?} is no URL"))?;
        // Fails when the process has one already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .timeout(TIMEOUT)
            .redirect(Policy::none())
            .no_proxy()
            .build()
            .context("the client for callbacks cannot be built")?;
        Ok(Self { client, url, clock })
    }

    /// Tries until one try is accepted or all have failed.
    async fn deliver(self, announcement: Announcement) {
        let Announcement {
            invoice_id,
            reached,
        } = announcement;
        let status = reached.as_str();
        let body = serde_json::json!({"invoice_id": invoice_id, "status": status});
        let mut pauses = PAUSES.into_iter();
        loop {
            let Err(error) = self.try_once(&body).await else {
                tracing::info!(invoice_id, status, "callback accepted");
                return;
            };
            let Some(pause) = pauses.next() else {
                tracing::warn!(invoice_id, status, "callback given up: {error:#}");
                return;
            };
            tracing::info!(
                invoice_id,
                status,
                "callback failed, tried again soon: {error:#}"
            );
            self.clock.sleep(pause).await;
        }
    }

    async fn try_once(&self, body: &serde_json::Value) -> anyhow::Result<()> {
        let request = self.client.post(self.url.clone()).json(body);
        let mut answer = request.send().await?;
        let status = answer.status();
        anyhow::ensure!(status == 200, "the answer's status is {status}, not 200");
        let rest = answer.chunk().await?;
        anyhow::ensure!(rest.is_none(), "the answer's body is not empty");
        Ok(())
    }
}

/// Sends what is announced until the end; without a URL, announcements are dropped.
pub(crate) async fn send_callbacks(
    callbacks: Option<Callbacks>,
    mut announcements: UnboundedReceiver<Announcement>,
    shutdown: &CancellationToken,
) {
    let mut deliveries = JoinSet::new();
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return,
            Some(_) = deliveries.join_next() => {}
            Some(announcement) = announcements.recv() => {
                if let Some(callbacks) = callbacks.clone() {
                    deliveries.spawn(callbacks.deliver(announcement));
                }
            }
        }
    }
}

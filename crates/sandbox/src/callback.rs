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
use crate::journal::Event;
use crate::state::Sandbox;

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
    async fn deliver(self, sandbox: Arc<Sandbox>, announcement: Announcement) {
        let Announcement {
            invoice_id,
            reached,
        } = announcement;
        let status = reached.as_str();
        let body = serde_json::json!({"invoice_id": invoice_id, "status": status});
        let mut pauses = PAUSES.into_iter();
        for attempt in 1.. {
            let sent = Event::CallbackSent {
                invoice_id: invoice_id.clone(),
                status,
                url: self.url.to_string(),
                attempt,
            };
            sandbox.act(|state, now| state.journal.add(now, sent));
            let answer = self.try_once(&body).await;
            let answered = Event::CallbackAnswered {
                invoice_id: invoice_id.clone(),
                status,
                attempt,
                accepted: answer == Answer::Accepted,
                answer: answer.status(),
                why: answer.why(),
            };
            sandbox.act(|state, now| state.journal.add(now, answered));
            let Some(why) = answer.why() else {
                tracing::info!(invoice_id, status, "callback accepted");
                return;
            };
            let Some(pause) = pauses.next() else {
                tracing::warn!(invoice_id, status, "callback given up: {why}");
                return;
            };
            tracing::info!(
                invoice_id,
                status,
                "callback failed, tried again soon: {why}"
            );
            self.clock.sleep(pause).await;
        }
    }

    async fn try_once(&self, body: &serde_json::Value) -> Answer {
        let request = self.client.post(self.url.clone()).json(body);
        let mut answer = match request.send().await {
            Ok(answer) => answer,
            Err(error) => return Answer::None(error.without_url().to_string()),
        };
        let status = answer.status().as_u16();
        if status != 200 {
            return Answer::Status(status);
        }
        match answer.chunk().await {
            Ok(None) => Answer::Accepted,
            Ok(Some(_)) => Answer::NotEmpty,
            Err(error) => Answer::None(error.without_url().to_string()),
        }
    }
}

/// What a merchant makes of a callback.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Answer {
    /// 200 with an empty body: the one answer that counts.
    Accepted,
    /// 200 with something in its body.
    NotEmpty,
    /// Another status.
    Status(u16),
    /// No answer, or none in time.
    None(String),
}

impl Answer {
    fn status(&self) -> Option<u16> {
        match self {
            Self::Accepted | Self::NotEmpty => Some(200),
            Self::Status(status) => Some(*status),
            Self::None(_) => None,
        }
    }

    /// Why it is a failed delivery.
    fn why(&self) -> Option<String> {
        match self {
            Self::Accepted => None,
            Self::NotEmpty => Some("the answer's body is not empty".to_owned()),
            Self::Status(status) => Some(format!("the answer's status is {status}, not 200")),
            Self::None(error) => Some(error.clone()),
        }
    }
}

/// Sends what is announced until the end; without a URL, announcements are dropped.
pub(crate) async fn send_callbacks(
    callbacks: Option<Callbacks>,
    sandbox: &Arc<Sandbox>,
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
                    deliveries.spawn(callbacks.deliver(sandbox.clone(), announcement));
                }
            }
        }
    }
}

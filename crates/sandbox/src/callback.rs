//! Tells the merchant that an invoice has come to an end.
//!
//! Source: payment-service.md, "Events": unsigned, COMPLETED and FAILED only, answered with 200 and an empty body.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use reqwest::Url;
use reqwest::redirect::Policy;
use tokio::sync::mpsc::Receiver;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::invoices::Announcement;
use crate::journal::Event;
use crate::state::Sandbox;

/// Pauses between the eight tries, a minute in all. `Assumed:` the specification says "several times" and no delays.
const PAUSES: [Duration; 7] = [
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
    Duration::from_secs(8),
    Duration::from_secs(16),
    Duration::from_secs(32),
];
/// Callbacks that may be on their way, or wait for their next try, at once.
const MAX_DELIVERIES: usize = 1_000;
/// How long one try may take.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Sends callbacks.
#[derive(Clone, Debug)]
pub(crate) struct Callbacks {
    client: reqwest::Client,
    /// For invoices that name no URL themselves.
    account_url: Option<Url>,
}

impl Callbacks {
    pub(crate) fn new(account_url: Option<&str>) -> anyhow::Result<Self> {
        let parse = |url: &str| {
            let parsed: Result<Url, _> = url.parse();
            parsed.with_context(|| format!("the callback URL {url:?} is no URL"))
        };
        let account_url = account_url.map(parse).transpose()?;
        // Fails when the process has one already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .timeout(TIMEOUT)
            .redirect(Policy::none())
            .no_proxy()
            .build()
            .context("the client for callbacks cannot be built")?;
        Ok(Self {
            client,
            account_url,
        })
    }

    /// Tries until one try is accepted or all have failed.
    async fn deliver(self, sandbox: Arc<Sandbox>, announcement: Announcement) {
        let Announcement {
            invoice_id,
            reached,
            callback_url,
            delay,
            mut followers,
        } = announcement;
        let own: Option<Url> = callback_url.and_then(|url| url.parse().ok());
        let Some(url) = own.or_else(|| self.account_url.clone()) else {
            sandbox.act(|state, _| state.outgoing.append(&mut followers));
            return;
        };
        if !delay.is_zero() {
            sandbox.clock().sleep(delay).await;
        }
        let status = reached.as_str();
        let body = serde_json::json!({"invoice_id": invoice_id, "status": status});
        let mut pauses = PAUSES.into_iter();
        for attempt in 1.. {
            let sent = Event::CallbackSent {
                invoice_id: invoice_id.clone(),
                status,
                url: url.to_string(),
                attempt,
            };
            sandbox.act(|state, now| state.journal.add(now, sent));
            let answer = self.try_once(&url, &body).await;
            let answered = Event::CallbackAnswered {
                invoice_id: invoice_id.clone(),
                status,
                attempt,
                accepted: answer == Answer::Accepted,
                answer: answer.status(),
                why: answer.why(),
            };
            sandbox.act(|state, now| {
                state.journal.add(now, answered);
                state.outgoing.append(&mut followers);
            });
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
            sandbox.clock().sleep(pause).await;
        }
    }

    async fn try_once(&self, url: &Url, body: &serde_json::Value) -> Answer {
        let request = self.client.post(url.clone()).json(body);
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

/// Sends what is announced until the end; what has no URL to go to is dropped.
pub(crate) async fn send_callbacks(
    callbacks: Callbacks,
    sandbox: &Arc<Sandbox>,
    mut announcements: Receiver<Announcement>,
    shutdown: &CancellationToken,
) {
    let mut deliveries = JoinSet::new();
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return,
            Some(_) = deliveries.join_next() => {}
            Some(announcement) = announcements.recv() => {
                if deliveries.len() < MAX_DELIVERIES {
                    deliveries.spawn(callbacks.clone().deliver(sandbox.clone(), announcement));
                } else {
                    sandbox.act(|state, now| state.drop_callback(announcement, now));
                }
            }
        }
    }
}

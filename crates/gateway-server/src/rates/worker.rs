//! The worker that asks the sources.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use florin_money::Amount;
use futures_util::future::join_all;
use jiff::Timestamp;
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode};
use tokio_util::sync::CancellationToken;

use super::Rates;
use super::answer;
use super::options::{Pair, Source};
use crate::clock::Clock;

/// Largest answer that is read. All prices of a source together are a few kilobytes.
const MAX_ANSWER_BYTES: usize = 256 * 1024;

/// A client for [`poll`] and for callbacks: it follows no redirect and uses no proxy of the environment.
///
/// # Errors
/// The machine has no certificates.
pub fn http_client() -> anyhow::Result<Client> {
    // An error means that the process has one already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // Coinbase refuses requests without a name.
    let client = Client::builder()
        .user_agent("florin-gateway")
        .redirect(Policy::none());
    client
        .no_proxy()
        .build()
        .context("the client of HTTP cannot be built")
}

/// Asks all sources again and again and records their prices, until `shutdown`.
pub async fn poll(
    client: Client,
    rates: Arc<Rates>,
    clock: Arc<dyn Clock>,
    shutdown: CancellationToken,
) {
    let interval = u64::from(rates.options().interval_seconds) * 1000;
    let mut poller = Poller::new(client, rates, Arc::clone(&clock));
    let rounds = async {
        loop {
            for notice in poller.round().await {
                tracing::warn!("{notice}");
            }
            // Up to a tenth longer, so that gateways that were started together do not stay together.
            let nanoseconds = clock.now().subsec_nanosecond().unsigned_abs();
            let jitter = u64::from(nanoseconds) % (interval / 10);
            clock.sleep(Duration::from_millis(interval + jitter)).await;
        }
    };
    tokio::select! {
        () = shutdown.cancelled() => {}
        () = rounds => {}
    }
}

/// Asks all sources twice: a source may quote in a coin whose price the first round finds. Returns what is wrong.
pub async fn ask(client: Client, rates: Arc<Rates>, clock: Arc<dyn Clock>) -> Vec<String> {
    let mut poller = Poller::new(client, rates, clock);
    let mut notices = poller.round().await;
    notices.extend(poller.round().await);
    notices
}

#[derive(Debug)]
struct Poller {
    client: Client,
    rates: Arc<Rates>,
    clock: Arc<dyn Clock>,
    sources: Vec<Polled>,
    /// The pairs on offer after the last round.
    offered: Option<Vec<String>>,
}

/// A source with what is asked of it.
#[derive(Debug)]
struct Polled {
    source: Source,
    pairs: Vec<Pair>,
    failing: bool,
    /// When it answered last.
    answered: Option<Timestamp>,
}

impl Poller {
    fn new(client: Client, rates: Arc<Rates>, clock: Arc<dyn Clock>) -> Self {
        let verdicts = rates.verdicts(clock.now());
        let pairs = |source: &Source| {
            let priced = |pair: &&Pair| source.symbol(pair).is_some();
            let pairs = verdicts.iter().map(|(pair, _)| pair);
            pairs.filter(priced).cloned().collect()
        };
        let polled = |source: &Source| Polled {
            pairs: pairs(source),
            source: source.clone(),
            failing: false,
            answered: None,
        };
        let mut sources: Vec<_> = rates.options().sources.iter().map(polled).collect();
        sources.retain(|polled| !polled.pairs.is_empty());
        // Those that quote in a stable coin are recorded when its price is known.
        sources.sort_by_key(|polled| polled.source.quoted_in.is_some());
        Self {
            client,
            rates,
            clock,
            sources,
            offered: None,
        }
    }

    /// Asks every source that is due. Returns what an operator is to know.
    async fn round(&mut self) -> Vec<String> {
        let now = self.clock.now();
        let timeout = Duration::from_secs(self.rates.options().timeout_seconds.into());
        let client = &self.client;
        let due = self.sources.iter_mut().filter(|polled| polled.is_due(now));
        let asked = due.map(async |polled| {
            let prices = polled.ask(client, timeout, now).await;
            (polled, prices)
        });
        let mut notices = Vec::new();
        for (polled, prices) in join_all(asked).await {
            let record = |pair: &Pair, price| self.rates.record(&polled.source, pair, price, now);
            let recorded = prices.into_iter().map(|(pair, price)| {
                let recorded = price.and_then(|price| record(&pair, price));
                recorded.map_err(|error| format!("{pair}: {error}"))
            });
            // Every price is recorded; the first error is named.
            let outcome = recorded.fold(Ok(()), Result::and);
            notices.extend(polled.note(outcome, now));
        }
        self.rates.end_round(now);
        notices.extend(self.changed_offer(now));
        notices
    }

    fn changed_offer(&mut self, now: Timestamp) -> Option<String> {
        let (mut offered, mut refused) = (Vec::new(), Vec::new());
        for (pair, verdict) in self.rates.verdicts(now) {
            match verdict {
                Ok(_) => offered.push(pair.to_string()),
                Err(reason) => refused.push(format!("; not {pair}: {reason}")),
            }
        }
        if self.offered.as_ref() == Some(&offered) {
            return None;
        }
        let notice = format!("priced: {}{}", offered.join(", "), refused.concat());
        self.offered = Some(offered);
        Some(notice)
    }
}

impl Polled {
    fn is_due(&self, now: Timestamp) -> bool {
        let every = i64::from(self.source.every_seconds.unwrap_or(0));
        let due = |last| now < last || now.duration_since(last).as_secs() >= every;
        self.answered.is_none_or(due)
    }

    async fn ask(
        &self,
        client: &Client,
        timeout: Duration,
        now: Timestamp,
    ) -> Vec<(Pair, Result<Amount, String>)> {
        let one_each = self.source.address.contains("{symbol}");
        let size = if one_each { 1 } else { self.pairs.len() };
        let requests = self.pairs.chunks(size);
        let answers = requests.map(async |pairs| {
            let symbols = pairs.iter().filter_map(|pair| self.source.symbol(pair));
            let symbols: Vec<_> = symbols.map(|(symbol, _)| symbol).collect();
            let address = self.source.filled(&symbols.join(&self.source.separator));
            let body = get(client, &address, timeout).await;
            let price = |pair: &Pair| match &body {
                Ok(body) => (pair.clone(), answer::price(&self.source, pair, body, now)),
                Err(error) => (pair.clone(), Err(error.clone())),
            };
            pairs.iter().map(price).collect::<Vec<_>>()
        });
        join_all(answers).await.concat()
    }

    /// Says once when the source begins to fail, and once when it works again.
    fn note(&mut self, outcome: Result<(), String>, now: Timestamp) -> Option<String> {
        let name = &self.source.name;
        let was_failing = core::mem::replace(&mut self.failing, outcome.is_err());
        if let Err(reason) = outcome {
            return (!was_failing).then(|| format!("the source {name} fails: {reason}"));
        }
        self.answered = Some(now);
        was_failing.then(|| format!("the source {name} works again"))
    }
}

/// The body of a good answer.
async fn get(client: &Client, address: &str, timeout: Duration) -> Result<Vec<u8>, String> {
    // An address may contain a key.
    let failed = |error: reqwest::Error| format!("{:#}", anyhow::Error::from(error.without_url()));
    let request = client.get(address).timeout(timeout);
    let mut response = request.send().await.map_err(failed)?;
    let status = response.status();
    if status != StatusCode::OK {
        return Err(format!("it answers with status {}", status.as_u16()));
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(failed)? {
        if body.len() + chunk.len() > MAX_ANSWER_BYTES {
            return Err("its answer is too large".to_owned());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

#[cfg(test)]
mod tests;

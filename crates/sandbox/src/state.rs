//! A running sandbox: the gateway on simulated chains, and what the developer changes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use anyhow::Context as _;
use florin_gateway::chain::{Chain, ChainDriver, Network};
use florin_gateway::confirmations::Confirmations;
use florin_gateway::database::{Database, StatusChange};
use florin_gateway::invoice::Invoice;
use florin_gateway::page::PageError;
use florin_gateway::wire::Status;
use florin_gateway::{CallbackTry, Clock, Event, Gateway, Observer, Options, Parts};
use jiff::{SignedDuration, Timestamp};
use parking_lot::{Mutex, MutexGuard};
use reqwest::Url;
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Settings;
use crate::chain::SimulatedChain;
use crate::faults::{Fault, Faults, Target};
use crate::journal::{Entry, Event as JournalEvent, Journal};
use crate::node;
use crate::prices::{FixedPrices, offered};
use crate::settings::{Seed, VirtualClock};

/// Confirmations of every transaction that complete an invoice. Source: payment-service.md, "Limits".
const REQUIRED_CONFIRMATIONS: u32 = 3;
/// Minutes until an invoice expires. `Assumed:` the specification gives no number.
const INVOICE_MINUTES: i64 = 15;
/// Seconds that a price is held. `Assumed:` the specification gives no number.
const QUOTE_SECONDS: i64 = 120;
/// Where the customer of an invoice without a hosted checkout is sent.
const MERCHANT_WEBSITE: &str = "http://127.0.0.1:8081/thanks";
/// The fact of the database under which [`Kept`] is.
const KEPT: &str = "sandbox";

/// A running sandbox.
#[derive(Debug)]
pub(crate) struct Sandbox {
    pub(crate) settings: Settings,
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) clock: VirtualClock,
    pub(crate) chains: BTreeMap<Chain, Arc<SimulatedChain>>,
    pub(crate) prices: Arc<FixedPrices>,
    pub(crate) desk: Arc<Desk>,
    /// Seconds by which the clock of the authentication is ahead.
    clock_error: AtomicI64,
}

/// What the developer plans and watches.
#[derive(Debug)]
pub(crate) struct Desk {
    clock: VirtualClock,
    state: Mutex<DeskState>,
}

#[derive(Debug)]
pub(crate) struct DeskState {
    pub(crate) faults: Faults,
    pub(crate) journal: Journal,
    pub(crate) next_invoice: NextInvoice,
    kept: Kept,
    /// Invoices that were failed and whose callback is not sent yet.
    failing: BTreeSet<String>,
}

/// What a restart keeps beside the gateway's own state.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    ahead_seconds: i64,
    /// Members with which GET /invoice replaces those of an invoice; `null` removes one.
    overrides: BTreeMap<String, Map<String, Value>>,
    /// Failed by the developer; no transaction changes that.
    failed: BTreeSet<String>,
}

/// Members that replace those of the next POST /invoice: a corrupted address, another QR code, the id of another invoice.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NextInvoice {
    pub(crate) address: Option<String>,
    pub(crate) qr_string: Option<String>,
    /// Only in the response: the invoice is stored under its own id.
    pub(crate) invoice_id: Option<String>,
}

impl Sandbox {
    pub(crate) async fn new(settings: Settings, public_url: String) -> anyhow::Result<Self> {
        let mut journal = Journal::appending_to(settings.log_file.as_deref())?;
        let seed = settings.seed;
        journal.add(settings.clock.now(), JournalEvent::Started { seed });
        let (database, kept) = open(&settings).await?;
        let seed = Seed::new(seed);
        let clock = VirtualClock::new(settings.clock.clone(), kept.ahead_seconds);
        let coins = offered(settings.unknown_asset);
        let node = match &settings.evm_rpc_url {
            Some(url) => Some(node::driver(url, &coins).await?),
            None => None,
        };
        let mut named: BTreeSet<Chain> = coins.iter().map(|coin| coin.chain).collect();
        if let Some((chain, _)) = &node {
            database.add_chain(*chain, "node").await?;
            named.remove(chain);
        }
        let simulated = |chain| SimulatedChain::new(chain, seed, Arc::new(clock.clone()));
        let chains: BTreeMap<_, _> = named
            .into_iter()
            .map(|chain| (chain, Arc::new(simulated(chain))))
            .collect();
        for chain in chains.keys() {
            database.add_chain(*chain, "simulated").await?;
        }
        let prices = Arc::new(FixedPrices::new(&settings, seed));
        let desk = Arc::new(Desk {
            clock: clock.clone(),
            state: Mutex::new(DeskState {
                faults: Faults::default(),
                journal,
                next_invoice: NextInvoice::default(),
                kept,
                failing: BTreeSet::new(),
            }),
        });
        let driver = |(chain, simulated): (&Chain, &Arc<SimulatedChain>)| {
            (*chain, simulated.clone() as Arc<dyn ChainDriver>)
        };
        let mut drivers: BTreeMap<_, _> = chains.iter().map(driver).collect();
        drivers.extend(node);
        let parts = Parts {
            database,
            drivers,
            price_source: prices.clone(),
            clock: Arc::new(clock.clone()),
            random: Arc::new(seed),
            observer: desk.clone(),
        };
        let callback_url = settings.callback_url.as_deref().map(|url| {
            let parsed: Result<Url, _> = url.parse();
            parsed.with_context(|| format!("the callback URL {url:?} is no URL"))
        });
        let (key, secret) = (&settings.api_key, settings.api_secret.expose_secret());
        let options = Options {
            public_url,
            merchant_website: MERCHANT_WEBSITE.to_owned(),
            callback_url: callback_url.transpose()?,
            local_currency: settings.local_currency.0,
            invoice_lifetime: SignedDuration::from_mins(INVOICE_MINUTES),
            quote_lifetime: SignedDuration::from_secs(QUOTE_SECONDS),
            confirmations: Confirmations::always(REQUIRED_CONFIRMATIONS),
            ..Options::new(Network::Test, key, secret, coins)
        };
        let sandbox = Self {
            gateway: Arc::new(Gateway::new(options, parts)),
            clock,
            chains,
            prices,
            desk,
            settings,
            clock_error: AtomicI64::new(0),
        };
        sandbox.look(None).await?;
        Ok(sandbox)
    }

    /// The time with which nonces are compared, and which responses show: by a clock that may be wrong.
    pub(crate) fn shown_time(&self) -> Timestamp {
        let ahead = SignedDuration::from_secs(self.clock_error.load(Ordering::Relaxed));
        let now = self.settings.clock.now();
        now.saturating_add(ahead).unwrap_or(now)
    }

    /// Sets that clock ahead of the right time by a number of seconds; a negative number is behind it.
    pub(crate) fn set_clock_error(&self, ahead_seconds: i32) {
        self.clock_error
            .store(i64::from(ahead_seconds), Ordering::Relaxed);
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The chains whose blocks a node has.
    pub(crate) fn followed(&self) -> impl Iterator<Item = Chain> {
        let mut chains = self.gateway.chains();
        core::iter::from_fn(move || chains.find(|chain| !self.chains.contains_key(chain)))
    }

    /// A simulated chain, or every one.
    pub(crate) fn simulated(
        &self,
        chain: Option<Chain>,
    ) -> impl Iterator<Item = (Chain, &SimulatedChain)> {
        let chains = self
            .chains
            .iter()
            .map(|(one, simulated)| (*one, &**simulated));
        chains.filter(move |(one, _)| chain.is_none_or(|chain| chain == *one))
    }

    /// Has the gateway read a simulated chain, or every one.
    pub(crate) async fn look(&self, chain: Option<Chain>) -> Result<(), PageError> {
        for (one, _) in self.simulated(chain) {
            self.gateway.look(one).await?;
        }
        Ok(())
    }

    /// Records invoices and checkouts that expired by the time of now.
    pub(crate) async fn expire(&self) -> Result<(), PageError> {
        if self
            .gateway
            .database()
            .has_overdue_invoice(self.now())
            .await?
        {
            self.look(None).await?;
        }
        self.gateway.expire_sessions().await?;
        Ok(())
    }

    /// Jumps ahead.
    pub(crate) async fn jump(&self, seconds: u32) -> Result<(), PageError> {
        self.clock.jump(seconds);
        let ahead_seconds = self.clock.ahead_seconds();
        self.keep(|kept| kept.ahead_seconds = ahead_seconds).await?;
        self.expire().await
    }

    /// Replaces members of GET /invoice for an invoice.
    pub(crate) async fn set_overrides(
        &self,
        id: &str,
        overrides: Map<String, Value>,
    ) -> Result<(), PageError> {
        self.keep(|kept| kept.overrides.insert(id.to_owned(), overrides))
            .await
    }

    /// Fails an invoice for good.
    pub(crate) async fn fail(&self, invoice: &Invoice) -> Result<(), PageError> {
        if self.desk.has_failed(&invoice.id) {
            return Ok(());
        }
        let id = invoice.id.clone();
        self.desk.lock().failing.insert(id.clone());
        self.keep(|kept| kept.failed.insert(id.clone())).await?;
        let change = StatusChange {
            invoice_id: id.clone(),
            from: invoice.status(),
            to: Status::Failed,
        };
        self.desk.note(status_event(&change));
        let url = invoice.callback_url();
        self.gateway
            .queue_callback(&id, Status::Failed, url)
            .await?;
        Ok(())
    }

    async fn keep<T>(&self, change: impl FnOnce(&mut Kept) -> T) -> Result<(), PageError> {
        let kept = {
            let mut state = self.desk.lock();
            change(&mut state.kept);
            serde_json::to_string(&state.kept).expect("its maps have texts as keys")
        };
        self.gateway.database().set_fact(KEPT, &kept).await?;
        Ok(())
    }
}

/// The database and what it kept.
async fn open(settings: &Settings) -> anyhow::Result<(Database, Kept)> {
    let Some(file) = &settings.state_file else {
        return Ok((Database::open("sqlite::memory:").await?, Kept::default()));
    };
    let opened = async {
        let database = Database::open(&format!("sqlite://{}?mode=rwc", file.display())).await?;
        let kept = database.fact(KEPT).await?;
        let kept = kept.map(|kept| serde_json::from_str(&kept)).transpose()?;
        anyhow::Ok((database, kept.unwrap_or_default()))
    };
    opened.await.with_context(|| {
        let file = file.display();
        format!("{file} cannot be used as the sandbox's database: delete it, or name another with --state")
    })
}

impl Desk {
    pub(crate) fn lock(&self) -> MutexGuard<'_, DeskState> {
        self.state.lock()
    }

    pub(crate) fn note(&self, event: JournalEvent) {
        self.lock().journal.add(self.clock.now(), event);
    }

    pub(crate) fn has_failed(&self, id: &str) -> bool {
        self.lock().kept.failed.contains(id)
    }

    /// Replaces members of a record of GET /invoice; `null` removes one.
    pub(crate) fn override_record(&self, record: &mut Map<String, Value>) {
        let state = self.lock();
        let Some(Value::String(id)) = record.get("invoice_id").cloned() else {
            return;
        };
        if state.kept.failed.contains(&id) {
            record.insert(
                "transaction_status".to_owned(),
                Status::Failed.as_str().into(),
            );
        }
        if let Some(overrides) = state.kept.overrides.get(&id) {
            record.extend(overrides.clone());
            record.retain(|_, value| !value.is_null());
        }
    }

    /// Names of the members that are replaced.
    pub(crate) fn overridden(&self, id: &str) -> Vec<String> {
        let state = self.lock();
        let overrides = state.kept.overrides.get(id);
        overrides.map_or_else(Vec::new, |overrides| overrides.keys().cloned().collect())
    }

    pub(crate) fn requests(&self) -> Vec<Entry> {
        let is_request = |entry: &&Entry| matches!(entry.event, JournalEvent::Request { .. });
        let state = self.lock();
        let newest_first = state.journal.newest_first();
        newest_first.filter(is_request).cloned().collect()
    }
}

impl Observer for Desk {
    fn observe(&self, event: Event<'_>) {
        let event = match event {
            Event::Chosen(invoice) => JournalEvent::Chosen {
                invoice_id: invoice.id.clone(),
                crypto_code: invoice.coin.code.to_string(),
                amount: invoice.terms.crypto.to_string(),
            },
            // It stays failed, whatever its chain shows.
            Event::Status(change) if self.has_failed(&change.invoice_id) => return,
            Event::Status(change) => status_event(change),
            Event::Callback(tried) => tried_event(tried),
        };
        self.note(event);
    }

    fn copies(&self, invoice_id: &str, status: Status) -> u32 {
        let fault = {
            let mut state = self.lock();
            if state.kept.failed.contains(invoice_id) && !state.failing.remove(invoice_id) {
                return 0;
            }
            state.faults.take(Target::Callback)
        };
        let copies = match &fault {
            Some(Fault::Lost {}) => 0,
            Some(Fault::Repeated {}) => 2,
            _ => 1,
        };
        if let Some(fault) = fault {
            self.note(JournalEvent::CallbackFault {
                invoice_id: invoice_id.to_owned(),
                status: status.as_str(),
                fault,
            });
        }
        copies
    }
}

fn status_event(change: &StatusChange) -> JournalEvent {
    JournalEvent::Status {
        invoice_id: change.invoice_id.clone(),
        from: change.from.as_str(),
        to: change.to.as_str(),
    }
}

fn tried_event(tried: &CallbackTry) -> JournalEvent {
    JournalEvent::Callback {
        invoice_id: tried.invoice_id.clone(),
        status: tried.status.as_str(),
        url: tried.url.to_string(),
        attempt: tried.attempt,
        accepted: tried.rejection.is_none(),
        response: tried.response,
        why: tried.rejection.clone(),
    }
}

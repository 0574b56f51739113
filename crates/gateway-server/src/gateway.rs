//! The running gateway: what it offers, its chains and its database.

use std::collections::BTreeMap;
use std::sync::Arc;

use florin_money::{Amount, Currency};
use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use reqwest::Url;
use secrecy::SecretString;
use tokio::sync::Notify;

use crate::api::request::ApiError;
use crate::chain::{Chain, ChainDriver, ChainError, Look, Network};
use crate::clock::Clock;
use crate::coin::Coin;
use crate::confirmations::Confirmations;
use crate::database::{Database, DatabaseError, StatusChange};
use crate::invoice::{Invoice, NewInvoice};
use crate::prices::{Conversion, PriceSource, Prices};
use crate::rate_limit::RateLimit;
use crate::session::{Session, SessionRequest};
use crate::uri::payment_uri;
use crate::wire::Status;

/// What an operator sets.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Options {
    pub network: Network,
    pub api_key: String,
    pub api_secret: SecretString,
    /// Where browsers reach the gateway, without a slash at the end.
    pub public_url: String,
    /// Where the customer of an invoice without a hosted checkout is sent.
    pub merchant_website: String,
    /// Where callbacks of invoices go that name no URL themselves.
    ///
    /// `Assumed:` invoices of POST /invoice, which name none, use one of the account. Disproved by a gateway that sends
    /// callbacks for hosted checkouts only.
    pub callback_url: Option<Url>,
    /// Tries of a callback; each pause is twice as long as the one before.
    pub callback_tries: u32,
    pub coins: Vec<Coin>,
    pub local_currency: Currency,
    /// Whole minutes. `Assumed:` the specification gives no number.
    pub invoice_lifetime: SignedDuration,
    pub quote_lifetime: SignedDuration,
    pub confirmations: Confirmations,
    /// How long after its deadline an invoice's address is read where each costs a call.
    pub watch_after_expiry: SignedDuration,
    /// 0: no limit.
    pub requests_per_second: u32,
    /// Open invoices without a payment on one chain; further ones are refused.
    pub max_unpaid_invoices: u32,
}

impl Options {
    /// Fifteen minutes for an invoice, two for a quote, a week of watching, eight tries of a callback; US dollars, no URLs
    /// and no limits.
    pub fn new(network: Network, api_key: &str, api_secret: &str, coins: Vec<Coin>) -> Self {
        Self {
            network,
            api_key: api_key.to_owned(),
            api_secret: api_secret.into(),
            public_url: String::new(),
            merchant_website: String::new(),
            callback_url: None,
            callback_tries: 8,
            coins,
            local_currency: Currency::USD,
            invoice_lifetime: SignedDuration::from_mins(15),
            quote_lifetime: SignedDuration::from_mins(2),
            confirmations: Confirmations::default(),
            watch_after_expiry: SignedDuration::from_hours(7 * 24),
            requests_per_second: 0,
            max_unpaid_invoices: u32::MAX,
        }
    }
}

/// Draws ids. The sandbox draws them from a seed.
pub trait Random: core::fmt::Debug + Send + Sync {
    /// 32 bytes that no caller can guess; `label` and `index` name the draw.
    fn draw(&self, label: &str, index: u64) -> [u8; 32];
}

/// Something that happened, for logs, metrics and the sandbox's journal.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// The customer of a hosted checkout chose an asset.
    Chosen(&'a Invoice),
    /// A status changed.
    Status(&'a StatusChange),
    /// A callback was tried.
    Callback(&'a CallbackTry),
}

/// One try of a callback.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct CallbackTry {
    pub invoice_id: String,
    pub status: Status,
    pub url: Url,
    /// Counted from 1.
    pub attempt: u32,
    /// The status of the response; `None`: no response.
    pub response: Option<u16>,
    /// Why it is not accepted.
    pub rejection: Option<String>,
}

/// Learns what happens.
pub trait Observer: core::fmt::Debug + Send + Sync {
    /// Called after it was recorded.
    fn observe(&self, event: Event<'_>);

    /// How often a callback is sent. The sandbox loses and repeats them.
    fn copies(&self, _invoice_id: &str, _status: Status) -> u32 {
        1
    }
}

/// The parts that a program chooses.
#[derive(Debug)]
#[expect(missing_docs, reason = "the types say it")]
pub struct Parts {
    pub database: Database,
    pub drivers: BTreeMap<Chain, Arc<dyn ChainDriver>>,
    pub price_source: Arc<dyn PriceSource>,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    pub observer: Arc<dyn Observer>,
}

/// The running gateway.
#[derive(Debug)]
pub struct Gateway {
    pub(crate) options: Options,
    pub(crate) prices: Prices,
    pub(crate) parts: Parts,
    pub(crate) rate_limit: RateLimit,
    /// Wakes the sender of callbacks.
    pub(crate) callbacks: Notify,
    /// Chains whose last look failed, with the reason; at the start every chain.
    failing: Mutex<BTreeMap<Chain, String>>,
    /// One look at a time.
    looking: BTreeMap<Chain, tokio::sync::Mutex<()>>,
}

/// Of a chain before its first look.
const UNREAD: &str = "it has not been read yet";

/// Of a chain that is read in several looks: an address of a later block may have been issued before a backup.
const BEHIND: &str = "it is being read up to its last block";

/// Indexes that are tried for one invoice: a driver refuses one whose address holds coins already.
const MAX_INDEXES: u32 = 3;

/// A look that recorded nothing.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each is its source")]
pub enum LookError {
    #[error(transparent)]
    Chain(#[from] ChainError),
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

impl Gateway {
    /// Joins the parts. Every chain has been added to the database.
    pub fn new(options: Options, parts: Parts) -> Self {
        let served = |coin: &&Coin| parts.drivers.contains_key(&coin.chain);
        let prices = Prices {
            coins: options.coins.iter().filter(served).cloned().collect(),
            source: parts.price_source.clone(),
            local_currency: options.local_currency,
            lifetime: options.quote_lifetime,
            secret: options.api_secret.clone(),
        };
        let chains = || parts.drivers.keys().copied();
        let unread = |chain| (chain, UNREAD.to_owned());
        Self {
            prices,
            rate_limit: RateLimit::new(options.requests_per_second),
            callbacks: Notify::new(),
            failing: Mutex::new(chains().map(unread).collect()),
            looking: chains().map(|chain| (chain, <_>::default())).collect(),
            options,
            parts,
        }
    }

    /// The database.
    pub fn database(&self) -> &Database {
        &self.parts.database
    }

    /// The chains that it watches.
    pub fn chains(&self) -> impl Iterator<Item = Chain> {
        self.parts.drivers.keys().copied()
    }

    /// Chains that cannot be read now, with the reason.
    pub fn failing(&self) -> BTreeMap<Chain, String> {
        self.failing.lock().clone()
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.parts.clock.now()
    }

    /// The assets that have a price now, and a chain that can be read.
    pub(crate) fn listed(&self, now: Timestamp) -> Vec<Conversion> {
        let failing = self.failing();
        let mut listed = self.prices.listed(now);
        listed.retain(|listed| !failing.contains_key(&listed.coin.chain));
        listed
    }

    /// Opens an invoice at an address that was never used.
    pub(crate) async fn open_invoice(
        &self,
        new: NewInvoice,
        now: Timestamp,
    ) -> Result<Invoice, ApiError> {
        let (coin, network) = (new.coin.clone(), self.options.network);
        let driver = self.parts.drivers.get(&coin.chain);
        // Before its first look, a restored database does not know which of its indexes were paid since.
        let driver = driver.filter(|_| !self.failing().contains_key(&coin.chain));
        let driver = driver.ok_or_else(|| ApiError::not_now(coin.code.as_str()))?;
        let unpaid = self.database().count_unpaid(coin.chain).await?;
        if unpaid >= u64::from(self.options.max_unpaid_invoices) {
            tracing::warn!(
                chain = coin.chain.as_str(),
                unpaid,
                "too many invoices wait for a payment: max_unpaid_invoices is reached"
            );
            return Err(ApiError::not_now(coin.code.as_str()));
        }
        let (address_index, address) = self.new_address(&coin, driver.as_ref()).await?;
        let id = match &new.session {
            Some((id, _)) => id.clone(),
            None => self.id("inv", coin.chain.as_str(), address_index.into()),
        };
        let lifetime = self.options.invoice_lifetime;
        let usd = Amount::from(&new.terms.usd);
        let hosted = new.session.map(|(_, request)| request);
        let invoice = Invoice {
            id,
            qr_string: payment_uri(&coin, network, &address, &new.terms.crypto),
            required_confirmations: self.options.confirmations.required(coin.chain, usd),
            coin,
            terms: new.terms,
            local_currency: new.local_currency,
            address,
            address_index,
            created_at: now,
            expires_at: now.saturating_add(lifetime).unwrap_or(now),
            marked_as_paid: false,
            email: hosted.as_ref().map(|hosted| hosted.email.clone()),
            hosted,
            history: vec![(now, Status::Checking)],
            payments: Vec::new(),
            height: 0,
        };
        self.database().insert_invoice(&invoice).await?;
        Ok(invoice)
    }

    /// An index that was never used, and its address.
    async fn new_address(
        &self,
        coin: &Coin,
        driver: &dyn ChainDriver,
    ) -> Result<(u32, String), ApiError> {
        let mut refused = None;
        for _ in 0..MAX_INDEXES {
            let index = self.database().take_index(coin.chain).await?;
            match driver.issue(index).await {
                Ok(address) => return Ok((index, address)),
                Err(error) => {
                    let is_unreachable = matches!(error, ChainError::Unreachable(_));
                    refused = Some(error);
                    if is_unreachable {
                        break;
                    }
                }
            }
        }
        if let Some(error) = refused {
            tracing::error!(
                chain = coin.chain.as_str(),
                "no address was issued: {error}"
            );
        }
        Err(ApiError::not_now(coin.code.as_str()))
    }

    pub(crate) async fn open_session(
        &self,
        request: SessionRequest,
        now: Timestamp,
    ) -> Result<Session, DatabaseError> {
        let number = self.database().next_session().await?;
        let id = self.id("ses", "", number);
        let session = Session::new(id, request, self.options.invoice_lifetime, now);
        self.database().insert_session(&session, number).await?;
        Ok(session)
    }

    pub(crate) fn id(&self, prefix: &str, label: &str, index: u64) -> String {
        let drawn = self.parts.random.draw(&format!("{prefix} {label}"), index);
        format!("{prefix}_{}", hex::encode(&drawn[..12]))
    }

    /// Reads a chain once and records what changed.
    ///
    /// # Errors
    /// The node cannot be believed, or the database fails: nothing was recorded.
    pub async fn look(&self, chain: Chain) -> Result<(), LookError> {
        let (Some(driver), Some(looking)) =
            (self.parts.drivers.get(&chain), self.looking.get(&chain))
        else {
            return Ok(());
        };
        let _one_at_a_time = looking.lock().await;
        let looked = self.look_at(chain, driver.as_ref()).await;
        let mut failing = self.failing.lock();
        match &looked {
            Ok(false) => {
                failing.insert(chain, BEHIND.to_owned());
            }
            Ok(true) => {
                let why = failing.remove(&chain);
                if why.is_some_and(|why| why != UNREAD && why != BEHIND) {
                    tracing::info!(chain = chain.as_str(), "the chain is read again");
                }
            }
            Err(error) => {
                let error = error.to_string();
                if failing.get(&chain) != Some(&error) {
                    tracing::error!(chain = chain.as_str(), "{error}; invoices stay as they are");
                    failing.insert(chain, error);
                }
            }
        }
        looked.map(|_| ())
    }

    /// Returns `true` if the look reached the end of the chain.
    async fn look_at(&self, chain: Chain, driver: &dyn ChainDriver) -> Result<bool, LookError> {
        let now = self.now();
        let watched = self.options.watch_after_expiry;
        let last = self.database().last_look(chain, watched, now).await?;
        let look = Look {
            cursor: Some(last.cursor.as_str()).filter(|cursor| !cursor.is_empty()),
            next_index: last.next_index,
            open: &last.open,
            known: &last.known,
        };
        let changes = driver.changes(look).await?;
        let recorded = self.database().record(chain, &last, &changes, now);
        self.observe(&recorded.await?);
        Ok(changes.is_caught_up)
    }

    pub(crate) fn observe(&self, changed: &[StatusChange]) {
        for change in changed {
            self.parts.observer.observe(Event::Status(change));
        }
        if changed.iter().any(|change| change.to.has_callback()) {
            self.callbacks.notify_one();
        }
    }

    /// Sends a callback about an invoice.
    ///
    /// # Errors
    /// The database fails.
    pub async fn queue_callback(
        &self,
        invoice_id: &str,
        status: Status,
        url: Option<&str>,
    ) -> Result<(), DatabaseError> {
        self.database()
            .queue_callback(invoice_id, status, url)
            .await?;
        self.callbacks.notify_one();
        Ok(())
    }

    /// Records hosted checkouts that expired without a choice.
    ///
    /// # Errors
    /// The database fails.
    pub async fn expire_sessions(&self) -> Result<(), DatabaseError> {
        let changed = self.database().expire_sessions(self.now()).await?;
        self.observe(&changed);
        Ok(())
    }
}

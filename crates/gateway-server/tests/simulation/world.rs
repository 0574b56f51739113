//! One world: a gateway with its database, a chain, customers, and what goes wrong.

use core::pin::pin;
use core::sync::atomic::Ordering;
use core::task::Poll;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use florin_gateway::chain::{Chain, ChainDriver, Network};
use florin_gateway::coin::Coin;
use florin_gateway::confirmations::{Confirmations, Step};
use florin_gateway::database::Database;
use florin_gateway::{Gateway, LookError, Options, Parts};
use florin_money::Asset;
use jiff::SignedDuration;
use parking_lot::Mutex;
use sqlx::{AnyConnection, Connection as _, Executor as _};

use crate::chain::{ETHER, Output, SimulatedChain, TETHER, amount};
use crate::customer::{Answered, KEY, LIFETIME_SECONDS, Order, SECRET, Shop, plan};
use crate::judge::{Judge, Verdict, recorded, rule, wait_for_writes, works};
use crate::node::{LOST, Node, State};
use crate::parts::{Prices, Random, Silent, SimulatedClock};
use crate::planted::Planted;

pub(crate) const CHAIN: Chain = Chain::Ethereum;
const START: i64 = 1_800_000_000;
/// An operation is cut off after at most this many waits.
const LATEST_CUT: u64 = 40;

pub(crate) struct World {
    pub(crate) counts: BTreeMap<&'static str, u64>,
    pub(crate) log: Vec<String>,
    random: Random,
    ids: Arc<Random>,
    clock: Arc<SimulatedClock>,
    node: Arc<Node>,
    shop: Shop,
    process: Process,
    folder: PathBuf,
    /// Transactions by their time and a number.
    planned: BTreeMap<(i64, usize), Vec<Output>>,
    judge: Judge,
    backup: Option<(PathBuf, Judge)>,
    /// Conversion ids that customers hold, by asset.
    held: BTreeMap<&'static str, String>,
    opened: u64,
}

/// A gateway, and the judge's own connection to its database.
struct Process {
    gateway: Gateway,
    db: AnyConnection,
    file: PathBuf,
}

/// Drops a future after this many waits.
async fn cut<F: Future>(future: F, mut waits: Option<u64>) -> Option<F::Output> {
    let mut future = pin!(future);
    core::future::poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending if waits == Some(0) => Poll::Ready(None),
        Poll::Pending => {
            waits = waits.map(|waits| waits - 1);
            Poll::Pending
        }
    })
    .await
}

fn options() -> Options {
    let step = |(from, confirmations): (u64, u32)| Step {
        from_usd: amount(from * 1_000_000),
        confirmations,
    };
    let steps = [(0, 1), (100, 3), (1_000, 6)].map(step);
    let coins = [Asset::ETH, Asset::USDTERC20].map(|it| Coin::listed(it, Network::Regtest));
    Options {
        invoice_lifetime: SignedDuration::from_secs(LIFETIME_SECONDS),
        confirmations: Confirmations::always(1).with(CHAIN, steps.into()),
        watch_after_expiry: SignedDuration::from_hours(1),
        ..Options::new(Network::Regtest, KEY, SECRET, coins.into())
    }
}

async fn start(file: PathBuf, node: &Arc<Node>, ids: &Arc<Random>) -> Verdict<Process> {
    let url = format!("sqlite://{}?mode=rwc", file.display());
    let database = works(Database::open(&url).await)?;
    works(database.add_chain(CHAIN, "key").await)?;
    let parts = Parts {
        database,
        drivers: BTreeMap::from([(CHAIN, node.clone() as Arc<dyn ChainDriver>)]),
        price_source: Arc::new(Prices),
        clock: node.clock.clone(),
        random: ids.clone(),
        observer: Arc::new(Silent),
    };
    let gateway = Gateway::new(options(), parts);
    let db = works(AnyConnection::connect(&url).await)?;
    Ok(Process { gateway, db, file })
}

impl World {
    pub(crate) async fn new(seed: u64, folder: &Path, planted: Option<Planted>) -> Verdict<Self> {
        let random = Random(seed.into());
        let [of_node, of_ids] = [(); 2].map(|()| Random(random.draw().into()));
        let (right, error) = (START.into(), 0.into());
        let clock = Arc::new(SimulatedClock { right, error });
        let state = State {
            chain: SimulatedChain::new(START),
            outage: None,
            snapshots: BTreeMap::from([(String::new(), Arc::default())]),
            last_cursor: String::new(),
            loses_answers: true,
            random: of_node,
        };
        let node = Arc::new(Node {
            state: Mutex::new(state),
            clock: clock.clone(),
            planted,
        });
        let ids = Arc::new(of_ids);
        let mut process = start(folder.join("0.db"), &node, &ids).await?;
        if let Some(Planted::Trigger(trigger)) = planted {
            let trigger = format!("CREATE TRIGGER plant AFTER {trigger}");
            works(process.db.execute(sqlx::AssertSqlSafe(trigger)).await)?;
        }
        Ok(Self {
            counts: BTreeMap::new(),
            log: Vec::new(),
            random,
            ids,
            shop: Shop(clock.clone()),
            clock,
            node,
            process,
            folder: folder.to_owned(),
            planned: BTreeMap::new(),
            judge: Judge::default(),
            backup: None,
            held: BTreeMap::new(),
            opened: 0,
        })
    }

    fn note(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
        self.log
            .push(format!("{:>7} {what}", self.clock.second() - START));
    }

    fn advance(&self, seconds: i64) {
        self.clock.right.fetch_add(seconds, Ordering::Relaxed);
    }

    pub(crate) async fn play(&mut self, invoices: u64) -> Verdict {
        while self.opened < invoices {
            self.advance(self.random.between(1, 30));
            self.move_chain();
            self.pay_due();
            self.suffer().await?;
            match self.random.below(100) {
                0..45 => self.open(false).await?,
                45..65 => self.open(true).await?,
                _ => {}
            }
            if self.random.percent(60) {
                self.look().await?;
            }
        }
        self.end().await
    }

    fn move_chain(&mut self) {
        let (second, random) = (self.clock.second(), &self.random);
        let mut notes = Vec::new();
        let mut state = self.node.state.lock();
        let chain = &mut state.chain;
        if random.percent(25) {
            chain.mine(second, random);
        }
        if random.percent(3) {
            let depth = [1, 1, 2, 3, 6, 20];
            chain.reorganise(random.pick(&depth).unwrap_or(1), second, random);
            notes.push("reorganisation");
        }
        if let Some(one) = random.pick(&chain.waiting()).filter(|_| random.percent(8)) {
            let mut outputs = chain.outputs(one);
            let what = random.pick(&["double spent", "fee raised", "amount replaced", "replaced"]);
            match what.unwrap_or_default() {
                "fee raised" => chain.raise_fee(one),
                "double spent" => chain.replace(one, Vec::new()),
                "amount replaced" => {
                    for output in &mut outputs {
                        output.units += 1;
                    }
                    chain.replace(one, outputs);
                }
                _ => chain.replace(one, outputs),
            }
            notes.extend(what);
        }
        if random.percent(1) {
            chain.empty_mempool();
            notes.push("node restarted");
        }
        if random.percent(5) {
            chain.send_dropped_again();
        }
        let outage = if random.percent(50) {
            "node down"
        } else {
            "node behind"
        };
        if state.outage.is_some() && random.percent(4) {
            state.outage = None;
        } else if state.outage.is_none() && random.percent(1) {
            state.outage = Some(outage);
            notes.push(outage);
        }
        drop(state);
        for what in notes {
            self.note(what);
        }
    }

    fn pay_due(&mut self) {
        let later = self.planned.split_off(&(self.clock.second() + 1, 0));
        for outputs in core::mem::replace(&mut self.planned, later).into_values() {
            let low_fee = self.random.percent(8);
            self.node.state.lock().chain.pay(outputs, low_fee);
            self.note(if low_fee { "low fee" } else { "payment" });
        }
    }

    async fn suffer(&mut self) -> Verdict {
        match self.random.below(300) {
            0..3 => {
                let error = self.random.between(-7_200, 7_200);
                self.clock.error.store(error, Ordering::Relaxed);
                self.note("clock stepped");
            }
            3..9 => self.clock.error.store(0, Ordering::Relaxed),
            9..12 => self.crash("crash").await?,
            12..16 => {
                self.note("backup");
                self.check(false).await?;
                let file = self.folder.join(format!("{}.backup", self.log.len()));
                let copy = sqlx::query("VACUUM INTO $1").bind(file.display().to_string());
                works(copy.execute(&mut self.process.db).await)?;
                self.backup = Some((file, self.judge.clone()));
            }
            16..18 => {
                if let Some((backup, judge)) = self.backup.take() {
                    self.process.file = backup;
                    self.judge.restore(judge);
                    self.crash("restored backup").await?;
                    // A customer may hold a price of before.
                    self.open(false).await?;
                }
            }
            18..20 => {
                // As `rescan` does: all answers of before are repeated.
                self.note("read again");
                let truth = recorded(&mut self.process.db, &self.node).await?;
                let cursor = self.node.state.lock().begin_again(truth);
                works(
                    self.process
                        .gateway
                        .database()
                        .set_cursor(CHAIN, &cursor)
                        .await,
                )?;
            }
            _ => {}
        }
        Ok(())
    }

    async fn crash(&mut self, what: &'static str) -> Verdict {
        self.note(what);
        let file = self.process.file.clone();
        self.process = start(file, &self.node, &self.ids).await?;
        if self.node.planted == Some(Planted::CursorOutsideOfTheTransaction) {
            let cursor = self.node.state.lock().last_cursor.clone();
            works(
                self.process
                    .gateway
                    .database()
                    .set_cursor(CHAIN, &cursor)
                    .await,
            )?;
        }
        self.check(false).await
    }

    fn draw_cut(&self) -> Option<u64> {
        let is_cut = self.random.percent(12);
        is_cut.then(|| self.random.below(LATEST_CUT))
    }

    /// Number of looks that the database has recorded.
    async fn looks(&mut self) -> Verdict<i64> {
        let select = sqlx::query_scalar("SELECT looks FROM chains");
        works(select.fetch_one(&mut self.process.db).await)
    }

    /// A cut operation ends its process, or only loses its client. The database may have recorded its look after the cut.
    async fn after_cut(&mut self, what: &'static str, looks: i64) -> Verdict {
        self.note(what);
        wait_for_writes(self.process.gateway.database()).await?;
        if self.looks().await? != looks {
            let truth = recorded(&mut self.process.db, &self.node).await?;
            self.judge.looked(&truth);
        }
        if self.random.percent(50) {
            return self.crash("crash while it waits").await;
        }
        Ok(())
    }

    /// A customer opens an invoice by the price that is held, or by a new one. While a look is under way, it is paid and mined
    /// at once.
    async fn open(&mut self, while_looking: bool) -> Verdict {
        let code = if self.random.percent(50) {
            ETHER
        } else {
            TETHER
        };
        let most = self.random.pick(&[9_000, 90_000, 900_000]).unwrap_or(1);
        let order = Order {
            code,
            cents: 100 + self.random.below(most),
        };
        let looks = self.looks().await?;
        let (gateway, node) = (&self.process.gateway, &self.node);
        if self.random.percent(50) {
            let (_, prices) = self.shop.call(gateway, "GET /prices", String::new()).await;
            let id = prices[code]["conversion_id"].as_str();
            self.held.extend(id.map(|id| (code, id.to_owned())));
        }
        let Some(price) = self.held.get(code) else {
            return Ok(());
        };
        let opened = async {
            let answered = self.shop.open(gateway, order, price).await?;
            if let Some(Answered { index, .. }) = answered
                && while_looking
            {
                let chain = &mut node.state.lock().chain;
                chain.pay(
                    vec![Output {
                        index,
                        code,
                        units: order.units(),
                    }],
                    false,
                );
                chain.mine(self.clock.second(), &self.random);
            }
            Verdict::Ok(answered)
        };
        let looked = async {
            if while_looking {
                gateway.look(CHAIN).await
            } else {
                Ok(())
            }
        };
        let both = Box::pin(async { tokio::join!(looked, opened) });
        let Some((looked, answered)) = cut(both, self.draw_cut()).await else {
            return self.after_cut("POST /invoice cut off", looks).await;
        };
        if while_looking {
            self.note("invoice opened during a look");
            self.looked(looked).await?;
        }
        let Some(answered) = answered? else {
            self.note("refused");
            return Ok(());
        };
        let others: Vec<u32> = self.judge.answered.values().map(|it| it.index).collect();
        let (behaviour, payments) = plan(&answered, &others, &self.random);
        for (position, (after, outputs)) in payments.into_iter().enumerate() {
            // The log grows with each invoice.
            let key = (self.clock.second() + after, self.log.len() + position);
            self.planned.insert(key, outputs);
        }
        self.log.push(format!("{answered:?}"));
        self.note(behaviour);
        self.opened += 1;
        self.judge.answer(answered)
    }

    async fn look(&mut self) -> Verdict {
        let (waits, looks) = (self.draw_cut(), self.looks().await?);
        let Some(looked) = cut(self.process.gateway.look(CHAIN), waits).await else {
            return self.after_cut("look cut off", looks).await;
        };
        if self.looked(looked).await? && self.random.percent(6) {
            return self.check(true).await;
        }
        Ok(())
    }

    /// Returns `true` if the look was recorded.
    async fn looked(&mut self, looked: Result<(), LookError>) -> Verdict<bool> {
        if let Err(LookError::Chain(error)) = &looked {
            let is_lost = error.to_string().contains(LOST);
            let is_expected = is_lost || self.node.state.lock().outage.is_some();
            rule("works", is_expected, || error.to_string())?;
            self.note(if is_lost { LOST } else { "look refused" });
            return Ok(false);
        }
        works(looked)?;
        let truth = recorded(&mut self.process.db, &self.node).await?;
        self.judge.looked(&truth);
        Ok(true)
    }

    async fn check(&mut self, after_look: bool) -> Verdict {
        let Process { gateway, db, .. } = &mut self.process;
        let judged = self
            .judge
            .check(gateway.database(), db, &self.node, after_look);
        judged.await
    }

    /// All payments are sent, what can be mined is, and every deadline passes.
    async fn end(&mut self) -> Verdict {
        self.node.state.lock().outage = None;
        self.node.state.lock().loses_answers = false;
        self.clock.error.store(0, Ordering::Relaxed);
        for _ in 0..20 {
            self.advance(LIFETIME_SECONDS);
            self.pay_due();
            let second = self.clock.second();
            self.node.state.lock().chain.mine(second, &self.random);
            let looked = self.process.gateway.look(CHAIN).await;
            self.looked(looked).await?;
        }
        self.check(true).await?;
        let gateway = &self.process.gateway;
        for Answered { id, address, .. } in self.judge.answered.values() {
            let line = format!("GET /invoice?id={id}");
            let (_, read) = self.shop.call(gateway, &line, String::new()).await;
            let invoice = works(gateway.database().invoice(id).await)?.expect("it was checked");
            let (status, received) = (invoice.status().as_str(), invoice.received().crypto);
            *self.counts.entry(status).or_default() += 1;
            let shown = [
                "transaction_status",
                "received_crypto_amount",
                "wallet_address",
            ];
            let shown = shown.map(|name| read["data"][name].as_str().unwrap_or_default());
            let is_same = shown == [status, &received.to_string(), address];
            rule("answer", is_same, || {
                format!("{read} is shown for {invoice:?}")
            })?;
        }
        Ok(())
    }
}

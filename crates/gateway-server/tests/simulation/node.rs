//! The driver of the simulated chain, by the contract of `ChainDriver`, and what its node suffers.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use florin_gateway::chain::{ChainDriver, ChainError, Changes, Look, Tip, Transfer};
use florin_gateway::clock::Clock as _;
use florin_money::CryptoCode;
use jiff::Timestamp;
use parking_lot::Mutex;

use crate::chain::{Seen, SimulatedChain, amount};
use crate::parts::{Random, SimulatedClock};
use crate::planted::Planted;

/// The truth when a look was answered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshot {
    /// `None` before the first look.
    pub(crate) tip: Option<Tip>,
    /// The latest time of a tip that the database has recorded.
    pub(crate) latest: Option<Timestamp>,
    pub(crate) transfers: BTreeMap<String, Seen>,
}

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) state: Mutex<State>,
    pub(crate) clock: Arc<SimulatedClock>,
    pub(crate) planted: Option<Planted>,
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) chain: SimulatedChain,
    pub(crate) outage: Option<&'static str>,
    /// The truth of each answer, by its cursor: height and hash of the tip, and a number.
    pub(crate) snapshots: BTreeMap<String, Arc<Snapshot>>,
    pub(crate) last_cursor: String,
    pub(crate) loses_answers: bool,
    pub(crate) random: Random,
}

pub(crate) const LOST: &str = "the answer was lost";

pub(crate) fn address(index: u32) -> String {
    format!("0x{index:040x}")
}

impl State {
    /// A cursor from which the whole chain is read again, of a database that has recorded this truth.
    pub(crate) fn begin_again(&mut self, recorded: Arc<Snapshot>) -> String {
        let cursor = format!("0 none {}", self.snapshots.len());
        self.snapshots.insert(cursor.clone(), recorded);
        cursor
    }

    fn check(&self) -> Result<(), ChainError> {
        self.outage.map_or(Ok(()), |outage| Err(error(outage)))
    }
}

impl Node {
    fn answer(&self, look: Look<'_>) -> Result<Changes, ChainError> {
        let mut state = self.state.lock();
        state.check()?;
        let cursor = look.cursor.unwrap_or_default();
        let latest = state.snapshots[cursor].latest;
        let mut words = cursor.split(' ');
        let height = words.next().and_then(|height| height.parse().ok());
        let hash = words.next().unwrap_or_default();
        let common = state.chain.common_height(height.unwrap_or(0), hash);
        let truth = state.chain.transfers();
        // Others may be repeated.
        let is_reported = |seen: &Seen| {
            seen.block.is_none_or(|block| block > common || common == 0) || state.random.percent(3)
        };
        let transfers = truth.iter().filter(|(_, seen)| is_reported(seen));
        let transfers = transfers.map(|(id, seen)| transfer(id, seen)).collect();
        let gone = look.known.iter().map(|known| known.id.clone());
        let tip = state.chain.tip();
        let mut changes = Changes {
            cursor: format!("{} {} {}", tip.height, tip.hash, state.snapshots.len()),
            tip: tip.clone(),
            transfers,
            gone: gone.filter(|id| !truth.contains_key(id)).collect(),
            is_caught_up: true,
        };
        let snapshot = Snapshot {
            latest: latest.max(Some(tip.time)),
            tip: Some(tip),
            transfers: truth,
        };
        state.last_cursor.clone_from(&changes.cursor);
        state
            .snapshots
            .insert(changes.cursor.clone(), Arc::new(snapshot));
        if state.loses_answers && state.random.percent(4) {
            return Err(error(LOST));
        }
        if self.planted == Some(Planted::DeadlineByTheClock) {
            changes.tip.time = self.clock.now();
        }
        Ok(changes)
    }
}

fn error(detail: &str) -> ChainError {
    let detail = detail.to_owned();
    if detail == "node behind" {
        ChainError::Unusable(detail)
    } else {
        ChainError::Unreachable(detail)
    }
}

fn transfer(id: &str, seen: &Seen) -> Transfer {
    Transfer {
        id: id.to_owned(),
        code: CryptoCode::parse(seen.output.code).expect("a listed code"),
        index: seen.output.index,
        address: address(seen.output.index),
        amount: amount(seen.output.units),
        transaction_hash: format!("tx{}", seen.transaction),
        block: seen.block,
        low_fee: seen.low_fee,
    }
}

#[async_trait]
impl ChainDriver for Node {
    async fn issue(&self, index: u32) -> Result<String, ChainError> {
        tokio::task::yield_now().await;
        self.state.lock().check()?;
        Ok(address(index))
    }

    async fn changes(&self, look: Look<'_>) -> Result<Changes, ChainError> {
        tokio::task::yield_now().await;
        let answer = self.answer(look);
        tokio::task::yield_now().await;
        answer
    }

    async fn tip(&self) -> Result<Tip, ChainError> {
        Ok(self.state.lock().chain.tip())
    }
}

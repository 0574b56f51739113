//! A chain with reorganisations and a mempool. What it has is the truth.

use std::collections::{BTreeMap, BTreeSet};

use florin_gateway::chain::{DEPTH, Tip};

pub(crate) use crate::parts::{ETHER, amount, text};
use crate::parts::{Random, time};

pub(crate) const TETHER: &str = "USDTERC20";
/// Another contract with tether's name: worth nothing, and no driver reports it.
pub(crate) const LOOK_ALIKE: &str = "look-alike";

/// An amount to an address of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Output {
    pub(crate) index: u32,
    pub(crate) code: &'static str,
    /// Millionths.
    pub(crate) units: u64,
}

#[derive(Debug)]
struct Transaction {
    /// The chain has one transaction of each input.
    input: usize,
    outputs: Vec<Output>,
    low_fee: bool,
}

#[derive(Debug)]
struct Block {
    number: u64,
    time: i64,
    transactions: Vec<usize>,
}

#[derive(Debug)]
pub(crate) struct SimulatedChain {
    blocks: Vec<Block>,
    /// No two blocks have the same number.
    next_number: u64,
    transactions: Vec<Transaction>,
    mempool: BTreeSet<usize>,
    /// Those that the node forgot. They may come back, or be mined elsewhere.
    dropped: BTreeSet<usize>,
}

/// An output on the chain.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) output: Output,
    pub(crate) transaction: usize,
    pub(crate) block: Option<u64>,
    pub(crate) low_fee: bool,
}

impl SimulatedChain {
    pub(crate) fn new(time: i64) -> Self {
        let mut chain = Self {
            blocks: Vec::new(),
            next_number: 0,
            transactions: Vec::new(),
            mempool: BTreeSet::new(),
            dropped: BTreeSet::new(),
        };
        chain.append(Vec::new(), time);
        chain
    }

    pub(crate) fn pay(&mut self, outputs: Vec<Output>, low_fee: bool) {
        self.add(self.transactions.len(), outputs, low_fee);
    }

    fn add(&mut self, input: usize, outputs: Vec<Output>, low_fee: bool) {
        self.mempool.insert(self.transactions.len());
        self.transactions.push(Transaction {
            input,
            outputs,
            low_fee,
        });
    }

    /// Transactions with the heights of their blocks.
    fn mined(&self) -> impl Iterator<Item = (usize, u64)> {
        let blocks = (0..).zip(&self.blocks);
        blocks.flat_map(|(height, block)| block.transactions.iter().map(move |it| (*it, height)))
    }

    pub(crate) fn mine(&mut self, second: i64, random: &Random) {
        let is_ready = |it: &usize| !self.transactions[*it].low_fee && random.percent(80);
        let waiting = self.mempool.iter().copied().filter(is_ready);
        // Another node still had it.
        let elsewhere = self.dropped.iter().copied().filter(|_| random.percent(5));
        let ready = waiting.chain(elsewhere).collect();
        self.append(ready, second + random.between(-30, 30));
    }

    /// Adds a block with those that the chain does not have or contradict.
    fn append(&mut self, wanted: Vec<usize>, time: i64) {
        let input = |it: usize| self.transactions[it].input;
        let mut spent: BTreeSet<usize> = self.mined().map(|(it, _)| input(it)).collect();
        let transactions = wanted
            .into_iter()
            .filter(|it| spent.insert(input(*it)))
            .collect();
        self.mempool
            .retain(|it| !spent.contains(&self.transactions[*it].input));
        self.dropped
            .retain(|it| !spent.contains(&self.transactions[*it].input));
        self.blocks.push(Block {
            number: self.next_number,
            time,
            transactions,
        });
        self.next_number += 1;
    }

    /// Replaces the newest blocks by one more. Their transactions are mined again, wait, or are double spent.
    pub(crate) fn reorganise(&mut self, depth: usize, second: i64, random: &Random) {
        let depth = depth.min(self.blocks.len() - 1);
        let left = self.blocks.split_off(self.blocks.len() - depth);
        let mut waiting: Vec<usize> = left.into_iter().flat_map(|it| it.transactions).collect();
        for _ in 0..=depth {
            let (mut included, mut later) = (Vec::new(), Vec::new());
            for one in waiting {
                match random.below(100) {
                    0..12 => {
                        self.replace(one, Vec::new());
                        included.push(self.transactions.len() - 1);
                    }
                    12..60 => included.push(one),
                    _ => later.push(one),
                }
            }
            waiting = later;
            self.append(included, second + random.between(-30, 30));
        }
        self.mempool.extend(waiting);
    }

    pub(crate) fn waiting(&self) -> Vec<usize> {
        self.mempool.iter().copied().collect()
    }

    pub(crate) fn outputs(&self, transaction: usize) -> Vec<Output> {
        self.transactions[transaction].outputs.clone()
    }

    /// Another transaction spends the same input.
    pub(crate) fn replace(&mut self, transaction: usize, outputs: Vec<Output>) {
        self.mempool.remove(&transaction);
        self.add(self.transactions[transaction].input, outputs, false);
    }

    /// Another transaction pays for it.
    pub(crate) fn raise_fee(&mut self, transaction: usize) {
        self.transactions[transaction].low_fee = false;
    }

    /// The node forgets what waits.
    pub(crate) fn empty_mempool(&mut self) {
        self.dropped.append(&mut self.mempool);
    }

    pub(crate) fn send_dropped_again(&mut self) {
        let input = |it: usize| self.transactions[it].input;
        let mut taken: BTreeSet<usize> = self.mempool.iter().map(|it| input(*it)).collect();
        let dropped = core::mem::take(&mut self.dropped).into_iter();
        let again: Vec<_> = dropped.filter(|it| taken.insert(input(*it))).collect();
        self.mempool.extend(again);
    }

    pub(crate) fn tip(&self) -> Tip {
        let block = self.blocks.last().expect("there is a first block");
        Tip {
            height: u64::try_from(self.blocks.len() - 1).expect("a few blocks"),
            hash: block.number.to_string(),
            time: time(block.time),
        }
    }

    /// Height up to which the chain surely has what it had at another tip.
    pub(crate) fn common_height(&self, height: u64, hash: &str) -> u64 {
        let block = self
            .blocks
            .get(usize::try_from(height).expect("a few blocks"));
        match block {
            Some(block) if block.number.to_string() == hash => height,
            _ => height.saturating_sub(DEPTH),
        }
    }

    /// Every transfer to an address of ours, by its id.
    pub(crate) fn transfers(&self) -> BTreeMap<String, Seen> {
        let mined = self.mined().map(|(it, height)| (it, Some(height)));
        let all = mined.chain(self.mempool.iter().map(|it| (*it, None)));
        let seen = |(transaction, block): (usize, Option<u64>)| {
            let Transaction {
                outputs, low_fee, ..
            } = &self.transactions[transaction];
            let low_fee = *low_fee && block.is_none();
            let outputs = outputs
                .iter()
                .enumerate()
                .filter(|(_, it)| it.code != LOOK_ALIKE);
            outputs.map(move |(position, output)| {
                let output = *output;
                let seen = Seen {
                    output,
                    transaction,
                    block,
                    low_fee,
                };
                (format!("tx{transaction}:{position}"), seen)
            })
        };
        all.flat_map(seen).collect()
    }
}

//! A plan for `florin-sweep`, which knows no network.

use core::fmt::Write as _;
use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, ensure};
use jiff::Timestamp;
use serde_json::json;

use super::wire::{Address, Quantity, call_of_transfer};
use super::{EvmDriver, Unit};
use crate::chain::Chain;

impl EvmDriver {
    /// A plan, in TOML, that moves all that is at the addresses of a list to `destination`. `sponsor` pays the gas.
    ///
    /// Lines of the list have a chain, an index, its address and an asset, with tabs between them, and perhaps more. Those
    /// of other chains are left out.
    ///
    /// # Errors
    /// What to write instead, or the node's answer.
    pub async fn sweep_plan(
        &self,
        list: &str,
        sponsor: &str,
        destination: &str,
        now: Timestamp,
    ) -> anyhow::Result<String> {
        ensure!(self.chain != Chain::Tron, "tron has no EIP-7702");
        let to = Address::of_text(destination).context("--to is no address")?;
        self.latest().await?;
        let count = json!([sponsor, "pending"]);
        let nonce: Quantity = self.ask("eth_getTransactionCount", &count).await?;
        let price: Quantity = self.ask("eth_gasPrice", &json!([])).await?;
        let tip: Quantity = self.ask("eth_maxPriorityFeePerGas", &json!([])).await?;
        let mut plan = format!(
            "written = \"{now}\"\nchain_id = {}\nsponsor = \"{sponsor}\"\nsponsor_nonce = {}\n\
             destination = \"{destination}\"\nmax_fee_per_gas = {}\nmax_priority_fee_per_gas = {}\n",
            self.chain_id,
            nonce.0,
            // The base fee rises by an eighth with each full block.
            price.0 * 2,
            tip.0
        );
        let mut assets: BTreeMap<u32, BTreeSet<&str>> = BTreeMap::new();
        for line in list.lines() {
            let columns: Vec<&str> = line.split('\t').collect();
            if let [chain, index, _, asset, ..] = columns[..]
                && chain == self.chain.as_str()
            {
                assets.entry(index.parse()?).or_default().insert(asset);
            }
        }
        for (index, assets) in assets {
            let text = self.key.address(index);
            let address = Address::of_text(&text).context("the key is of another chain")?;
            let mut holds = String::new();
            for code in assets {
                holds += &self.holding(address, code, to).await?;
            }
            if holds.is_empty() {
                continue;
            }
            let count = json!([address, "latest"]);
            let nonce: Quantity = self.ask("eth_getTransactionCount", &count).await?;
            let nonce = nonce.0;
            writeln!(
                plan,
                "\n[[address]]\nindex = {index}\naddress = \"{text}\"\nnonce = {nonce}\n{holds}"
            )?;
        }
        Ok(plan)
    }

    /// What an address holds of an asset; empty if that is nothing.
    async fn holding(&self, from: Address, code: &str, to: Address) -> anyhow::Result<String> {
        let is_asset = |unit: &Unit| unit.code.as_str() == code;
        let token = self.tokens.iter().find(|(_, unit)| is_asset(unit));
        let (units, transfer, contract, unit): (Quantity, _, _, _) =
            if let Some((token, unit)) = token {
                let question = json!([{"to": token, "input": from.balance_call()}, "latest"]);
                let units: Quantity = self.ask("eth_call", &question).await?;
                let input = call_of_transfer(to, units.0);
                let transfer = json!([{"from": from, "to": token, "input": input}]);
                (units, transfer, format!("contract = \"{token}\"\n"), unit)
            } else {
                let coin = self.coin.as_ref().filter(|unit| is_asset(unit));
                let coin = coin.with_context(|| format!("{code} is not configured"))?;
                let question = json!([from, "latest"]);
                let units: Quantity = self.ask("eth_getBalance", &question).await?;
                let value = format!("{:#x}", units.0);
                let transfer = json!([{"from": from, "to": to, "value": value}]);
                (units, transfer, String::new(), coin)
            };
        if units.0 == 0 {
            return Ok(String::new());
        }
        let gas: Result<Quantity, _> = self.ask("eth_estimateGas", &transfer).await;
        let gas = gas.with_context(|| format!("{from} cannot send its {code}"))?;
        let amount = unit.amount(units.0).context("more than an amount holds")?;
        let amount = amount.to_text();
        Ok(format!(
            "[[address.holds]]\nasset = \"{code}\"\namount = \"{}\"\ngas = {}\n{contract}",
            amount.as_str(),
            gas.0
        ))
    }
}

//! The command `sweep-plan`.

use std::io::{read_to_string, stdin};
use std::sync::Arc;

use anyhow::Context as _;

use crate::chain::Chain;
use crate::clock::{Clock as _, SystemClock};
use crate::config::Config;

/// Prints a plan for `florin-sweep` that moves what the list on standard input names.
///
/// # Errors
/// The chain has no such plan, the list or an address is wrong, or the node does not answer.
pub async fn sweep_plan(
    config: &Config,
    chain: Chain,
    sponsor: &str,
    destination: &str,
) -> anyhow::Result<()> {
    let section = config.chain.iter().find(|section| section.name == chain);
    let section =
        section.with_context(|| format!("the configuration has no chain {}", chain.as_str()))?;
    let key = section.deposit_key(config.network);
    let key = key.map_err(anyhow::Error::msg)?;
    let driver = section.evm_driver(key, config.network, Arc::new(SystemClock));
    let driver = driver.map_err(anyhow::Error::msg)?;
    let list = read_to_string(stdin())?;
    let plan = driver.sweep_plan(&list, sponsor, destination, SystemClock.now());
    print!("{}", plan.await?);
    Ok(())
}

//! Commands beside the server.

use std::collections::BTreeSet;
use std::io::{Write as _, read_to_string, stdin};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;

use crate::chain::Chain;
use crate::clock::{Clock as _, SystemClock, random_bytes};
use crate::config::{ChainConfig, Config};
use crate::rates;
use crate::server::{open_database, rates_of};

/// Writes a configuration with new secrets.
///
/// # Errors
/// The file is there already, or cannot be written.
pub fn init(file: &Path) -> anyhow::Result<()> {
    let key = hex::encode(random_bytes::<12>());
    let secret = hex::encode(random_bytes::<32>());
    let text = include_str!("commands/florin-gateway.toml")
        .replace("API_KEY", &key)
        .replace("API_SECRET", &secret);
    let mut options = std::fs::OpenOptions::new();
    let options = options.write(true).create_new(true).mode(0o600);
    let name = file.display();
    let mut written = options
        .open(file)
        .with_context(|| format!("{name} is not written, so that a file there stays as it is"))?;
    written.write_all(text.as_bytes())?;
    println!(
        "{name} has a new key and secret.\n\
         1. Write your public keys and your nodes into it.\n\
         2. florin-gateway doctor\n\
         3. Give the proxy url = \"http://127.0.0.1:8091/api\", api_key and api_secret in its section [gateway]."
    );
    Ok(())
}

/// Addresses that `doctor` shows.
const SHOWN: u32 = 3;

/// Asks every node and the sources of prices, and shows the first addresses of each key.
///
/// # Errors
/// Something is wrong; everything was tried.
pub async fn doctor(config: &Config) -> anyhow::Result<()> {
    let mut problems = 0;
    match open_database(config).await {
        Ok(_) => println!("ok       the database"),
        Err(error) => {
            problems += 1;
            println!("problem  the database: {error:#}");
        }
    }
    for chain in &config.chain {
        let name = chain.name.as_str();
        match chain.driver(config.network)?.tip().await {
            Ok(tip) => println!("ok       {name}: block {} of {}", tip.height, tip.time),
            Err(error) => {
                problems += 1;
                println!("problem  {name}: {error}");
            }
        }
        let key = chain.deposit_key(config.network)?;
        println!("         Does your wallet show these as its first receiving addresses?");
        for index in 0..SHOWN {
            println!("         {index}  {}", key.address(index));
        }
    }
    let rates = rates_of(config)?;
    let clock = Arc::new(SystemClock);
    for notice in rates::ask(rates::http_client()?, rates.clone(), clock).await {
        println!("         {notice}");
    }
    for (pair, verdict) in rates.verdicts(SystemClock.now()) {
        match verdict {
            Ok(price) => println!("ok       {pair}: {price}"),
            Err(why) => {
                problems += 1;
                println!("problem  {pair} is not offered: {why}");
            }
        }
    }
    anyhow::ensure!(problems == 0, "{problems} of these must be mended");
    Ok(())
}

/// Lists addresses with what arrived at them.
///
/// # Errors
/// The database cannot be read.
pub async fn addresses(config: &Config, unclaimed: bool) -> anyhow::Result<()> {
    let database = open_database(config).await?;
    println!("chain\tindex\taddress\tasset\treceived\tinvoice");
    for row in database.addresses().await? {
        if !unclaimed || row.invoice_id.is_none() {
            let invoice = row.invoice_id.as_deref().unwrap_or("unclaimed");
            println!(
                "{}\t{}\t{}\t{}\t{}\t{invoice}",
                row.chain, row.address_index, row.address, row.code, row.received
            );
        }
    }
    Ok(())
}

/// Lists what lies at the addresses now. Every chain is asked.
///
/// # Errors
/// The database cannot be read, or a node does not answer.
pub async fn unswept(config: &Config) -> anyhow::Result<()> {
    let database = open_database(config).await?;
    let paid = database.addresses().await?;
    println!("chain\tindex\taddress\tasset\theld");
    for section in &config.chain {
        let chain = section.name.as_str();
        let held = if let Some(driver) = section.bitcoin_driver(config.network)? {
            driver.held(database.next_index(section.name).await?).await
        } else {
            let paid = paid.iter().filter(|row| row.chain == chain);
            let indexes: BTreeSet<u32> = paid.map(|row| row.address_index).collect();
            let driver = section.evm_driver(config.network)?;
            driver.held(&Vec::from_iter(indexes)).await
        };
        for held in held.with_context(|| chain.to_owned())? {
            let (index, code, amount) = (held.index, held.code, held.amount);
            println!("{chain}\t{index}\t{}\t{code}\t{amount}", held.address);
        }
    }
    Ok(())
}

/// Searches the blocks of a chain of Bitcoin's family again. The next look records what is found.
///
/// # Errors
/// The node cannot search, or the chain is of another family.
pub async fn rescan(config: &Config, chain: Chain, height: u64) -> anyhow::Result<()> {
    let driver = section_of(config, chain)?.bitcoin_driver(config.network)?;
    let database = open_database(config).await?;
    let next_index = database.next_index(chain).await?;
    let driver =
        driver.context("only chains of Bitcoin's family are searched again: this one continues at the block of the database")?;
    driver.rescan(height, next_index).await?;
    database.set_cursor(chain, "").await?;
    println!("{} is read again from block {height} on.", chain.as_str());
    Ok(())
}

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
    let driver = section_of(config, chain)?.evm_driver(config.network)?;
    let list = read_to_string(stdin())?;
    let plan = driver.sweep_plan(&list, sponsor, destination, SystemClock.now());
    print!("{}", plan.await?);
    Ok(())
}

fn section_of(config: &Config, chain: Chain) -> anyhow::Result<&ChainConfig> {
    let section = config.chain.iter().find(|section| section.name == chain);
    section.with_context(|| format!("the configuration has no chain {}", chain.as_str()))
}

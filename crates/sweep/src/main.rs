//! `florin-sweep`: signs what moves tokens and coins from the addresses of invoices to one address, on chains of Ethereum's
//! kind.
//!
//! Each address delegates to a small contract by EIP-7702, so that one other account pays the gas of many addresses.
//!
//! **Nothing of the plan is believed where it could cost money.** The destination is typed again. Each address must be
//! derived from the key. The contract's code is part of this program, with the destination as a constant in it. What is
//! left to the plan are numbers that a node refuses if they are wrong, contracts of tokens, amounts to show, and fees,
//! whose highest sum is shown.
//!
//! What this program refuses to do: use a network, write a key anywhere, and move anything to a second address.

mod address;
mod delegate;
mod keys;
mod plan;
mod rlp;
mod sign;

use std::io::{IsTerminal as _, stdin};
use std::path::PathBuf;

use anyhow::Context as _;
use bitcoin::bip32::DerivationPath;
use clap::Parser;
use jiff::Timestamp;

use crate::address::Address;
use crate::keys::{Account, Key};
use crate::plan::Plan;
use crate::sign::{highest_cost, sign};

/// Signs the transactions of a plan, and prints them: one line each, to be sent to the chain one after another, from any
/// machine. Keys are asked for: they are neither arguments nor variables. Run it on a machine without a network.
#[derive(Debug, Parser)]
#[command(name = "florin-sweep", version)]
struct Arguments {
    /// The plan, written by florin-gateway sweep-plan.
    plan: PathBuf,
    /// Where everything goes. Read it from your wallet, not from the plan: both must be the same.
    #[arg(long, value_name = "ADDRESS")]
    to: String,
    /// The account of the seed whose public key the gateway has.
    #[arg(long, default_value = "m/44'/60'/0'")]
    path: DerivationPath,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let to = Address::parse(&arguments.to)?;
    let text = std::fs::read_to_string(&arguments.plan).context("the plan cannot be read")?;
    #[expect(clippy::disallowed_methods, reason = "the program's only clock")]
    let now = Timestamp::now();
    let plan = Plan::read(&text, to, now)?;
    eprint!("{}", plan.summary()?);
    eprintln!(
        "Gas       at most {} coins, paid by {}",
        highest_cost(&plan),
        plan.sponsor
    );
    eprintln!("Nothing is sent. Continue if every line is right; Ctrl-C ends this.");
    let account = secret("Seed words, or the account's xprv: ")?;
    let account = Account::read(&account, &arguments.path)?;
    let sponsor = secret("Private key of the account that pays the gas: ")?;
    for transaction in sign(&plan, &account, &Key::read(&sponsor)?)? {
        println!("{transaction}");
    }
    Ok(())
}

/// A line of standard input; what is typed at a terminal is not shown.
fn secret(prompt: &str) -> anyhow::Result<String> {
    if stdin().is_terminal() {
        return Ok(rpassword::prompt_password(prompt)?);
    }
    let mut line = String::new();
    stdin().read_line(&mut line)?;
    Ok(line)
}

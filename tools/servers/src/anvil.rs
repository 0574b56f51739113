//! Anvil, a node of a chain of Ethereum's kind, with a token. What it refuses is a panic.

use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::Context as _;
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use crate::json_rpc::JsonRpc;
use crate::{installed, test_token};

/// The first account of a node, which has coins, and which the node signs for.
pub const ACCOUNT: &str = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
/// What comes before the address in the node's output.
const LISTENING: &str = "Listening on ";

/// A running node; it is killed when dropped.
#[derive(Debug)]
pub struct Anvil {
    program: PathBuf,
    arguments: Vec<String>,
    child: Mutex<Child>,
    rpc: JsonRpc,
}

impl Anvil {
    /// Starts the installed node with these arguments on a free port.
    ///
    /// # Panics
    /// It does not start.
    pub fn start(arguments: &[&str]) -> Self {
        Self::start_program(&installed::anvil(), 0, arguments).expect("anvil starts")
    }

    /// Starts a node on a port, and waits until it listens.
    pub fn start_program(program: &Path, port: u16, arguments: &[&str]) -> anyhow::Result<Self> {
        let arguments: Vec<String> = arguments.iter().map(|it| (*it).to_owned()).collect();
        let (child, address) = spawn(program, &port.to_string(), &arguments)?;
        Ok(Self {
            program: program.to_owned(),
            arguments,
            child: Mutex::new(child),
            rpc: JsonRpc::new(format!("http://{address}"))?,
        })
    }

    /// Kills the node. Returns its chain, without what waits for a block, for [`Self::start_again`].
    pub async fn kill(&self) -> NamedTempFile {
        let with_older_states = json!([true]);
        let dump = self.call("anvil_dumpState", with_older_states).await;
        let dump = dump.as_str().and_then(|it| it.strip_prefix("0x"));
        let dump = hex::decode(dump.expect("a quantity")).expect("hexadecimal digits");
        let mut chain = NamedTempFile::new().expect("the folder is writable");
        io::copy(&mut GzDecoder::new(&*dump), &mut chain).expect("the chain is compressed");
        self.end();
        chain
    }

    /// Starts the node again on its port, with its chain.
    pub fn start_again(&self, chain: &NamedTempFile) {
        let (_, port) = self.url().rsplit_once(':').expect("it has a port");
        let file = chain.path().display().to_string();
        let arguments = [&self.arguments[..], &["--load-state".to_owned(), file]].concat();
        let (child, _) = spawn(&self.program, port, &arguments).expect("anvil starts again");
        *self.child() = child;
    }

    fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self) {
        let mut child = self.child();
        let _ = child.kill();
        let _ = child.wait();
    }

    /// The address that it answers at.
    pub fn url(&self) -> &str {
        &self.rpc.url
    }

    /// Calls a method, which must have a result.
    pub async fn call(&self, method: &str, params: Value) -> Value {
        let result = self.rpc.call(method, params).await;
        result.unwrap_or_else(|error| panic!("{error:#}"))
    }

    /// Calls a method that must be refused. Returns the node's words.
    pub async fn refusal(&self, method: &str, params: Value) -> String {
        let result: anyhow::Result<Value> = self.rpc.call(method, params).await;
        let refused = result.expect_err("the node refuses it");
        format!("{refused:#}")
    }

    /// Adds blocks.
    pub async fn mine(&self, blocks: u32) {
        let blocks = json!([format!("{blocks:#x}")]);
        self.call("anvil_mine", blocks).await;
    }

    /// Puts the token of [`test_token`] at an address, and a million of a token with six decimals in [`ACCOUNT`].
    pub async fn put_token(&self, contract: &str) {
        let code = json!([contract, test_token::CODE]);
        self.call("anvil_setCode", code).await;
        let balance = format!("0x{:064x}", 1_000_000_000_000_u64);
        let balance = json!([contract, test_token::balance_slot(ACCOUNT), balance]);
        self.call("anvil_setStorageAt", balance).await;
    }
}

impl Drop for Anvil {
    fn drop(&mut self) {
        self.end();
    }
}

/// Starts a node, and waits until it listens. Returns its address too.
fn spawn(program: &Path, port: &str, arguments: &[String]) -> anyhow::Result<(Child, String)> {
    let mut child = Command::new(program)
        .args(["--port", port])
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("{} cannot be started", program.display()))?;
    let output = child.stdout.take().context("it is piped")?;
    let mut lines = BufReader::new(output).lines().map_while(Result::ok);
    let address = lines.find_map(|line| line.strip_prefix(LISTENING).map(ToOwned::to_owned));
    let address = address.context("anvil ended before it listened")?;
    // A full pipe would stop it.
    std::thread::spawn(move || lines.for_each(drop));
    Ok((child, address))
}

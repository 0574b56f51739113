//! A node of Bitcoin's family on its network `regtest`, with a wallet that has coins and pays.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::free_port;
use crate::json_rpc::JsonRpc;

const PASSWORD: &str = "regtest";
/// After these the first ten rewards may be spent. Litecoin's network stops at block 431, where it needs a block that
/// its node does not make.
const BLOCKS: u32 = 110;
/// In a kilobyte: below this a miner passes a transaction over.
const LOWEST_FEE: &str = "0.0001";
/// Options that one of the nodes does not know are ignored in a file. Litecoin's node replaces nothing unless it is
/// asked to.
const CONFIGURATION: &str = "regtest=1\n[regtest]\nmempoolreplacement=1\n";
/// The node may take this many pauses until it answers.
const PAUSES: u32 = 1_800;
const PAUSE: Duration = Duration::from_millis(50);
const WALLET: &str = "payer";
/// What the node prints when it cannot start.
const ERRORS: &str = "errors";

/// A running node; it is killed when dropped.
#[derive(Debug)]
pub struct RegtestNode {
    program: PathBuf,
    folder: TempDir,
    port: u16,
    peering: Peering,
    child: Child,
    rpc: JsonRpc,
    payer: JsonRpc,
}

/// How a node is joined to others of this machine.
#[derive(Clone, Copy, Debug)]
enum Peering {
    Alone,
    /// On this port others follow its chain.
    Listening(u16),
    Following(u16),
}

impl RegtestNode {
    /// Starts `litecoind`, `bitcoind` or another program with the same options, with coins in its wallet.
    pub async fn start(program: &Path) -> anyhow::Result<Self> {
        Self::start_paying(program, Peering::Alone).await
    }

    /// Starts a node as [`Self::start`] does, and a second one that follows its chain and has no wallet.
    pub async fn start_two(program: &Path) -> anyhow::Result<[Self; 2]> {
        let port = free_port();
        let paying = Self::start_paying(program, Peering::Listening(port)).await?;
        let following = Self::start_empty(program, Peering::Following(port)).await?;
        Ok([paying, following])
    }

    async fn start_paying(program: &Path, peering: Peering) -> anyhow::Result<Self> {
        let node = Self::start_empty(program, peering).await?;
        node.call::<Value>("createwallet", json!([WALLET])).await?;
        node.mine(BLOCKS).await?;
        Ok(node)
    }

    async fn start_empty(program: &Path, peering: Peering) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        std::fs::write(folder.path().join("node.conf"), CONFIGURATION)?;
        let port = free_port();
        let url = format!("http://payer:{PASSWORD}@127.0.0.1:{port}");
        let mut node = Self {
            program: program.to_owned(),
            child: spawn(program, folder.path(), port, peering)?,
            folder,
            port,
            peering,
            payer: JsonRpc::new(format!("{url}/wallet/{WALLET}"))?,
            rpc: JsonRpc::new(url)?,
        };
        node.wait_until_ready().await?;
        Ok(node)
    }

    /// With user and password.
    pub fn url(&self) -> &str {
        &self.rpc.url
    }

    /// Calls a method of the node.
    pub async fn call<T: DeserializeOwned>(
        &self,
        method: &str,
        params: Value,
    ) -> anyhow::Result<T> {
        self.rpc.call(method, params).await
    }

    /// Calls a method of the wallet that pays.
    pub async fn payer<T: DeserializeOwned>(
        &self,
        method: &str,
        params: Value,
    ) -> anyhow::Result<T> {
        self.payer.call(method, params).await
    }

    /// Mines blocks with what is in the mempool; their hashes.
    pub async fn mine(&self, blocks: u32) -> anyhow::Result<Vec<String>> {
        let address: String = self.payer("getnewaddress", json!([])).await?;
        self.call("generatetoaddress", json!([blocks, address]))
            .await
    }

    /// Replaces the last blocks by as many without transactions.
    pub async fn reorganize(&self, blocks: u32) -> anyhow::Result<()> {
        let height: u32 = self.call("getblockcount", json!([])).await?;
        let first: String = self
            .call("getblockhash", json!([height + 1 - blocks]))
            .await?;
        self.call::<Value>("invalidateblock", json!([first]))
            .await?;
        let address: String = self.payer("getnewaddress", json!([])).await?;
        for _ in 0..blocks {
            self.call::<Value>("generateblock", json!([address, []]))
                .await?;
        }
        Ok(())
    }

    /// Pays an amount from the wallet; the transaction's hash. Its fee may be raised by `bumpfee`.
    pub async fn pay(&self, address: &str, amount: &str) -> anyhow::Result<String> {
        self.payer("sendtoaddress", json!([address, amount])).await
    }

    /// As [`Self::pay`], with a fee that no block takes.
    pub async fn pay_too_low_a_fee(&self, address: &str, amount: &str) -> anyhow::Result<String> {
        self.payer::<Value>("settxfee", json!(["0.00001"])).await?;
        let hash = self.pay(address, amount).await?;
        self.payer::<Value>("settxfee", json!([0])).await?;
        Ok(hash)
    }

    /// Spends the coins of a payment that no block has otherwise: almost all of them are the fee.
    pub async fn double_spend(&self, hash: &str) -> anyhow::Result<()> {
        let payment: Value = self
            .payer("gettransaction", json!([hash, false, true]))
            .await?;
        let inputs = payment["decoded"]["vin"].as_array();
        let inputs = inputs.context("a payment has inputs")?;
        let address: String = self.payer("getnewaddress", json!([])).await?;
        self.spend(inputs, json!([{address: "0.01"}])).await?;
        Ok(())
    }

    /// Spends these coins of the wallet; what the outputs leave is the fee. Another transaction may replace it. Returns the
    /// transaction's hash.
    pub async fn spend(
        &self,
        coins: impl IntoIterator<Item = &Value>,
        outputs: Value,
    ) -> anyhow::Result<String> {
        let coins = coins.into_iter();
        let inputs = coins
            .map(|it| json!({"txid": it["txid"], "vout": it["vout"], "sequence": 0xffff_fffd_u32}));
        let inputs: Vec<Value> = inputs.collect();
        let raw: String = self
            .call("createrawtransaction", json!([inputs, outputs]))
            .await?;
        let signed: Value = self
            .payer("signrawtransactionwithwallet", json!([raw]))
            .await?;
        self.call("sendrawtransaction", json!([signed["hex"], 0]))
            .await
    }

    /// Ends the node as its operator does.
    pub async fn stop(&mut self) -> anyhow::Result<()> {
        self.call::<Value>("stop", json!([])).await?;
        for _ in 0..PAUSES {
            if self.child.try_wait()?.is_some() {
                return Ok(());
            }
            thread::sleep(PAUSE);
        }
        anyhow::bail!("the node does not stop")
    }

    /// Kills the node: it forgets blocks that it has not written.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Starts the node again, and does not wait until it answers.
    pub fn spawn_again(&mut self) -> anyhow::Result<()> {
        self.child = spawn(&self.program, self.folder.path(), self.port, self.peering)?;
        Ok(())
    }

    /// Starts the node again, after [`Self::stop`].
    pub async fn start_again(&mut self) -> anyhow::Result<()> {
        self.spawn_again()?;
        self.wait_until_ready().await?;
        let loaded: Vec<String> = self.call("listwallets", json!([])).await?;
        if !loaded.iter().any(|name| name == WALLET) {
            self.call::<Value>("loadwallet", json!([WALLET])).await?;
        }
        Ok(())
    }

    async fn wait_until_ready(&mut self) -> anyhow::Result<()> {
        for _ in 0..PAUSES {
            let ended = self.child.try_wait()?;
            ensure!(
                ended.is_none(),
                "{} ended: {}",
                self.program.display(),
                std::fs::read_to_string(self.folder.path().join(ERRORS))?
            );
            let mempool: Option<Value> = self.call("getmempoolinfo", json!([])).await.ok();
            if mempool.is_some_and(|mempool| mempool["loaded"] == true) {
                return Ok(());
            }
            thread::sleep(PAUSE);
        }
        anyhow::bail!("{} does not answer", self.program.display())
    }
}

impl Drop for RegtestNode {
    fn drop(&mut self) {
        self.kill();
    }
}

fn spawn(program: &Path, folder: &Path, port: u16, peering: Peering) -> anyhow::Result<Child> {
    let mut command = Command::new(program);
    match peering {
        Peering::Alone => command.arg("-listen=0"),
        Peering::Listening(port) => command.arg(format!("-bind=127.0.0.1:{port}")),
        Peering::Following(port) => command.arg(format!("-connect=127.0.0.1:{port}")),
    };
    command
        .args([
            "-conf=node.conf",
            "-server",
            "-dnsseed=0",
            "-printtoconsole=0",
        ])
        .args(["-rpcuser=payer", "-walletrbf=1", "-fallbackfee=0.0002"])
        .args([
            format!("-blockmintxfee={LOWEST_FEE}"),
            "-mintxfee=0.00001".to_owned(),
        ])
        .arg(format!("-rpcpassword={PASSWORD}"))
        .arg(format!("-rpcport={port}"))
        .arg(format!("-datadir={}", folder.display()))
        // Debian's litecoind is a script that makes ~/.litecoin, and fails where another one makes it meanwhile.
        .env("HOME", folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(folder.join(ERRORS))?);
    let child = command.spawn();
    child.with_context(|| format!("{} cannot be started", program.display()))
}

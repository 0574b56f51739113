//! `florin-gateway` on real nodes in place of the sandbox, in processes that are killed; and its evidence: a log like the
//! sandbox's from its database, and the chains themselves, which judge that database.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use florin_invariants::{Attempt, Requested, amount};
use florin_servers::merchant::USDT;
use florin_servers::{Anvil, RegtestNode, test_token};
use jiff::Timestamp;
use serde_json::{Value, json};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Connection as _, Row as _};

use crate::program::{Folder, Program, tail_of, write_private};
use crate::real_chains::{RealChains, litecoind, units};
use crate::wait::pause;

const NO_LIMITS: &str = "requests_per_second = 0\nmax_unpaid_invoices = 1000000\n";

/// A program that is killed beside the proxies.
#[derive(Clone, Copy, Debug)]
pub(super) enum Killed {
    Gateway,
    Ethereum,
    /// It forgets the chain, and follows it anew.
    Litecoin,
}

/// Nodes whose blocks come from the campaign alone. The gateway reads a node of Litecoin that follows the payer's.
pub(super) async fn start_nodes() -> (Arc<RealChains>, RegtestNode) {
    let litecoin = RegtestNode::start_two(&litecoind()).await;
    let [litecoin, follower] = litecoin.expect("litecoind starts");
    // Each block is a second later than the one before: one for each payment would outrun the clock. As a node of the main
    // network, it has the balances of the last blocks alone.
    let ethereum = Anvil::start(&["--no-mining", "--prune-history", "128"]);
    let mut chains = RealChains::of(litecoin, ethereum).await;
    chains.invoice_minutes = 1;
    (Arc::new(chains), follower)
}

#[derive(Debug)]
pub(super) struct RealGateway {
    chains: Arc<RealChains>,
    litecoin: RegtestNode,
    program: PathBuf,
    config: PathBuf,
    log: PathBuf,
    database: PathBuf,
    process: Option<Program>,
}

/// An invoice with what the gateway has recorded for it.
struct Recorded {
    body: Value,
    status: String,
    /// Amount, and milliseconds since 1970.
    payments: Vec<(String, i64)>,
}

impl RealGateway {
    pub(super) fn start(
        program: PathBuf,
        (chains, litecoin): (Arc<RealChains>, RegtestNode),
        listen: SocketAddr,
        proxy: &str,
        folder: &Folder,
    ) -> Self {
        let config = folder.file("florin-gateway.toml");
        let toml = chains.gateway_toml(&listen.to_string(), proxy, folder);
        let toml = toml.replace(chains.litecoin.url(), litecoin.url());
        write_private(&config, &[NO_LIMITS, &toml].concat());
        let mut gateway = Self {
            chains,
            litecoin,
            program,
            config,
            log: folder.file("gateway.log"),
            database: folder.file("gateway.db"),
            process: None,
        };
        gateway.start_again();
        gateway
    }

    /// Kills a program, and starts it again after some time.
    pub(super) async fn kill(&mut self, killed: Killed, away: Duration) {
        match killed {
            Killed::Gateway => {
                let ended = self.process.as_mut().and_then(Program::exit_status);
                let tail = tail_of(&self.log);
                assert!(ended.is_none(), "the gateway exited by itself:\n{tail}");
                self.process = None;
                pause(away).await;
                self.start_again();
            }
            Killed::Ethereum => {
                let (_alone, node) = (self.chains.payer.lock().await, &self.chains.ethereum);
                // No payer sends again what the node forgets.
                node.mine(1).await;
                let chain = node.kill().await;
                pause(away).await;
                node.start_again(&chain);
            }
            Killed::Litecoin => {
                self.litecoin.kill();
                pause(away).await;
                self.litecoin.spawn_again().expect("litecoind starts again");
            }
        }
    }

    fn start_again(&mut self) {
        let variables = [("FLORIN_LOG", "warn")];
        let process = Program::start_built(&self.program, &self.config, &self.log, &variables);
        self.process = Some(process);
    }

    async fn open(&self) -> SqliteConnection {
        let options = SqliteConnectOptions::new().filename(&self.database);
        let opened = options.read_only(true).connect().await;
        opened.expect("the gateway's database")
    }

    async fn invoices(&self) -> Vec<Recorded> {
        let mut db = self.open().await;
        let select = "SELECT i.number, i.body, i.status, t.amount, t.seen_at FROM invoices i \
                      LEFT JOIN transfers t ON t.chain = i.chain AND t.address_index = i.address_index \
                      AND t.code = i.code AND t.gone = 0 ORDER BY i.number, t.number";
        let rows = sqlx::query(select).fetch_all(&mut db).await;
        let mut invoices: BTreeMap<i64, Recorded> = BTreeMap::new();
        for row in rows.expect("the gateway's tables") {
            let body: String = row.get("body");
            let invoice = invoices.entry(row.get("number")).or_insert(Recorded {
                body: serde_json::from_str(&body).expect("JSON"),
                status: row.get("status"),
                payments: Vec::new(),
            });
            if let Some(amount) = row.get("amount") {
                invoice.payments.push((amount, row.get("seen_at")));
            }
        }
        let _ = db.close().await;
        invoices.into_values().collect()
    }

    /// Mines a block of Ethereum, and one of Litecoin, whose network has few left, where an invoice waits for it. Returns `true`
    /// if each invoice that has received something is completed.
    pub(super) async fn mine_for_unfinished(&self) -> bool {
        let mut invoices = self.invoices().await;
        invoices.retain(|it| !it.payments.is_empty() && it.status != "COMPLETED");
        self.chains.mine("ETH", 1).await;
        if invoices.iter().any(|it| it.body["coin"]["code"] == "LTC") {
            self.chains.mine("LTC", 1).await;
        }
        invoices.is_empty()
    }

    /// Writes the gateway's database as a log of the sandbox. The gateway does not keep the conversion id of an invoice: it is
    /// that of the attempt with the invoice, or of an abandoned one of the same amounts.
    pub(super) async fn write_log(&self, log: &Path, attempts: &[Attempt]) {
        let mut lines: Vec<(Timestamp, Value)> = Vec::new();
        let mut attempts: Vec<&Attempt> = attempts.iter().collect();
        for Recorded { body, payments, .. } in self.invoices().await {
            let (id, terms) = (&body["id"], &body["terms"]);
            let text = |value: &Value| value.as_str().expect("a text").to_owned();
            let at = |value: &Value| text(value).parse::<Timestamp>().expect("a time");
            let holds = |attempt: &&Attempt| attempt.invoice_id.as_deref() == id.as_str();
            let is_lost = |attempt: &&Attempt| {
                let is_abandoned = matches!(attempt.state.as_str(), "outcome_unknown" | "blocked");
                let is_without = attempt.invoice_id.is_none();
                is_abandoned && is_without && conversion_of(attempt, &body).is_some()
            };
            let holder = attempts.iter().position(holds);
            let same = holder.or_else(|| attempts.iter().position(is_lost));
            let conversion = same.and_then(|at| conversion_of(attempts.swap_remove(at), &body));
            lines.push((
                at(&body["created_at"]),
                json!({
                    "kind": "request", "method": "POST", "path": "/invoice", "status": 200, "did": "create_invoice",
                    "asked": {
                        "conversion_id": conversion.unwrap_or_default(), "crypto_code": body["coin"]["code"],
                        "amount_in_crypto": terms["crypto"], "amount_in_usd": terms["usd"],
                        "amount_in_local_currency": terms["local"],
                    },
                    "response": {
                        "invoice_id": id, "local_currency_code": body["local_currency"],
                        "deposit_address": body["address"], "qr_string": body["qr_string"],
                    },
                }),
            ));
            for (number, (amount, seen_at)) in payments.iter().enumerate() {
                let seen_at = Timestamp::from_millisecond(*seen_at).expect("a time");
                let hash = format!("{}-{number}", text(id));
                let line = json!({"kind": "payment", "invoice_id": id, "amount": amount, "transaction_hash": hash});
                lines.push((seen_at, line));
            }
            for status in body["history"].as_array().expect("a list") {
                let line = json!({"kind": "status", "invoice_id": id, "to": status[1]});
                lines.push((at(&status[0]), line));
            }
        }
        lines.sort_by_key(|(at, _)| *at);
        let lines = lines.into_iter().map(|(at, mut line)| {
            line["at"] = at.to_string().into();
            format!("{line}\n")
        });
        std::fs::write(log, lines.collect::<String>()).expect("the folder is writable");
    }

    /// What the chain contradicts in the gateway's database: an address that two invoices share, and one whose balance is
    /// another than its recorded transfers, claimed by its invoice or not.
    pub(super) async fn contradictions(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut db = self.open().await;
        let mut addresses = BTreeSet::new();
        for Recorded { body, .. } in self.invoices().await {
            let address = body["address"].as_str().expect("a text").to_owned();
            if !addresses.insert(address.clone()) {
                found.push(format!("{address} was issued twice"));
            }
        }
        assert!(!addresses.is_empty(), "no invoice was issued");
        for address in addresses {
            let assets: &[_] = if address.starts_with("0x") {
                &[("ETH", 18), ("USDTERC20", 6)]
            } else {
                &[("LTC", 8)]
            };
            for &(code, decimals) in assets {
                let select =
                    "SELECT amount FROM transfers WHERE address = $1 AND code = $2 AND gone = 0";
                let recorded: Vec<String> = sqlx::query_scalar(select)
                    .bind(&address)
                    .bind(code)
                    .fetch_all(&mut db)
                    .await
                    .expect("the gateway's tables");
                let recorded = recorded.iter().map(|amount| units(amount, decimals));
                let (recorded, held) = (recorded.sum::<u128>(), self.balance(&address, code).await);
                if recorded != held {
                    found.push(format!(
                        "{address} has {held} of {code}, and {recorded} are recorded"
                    ));
                }
            }
        }
        let _ = db.close().await;
        found
    }

    async fn balance(&self, address: &str, code: &str) -> u128 {
        if code == "LTC" {
            let scan = json!(["start", [format!("addr({address})")]]);
            let found = self.chains.litecoin.call("scantxoutset", scan).await;
            let found: Value = found.expect("the node scans its coins");
            return units(&found["total_amount"].to_string(), 8);
        }
        let node = &self.chains.ethereum;
        let balance = if code == "ETH" {
            node.call("eth_getBalance", json!([address, "latest"]))
                .await
        } else {
            let call = json!([{"to": USDT, "data": test_token::balance_of(address)}, "latest"]);
            node.call("eth_call", call).await
        };
        let digits = balance
            .as_str()
            .expect("a quantity")
            .trim_start_matches("0x");
        u128::from_str_radix(digits, 16).expect("a quantity")
    }
}

fn conversion_of(attempt: &Attempt, invoice: &Value) -> Option<String> {
    let Requested::Invoice {
        conversion_id,
        crypto_code,
        amounts,
    } = &attempt.requested
    else {
        return None;
    };
    let terms = ["crypto", "usd", "local"]
        .map(|name| invoice["terms"][name].as_str().and_then(amount::units));
    (invoice["coin"]["code"] == crypto_code.as_str() && terms == *amounts)
        .then(|| conversion_id.clone())
}

//! `gateway-figures`: what the gateway costs on real nodes, beside the sandbox. `cargo xtask bench` builds all that it
//! needs and runs it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use florin_gateway::{Clock as _, SystemClock};
use florin_gateway_client::{Method, Nonce, sign};
use futures_util::{StreamExt as _, stream};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};
use support::secrets::{API_KEY, API_SECRET};
use support::{
    Browser, Folder, NodeCounter, RealChains, Running, World, eventually, free_port, pause,
    plain_client,
};

/// Measures florin-gateway on litecoind and anvil, and the sandbox.
#[derive(Parser)]
#[command(name = "gateway-figures")]
struct Arguments {
    /// Open invoices for each asset.
    #[arg(long, default_value_t = 10_000)]
    invoices: usize,
    /// Payments whose way to the screen is timed; the median counts.
    #[arg(long, default_value_t = 5)]
    payments: usize,
    /// `florin-gateway`, a release.
    #[arg(long, value_name = "FILE")]
    gateway: PathBuf,
    /// `florin-sandbox`, a release.
    #[arg(long, value_name = "FILE")]
    sandbox: PathBuf,
}

const AT_ONCE: usize = 8;
/// Both gateways complete a payment then.
const CONFIRMATIONS: u32 = 3;
/// Time in which a look of the gateway without a new block comes at least once.
const LOOK: Duration = Duration::from_secs(3);

/// A gateway in a separate process.
struct Gateway {
    process: Running,
    url: String,
    http: reqwest::Client,
}

impl Gateway {
    fn start(program: &Path, arguments: &[&str], listen: &str) -> Self {
        let child = Command::new(program)
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Self {
            process: Running(child.expect("the gateway can be started")),
            url: format!("http://{listen}"),
            http: plain_client(),
        }
    }

    async fn call(&self, method: Method, path: &str, body: &str) -> Option<Value> {
        let nonce = SystemClock.now().as_second();
        let nonce = Nonce::from_second(nonce);
        let signature = sign(
            &SecretString::from(API_SECRET),
            nonce,
            path,
            Some(body.as_bytes()),
        );
        let url = format!("{}/api{path}", self.url);
        let request = match method {
            Method::Post => self.http.post(url).body(body.to_owned()),
            _ => self.http.get(url),
        };
        let request = request
            .header("apikey", API_KEY)
            .header("nonce", nonce.to_string())
            .header("signature", signature.expose_secret())
            .header("content-type", "application/json");
        let response = request.send().await.ok()?;
        let answer: Value = response.error_for_status().ok()?.json().await.ok()?;
        Some(answer)
    }

    /// An invoice over one unit.
    async fn open(&self, asset: &str, price: &Value) {
        let rates = &price["rates"];
        let body = json!({
            "conversion_id": price["conversion_id"],
            "crypto_code": asset,
            "amount_in_crypto": "1",
            "amount_in_usd": rates["amount_in_usd"],
            "amount_in_local_currency": rates["amount_in_local_currency"],
        });
        let opened = self.call(Method::Post, "/invoice", &body.to_string()).await;
        assert!(opened.is_some(), "an invoice in {asset} is opened");
    }

    /// Opens invoices; how many in a second.
    async fn open_many(&self, asset: &str, count: usize) -> u128 {
        let price = eventually("the asset has a price", async || {
            let prices = self.call(Method::Get, "/prices", "").await?;
            prices.get(asset).cloned()
        })
        .await;
        let began = milliseconds();
        let invoices = stream::iter(0..count).map(|_| self.open(asset, &price));
        let invoices = invoices.buffer_unordered(AT_ONCE);
        invoices.collect::<Vec<()>>().await;
        count as u128 * 1_000 / (milliseconds() - began).max(1)
    }

    /// Resident memory in MiB.
    fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.0.id()));
        let status = status.expect("the gateway runs");
        let mut lines = status.lines();
        let line = lines.find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        kilobytes.expect("kilobytes") / 1024
    }
}

async fn invoices(arguments: &Arguments) {
    let listen = format!("127.0.0.1:{}", free_port());
    let options = [
        "--listen",
        &listen,
        "--api-key",
        API_KEY,
        "--api-secret",
        API_SECRET,
    ];
    let folder = Folder::new();
    let state = folder.file("state.db").display().to_string();
    let options = [&options[..], &["--state", &state]].concat();
    let sandbox = Gateway::start(&arguments.sandbox, &options, &listen);
    let rate = sandbox.open_many("LTC", arguments.invoices).await;
    println!(
        "sandbox, LTC              {rate:>5} invoices/s {:>5} MiB",
        sandbox.memory()
    );

    for asset in ["LTC", "USDTERC20"] {
        let chains = RealChains::start().await;
        let (litecoin, ethereum) = (chains.litecoin.url(), chains.ethereum.url().to_owned());
        let counters = [
            NodeCounter::start(litecoin).await,
            NodeCounter::start(&ethereum).await,
        ];
        let (listen, folder) = (format!("127.0.0.1:{}", free_port()), Folder::new());
        let toml = chains.gateway_toml(&listen, "http://127.0.0.1:1", &folder);
        let toml = toml
            .replace(litecoin, &counters[0].url)
            .replace(&ethereum, &counters[1].url);
        let file = folder.file("florin-gateway.toml");
        let limits = "requests_per_second = 0\nmax_unpaid_invoices = 1000000\n";
        fs::write(&file, [limits, &toml].concat()).expect("the folder can be written");
        let file = file.display().to_string();
        let gateway = Gateway::start(&arguments.gateway, &["--config", &file], &listen);
        let rate = gateway.open_many(asset, arguments.invoices).await;
        let memory = gateway.memory();
        let counter = &counters[usize::from(asset != "LTC")];
        pause(LOOK).await;
        counter.take();
        pause(LOOK).await;
        let idle = counter.take();
        chains.mine(asset, 1).await;
        pause(LOOK).await;
        let block = counter.take();
        println!(
            "florin-gateway, {asset:<9} {rate:>5} invoices/s {memory:>5} MiB, calls (requests) in three seconds: \
             {idle}, with a block: {block}"
        );
    }
}

fn milliseconds() -> u128 {
    SystemClock.now().as_millisecond().unsigned_abs().into()
}

/// Milliseconds from the block that completes a payment to `paid` on the customer's page.
async fn screen(asset: &str, chains: Option<Arc<RealChains>>, payments: usize) {
    let nodes = chains.clone();
    let world = World::with(|config| config.real_chains = nodes).await;
    eventually("the asset has a price", async || {
        let offer = world.customer().offer("store=demo&product=ebook").await;
        let mut quotes = offer.body["quotes"].as_array()?.iter();
        let is_offered = quotes.any(|it| it["crypto_code"] == asset && it["available"] == true);
        is_offered.then_some(())
    })
    .await;
    let browser = Browser::open().await;
    let mut times = Vec::new();
    for _ in 0..payments {
        browser.goto(&world.checkout_page()).await;
        browser.evaluate("sessionStorage.clear()").await;
        browser.goto("about:blank").await;
        browser.goto(&world.checkout_page()).await;
        browser.press(&format!("asset-{asset}")).await;
        browser.wait_for("status-awaiting_payment").await;
        let link = browser.scan("qr").await;
        let (address, amount) = link
            .split_once(':')
            .expect("a payment link")
            .1
            .split_once("?amount=")
            .expect("an amount");
        if let Some(chains) = &chains {
            chains.pay(asset, address, amount).await;
        } else {
            let invoice = world.sandbox().invoice_of(address).await;
            world.sandbox().pay_invoice(&invoice, "exact").await;
        }
        browser.wait_for("status-processing").await;
        let began = milliseconds();
        match &chains {
            Some(chains) => chains.mine(asset, CONFIRMATIONS).await,
            None => world.sandbox().mine(CONFIRMATIONS).await,
        }
        browser.wait_for("status-paid").await;
        times.push(milliseconds() - began);
    }
    times.sort_unstable();
    let name = if chains.is_some() {
        "florin-gateway"
    } else {
        "sandbox"
    };
    println!(
        "{name:<15} block → screen {:>5} ms, slowest {} ms",
        times[times.len() / 2],
        times[times.len() - 1]
    );
    browser.end().await;
    world.end().await;
}

#[tokio::main]
async fn main() {
    let arguments = Arguments::parse();
    invoices(&arguments).await;
    screen("LTC", None, arguments.payments).await;
    let chains = Arc::new(RealChains::start().await);
    screen("LTC", Some(chains), arguments.payments).await;
}

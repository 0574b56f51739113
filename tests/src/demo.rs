//! The demo with a chain, as `cargo xtask demo --chain` starts it.

use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;
use std::process::{Child, Command, Stdio};

use florin_postgres::free_port;
use serde_json::json;

use crate::chain::anvil;
use crate::program::{Folder, built, command};
use crate::wait::eventually;

/// What the demo's ports are above its base: proxy, shop, page with the wallet, node, sandbox, admin listener.
const PORTS: [u16; 6] = [0, 1, 2, 3, 10, 1010];
/// Below the ports of other tests, of which one could take a port between the search and the start; with the admin listeners
/// above.
const BASES: Range<u16> = 12_000..13_000;

/// A running demo; it ends, with its node, when dropped.
#[derive(Debug)]
pub struct Demo {
    child: Child,
    base: u16,
    folder: Folder,
}

impl Demo {
    /// Starts it on free ports and waits until its page answers.
    pub async fn start() -> Self {
        // Fails when it is installed already, which is the aim.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let is_free = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok();
        let bases = BASES.step_by(20).cycle();
        // Another process begins with another base.
        let mut bases = bases.skip(usize::from(free_port() / 100)).take(BASES.len());
        let base = bases.find(|base| PORTS.iter().all(|offset| is_free(base + offset)));
        let base = base.expect("a demo's ports are free below 14010");
        let folder = Folder::new();
        let mut program = command(&built("florin-demo", "florin-demo"), &[]);
        program
            .args(["--port-base", &base.to_string()])
            .arg("--folder")
            .arg(folder.path())
            .arg("--anvil")
            .arg(anvil())
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        let demo = Self {
            child: program.spawn().expect("the demo can be started"),
            base,
            folder,
        };
        let ready = format!("http://127.0.0.1:{}/health/ready", base + 1010);
        eventually("the demo is ready", async || {
            let response = reqwest::get(&ready).await.ok()?;
            response.status().is_success().then_some(())
        })
        .await;
        demo
    }

    pub fn wallet_page(&self) -> String {
        format!("http://127.0.0.1:{}/", self.base + 2)
    }

    /// Adds blocks to its chain, which has one every three seconds otherwise.
    pub async fn mine(&self, blocks: u32) {
        let url = format!("http://127.0.0.1:{}", self.base + 3);
        let params = json!([format!("{blocks:#x}")]);
        let request =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "anvil_mine", "params": params });
        let client = reqwest::Client::new();
        let sent = client.post(url).json(&request).send().await;
        let response = sent.expect("the node answers");
        assert!(response.status().is_success());
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = std::fs::read_to_string(self.folder.file("florin.log")).unwrap_or_default();
            println!("what the demo logged:\n{log}");
        }
        // It ends its node, and cuts its connections after a while.
        let id = self.child.id().to_string();
        let _ = Command::new("kill").args(["-TERM", &id]).status();
        let _ = self.child.wait();
    }
}

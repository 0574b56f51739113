//! Anvil, a node of a chain of Ethereum's kind, on a port of loopback, with a token; and where `cargo xtask` installs
//! tools.
//!
//! What is missing or refused is a panic: this crate is for tests.

mod installed;
pub mod test_token;

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

pub use self::installed::{program, tools, tools_of};

/// The first account of a node, which has coins, and which the node signs for.
pub const ACCOUNT: &str = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
/// What comes before the address in the node's output.
const LISTENING: &str = "Listening on ";

/// A running node; it is killed when dropped.
#[derive(Debug)]
pub struct Anvil {
    child: Child,
    url: String,
    http: reqwest::Client,
}

impl Anvil {
    /// Starts a node with these arguments on a free port, and waits until it listens.
    pub fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(program())
            .args(["--port", "0"])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("anvil can be started");
        let output = child.stdout.take().expect("it is piped");
        let mut lines = BufReader::new(output).lines().map_while(Result::ok);
        let address = lines.find_map(|line| line.strip_prefix(LISTENING).map(ToOwned::to_owned));
        let address = address.expect("anvil prints where it listens");
        // A full pipe would stop it.
        std::thread::spawn(move || lines.for_each(drop));
        // Fails when it is installed already, which is the aim.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().tls_certs_only([]);
        Self {
            child,
            url: format!("http://{address}"),
            http: http.build().expect("the crypto provider is installed"),
        }
    }

    /// The address that it answers at.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// As the function [`call`].
    pub async fn call(&self, method: &str, params: Value) -> Value {
        call(&self.http, &self.url, method, params).await
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

/// Calls a method of a node, which must have a result.
pub async fn call(http: &reqwest::Client, node: &str, method: &str, params: Value) -> Value {
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let response = http.post(node).json(&request).send();
    let response = response.await.expect("anvil answers");
    let mut response: Value = response.json().await.expect("anvil answers in JSON");
    let result = response.get_mut("result");
    let result = result.map(Value::take);
    result.unwrap_or_else(|| panic!("{request}: {response}"))
}

impl Drop for Anvil {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

//! Sweeps on anvil, with plans of the gateway, by the program.

#![cfg(test)]

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use florin_address::{DepositKey, Network as AddressNetwork};
use florin_gateway::chain::{Chain, Network};
use florin_gateway::chains::evm::EvmDriver;
use florin_gateway::coin::Coin;
use florin_gateway::{Clock as _, SystemClock};
use florin_money::Asset;
use florin_servers::{ACCOUNT, Anvil, test_token};
use serde_json::{Value, json};

/// Account 1 of the seed, as the guide has it.
const KEY: &str = "xpub6Ce9NcJvTk372KjsGfWqbcex5DumjpNquQLApoeQUavSCjEc823BV1tb4rXUuPuht8h2hSxkg2EXUaKUJmniJvRZAELxypsCzBFdtosmV76";
const SEED: &str = "test test test test test test test test test test test junk";
/// Written by viem.
const MASTER: &str = "xprv9s21ZrQH143K3iDNSJZcYeHRe33FQ98DS1wZR9xstVPN8zs77wpsghZt41M6s72keKC1gW3ePJMyL19duV524VbEqWBW6BL5fJ4FopSgNLz";
const ACCOUNT_KEY: &str = "xprv9yeny6n2dNUooqfQAdyqEUiDXC5HLMezYBQa2REnvFPTKvuTaUivwDa7Db8gwUCwcvZEQc7XBEvBjvwwUpQxPmxVScuQd8dAs4AYQT4BxeZ";
/// The second account of anvil, and its key. The first is a customer's, and a stranger's.
const SPONSOR: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const SPONSOR_KEY: &str = "59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";
const DESTINATION: &str = "0x1111111111111111111111111111111111111111";
const USDT: &str = test_token::ADDRESS;
const PATH: &str = "m/44'/60'/1'";
const COIN: u128 = 1_000_000_000_000_000_000;

struct Shop {
    node: Anvil,
    driver: EvmDriver,
    addresses: [String; 3],
}

impl Shop {
    async fn open() -> Self {
        let node = Anvil::start(&["--hardfork", "prague", "--no-mining"]);
        node.put_token(USDT).await;
        let key = DepositKey::parse(Asset::ETH, AddressNetwork::Test, KEY).unwrap();
        let addresses = [0, 1, 2].map(|index| key.address(index));
        let coins = [Asset::ETH, Asset::USDTERC20].map(|asset| Coin::listed(asset, Network::Test));
        let driver = EvmDriver::new(Chain::Ethereum, 31_337, key, coins.to_vec(), node.url());
        Self {
            node,
            driver: driver.unwrap(),
            addresses,
        }
    }

    /// What an account holds: tokens, and coins.
    async fn holds(&self, account: &str) -> (u128, u128) {
        let question = test_token::balance_of(account);
        let question = json!([{"to": USDT, "input": question}, "latest"]);
        let tokens = self.node.call("eth_call", question).await;
        let coins = json!([account, "latest"]);
        let coins = self.node.call("eth_getBalance", coins).await;
        (number(&tokens), number(&coins))
    }

    /// The contract that an address delegates to.
    async fn delegate(&self, index: usize) -> Option<String> {
        let account = json!([self.addresses[index], "latest"]);
        let code = self.node.call("eth_getCode", account).await;
        let delegate = code.as_str().unwrap().strip_prefix("0xef0100");
        delegate.map(|digits| format!("0x{digits}"))
    }

    /// Sends a transaction of an account whose key anvil has. Returns its gas.
    async fn send(&self, mut transaction: Value) -> u128 {
        transaction["gas"] = json!("0x7a120");
        let transaction = json!([transaction]);
        let hash = self.node.call("eth_sendTransaction", transaction).await;
        self.gas(hash).await
    }

    async fn gas(&self, hash: Value) -> u128 {
        self.node.mine(1).await;
        let receipt = json!([hash]);
        let receipt = self.node.call("eth_getTransactionReceipt", receipt).await;
        assert_eq!(receipt["status"], "0x1", "{receipt}");
        number(&receipt["gasUsed"])
    }

    async fn pay(&self, index: usize, tokens: u128, coins: u128) {
        let to = &self.addresses[index];
        let input = test_token::transfer(to, tokens);
        self.send(json!({"from": ACCOUNT, "to": USDT, "input": input}))
            .await;
        let value = format!("{coins:#x}");
        self.send(json!({"from": ACCOUNT, "to": to, "value": value}))
            .await;
    }

    /// A plan for both assets at these addresses.
    async fn plan(&self, indexes: &[usize]) -> String {
        let lines = indexes.iter().map(|index| {
            let row = format!("ethereum\t{index}\t{}", self.addresses[*index]);
            format!("{row}\tUSDTERC20\t1\n{row}\tETH\t1\n")
        });
        let list = format!("bnb\t7\t0x\tBNB\t1\n{}", lines.collect::<String>());
        let now = SystemClock.now();
        let plan = self.driver.sweep_plan(&list, SPONSOR, DESTINATION, now);
        plan.await.unwrap()
    }

    /// Sends signed transactions. Returns the gas of each.
    async fn broadcast(&self, transactions: &[String]) -> Vec<u128> {
        let mut gas = Vec::new();
        for transaction in transactions {
            let transaction = json!([transaction]);
            let hash = self.node.call("eth_sendRawTransaction", transaction).await;
            gas.push(self.gas(hash).await);
        }
        gas
    }
}

fn number(answer: &Value) -> u128 {
    u128::from_str_radix(&answer.as_str().unwrap()[2..], 16).unwrap()
}

fn word(account: &str) -> String {
    format!("{:0>64}", account.trim_start_matches("0x"))
}

/// Runs the program with a path of the account, and with these lines on its standard input.
fn run(plan: &str, to: &str, path: &str, lines: [&str; 2]) -> Output {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(plan.as_bytes()).unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_florin-sweep"))
        .arg(file.path())
        .args(["--to", to, "--path", path])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = program.stdin.take().unwrap();
    // It ends without reading where the plan is refused.
    let _ = input.write_all(lines.join("\n").as_bytes());
    drop(input);
    program.wait_with_output().unwrap()
}

fn signed(plan: &str, account: &str, path: &str) -> Vec<String> {
    let output = run(plan, DESTINATION, path, [account, SPONSOR_KEY]);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    let printed = String::from_utf8(output.stdout).unwrap();
    printed.lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn everything_at_many_addresses_reaches_the_destination_in_one_transaction() {
    let shop = Shop::open().await;
    // As USDT's: its `transfer` answers nothing.
    let silent = test_token::CODE.replace("600160005260206000f3", "00000000000000000000");
    assert_ne!(silent, test_token::CODE);
    shop.node.call("anvil_setCode", json!([USDT, silent])).await;
    shop.pay(0, 25_000_000, 0).await;
    shop.pay(1, 7, COIN).await;
    shop.pay(2, 1, 0).await;
    let plan = shop.plan(&[0, 1, 2]).await;
    let transactions = signed(&plan, SEED, PATH);
    // The same account by its master key, and by its own extended key, which needs no path.
    assert_eq!(signed(&plan, MASTER, PATH), transactions);
    assert_eq!(signed(&plan, ACCOUNT_KEY, "m/0"), transactions);
    let gas = shop.broadcast(&transactions).await;
    assert_eq!(shop.holds(DESTINATION).await, (25_000_008, COIN));
    for address in &shop.addresses {
        assert_eq!(shop.holds(address).await, (0, 0), "{address}");
    }
    assert_eq!(gas, [96_152, 145_145], "the guide has these figures");
}

#[tokio::test]
async fn what_comes_later_is_moved_by_the_sponsor_and_the_contract_alone() {
    let shop = Shop::open().await;
    shop.pay(0, 5, 0).await;
    let transactions = signed(&shop.plan(&[0]).await, SEED, PATH);
    shop.broadcast(&transactions).await;
    let latest = json!(["latest", true]);
    let latest = shop.node.call("eth_getBlockByNumber", latest).await;
    let authorizations = &latest["transactions"][0]["authorizationList"];
    assert_eq!(authorizations.as_array().map(Vec::len), Some(1), "{latest}");

    // A delegation changes nothing for who pays.
    shop.pay(0, 9, COIN).await;
    let first = shop.addresses[0].clone();
    let contract = shop.delegate(0).await.unwrap();
    let token = word(USDT);
    let list = word(&first) + &token;
    for (from, to, input) in [
        (ACCOUNT, &first, &token),
        (ACCOUNT, &first, &word("0")),
        (ACCOUNT, &first, &list),
        (ACCOUNT, &contract, &list),
        (SPONSOR, &first, &token),
        (SPONSOR, &first, &list),
    ] {
        let mut call = json!({"from": from, "to": to, "input": format!("0x{input}")});
        call["authorizationList"] = authorizations.clone();
        shop.send(call).await;
        assert_eq!(shop.holds(&first).await, (9, COIN), "{from} {to} {input}");
    }
    let input = format!("0x{list}");
    let call = json!({"from": SPONSOR, "to": contract, "input": input});
    shop.send(call).await;
    assert_eq!(shop.holds(DESTINATION).await, (14, 0));

    // The list is read at the contract's account alone: else the sponsor could make an address call anything.
    let probe = "0x00000000000000000000000000000000000bb0be";
    let stores_its_caller = json!([probe, "0x335f5500"]);
    shop.node.call("anvil_setCode", stores_its_caller).await;
    let input = format!("0x{}{}", word(probe), word("0"));
    shop.send(json!({"from": SPONSOR, "to": first, "input": input}))
        .await;
    let caller = json!([probe, "0x0", "latest"]);
    let caller = shop.node.call("eth_getStorageAt", caller).await;
    assert_eq!(number(&caller), 0);
}

#[tokio::test]
async fn wrong_numbers_and_chains_move_nothing_and_a_refusing_token_is_left() {
    let shop = Shop::open().await;
    shop.pay(0, 5, 0).await;
    shop.pay(1, 6, 0).await;
    let plan = shop.plan(&[0, 1]).await;
    let other_chain = plan.replace("chain_id = 31337", "chain_id = 1");
    let last = json!([signed(&other_chain, SEED, PATH)[1]]);
    let refused = shop.node.refusal("eth_sendRawTransaction", last).await;
    assert!(refused.contains("chain"), "{refused}");

    let broken = "0x00000000000000000000000000000000000b20ce";
    let code = json!([broken, "0x5f5ffd"]);
    shop.node.call("anvil_setCode", code).await;
    let held = "[[address.holds]]\nasset = \"BAD\"\namount = \"1\"\ngas = 50000\n";
    let held = format!("{held}contract = \"{broken}\"\n[[address.holds]]");
    let plan = plan.replace("[[address.holds]]", &held);
    let plan = plan.replacen("\nnonce = 0", "\nnonce = 7", 1);
    shop.broadcast(&signed(&plan, SEED, PATH)).await;
    assert_eq!(shop.delegate(0).await, None);
    assert_eq!(shop.holds(&shop.addresses[0]).await, (5, 0));
    assert_eq!(shop.holds(DESTINATION).await, (6, 0));
}

#[tokio::test]
async fn nothing_is_signed_with_a_wrong_plan_or_key() {
    let shop = Shop::open().await;
    shop.pay(1, 1, 0).await;
    let plan = shop.plan(&[1]).await;
    let refused = |plan: &str, to: &str, path: &str, keys: [&str; 2], expected: &str| {
        let output = run(plan, to, path, keys);
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(complaint.contains(expected), "{expected}: {complaint}");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    };
    let keys = [SEED, SPONSOR_KEY];
    refused(&plan, SPONSOR, PATH, keys, "--to names");
    refused(&plan, "1111", PATH, keys, "the address");
    refused(&plan, DESTINATION, "m/0", keys, "address 1");
    let typo = SEED.replace("junk", "test");
    refused(
        &plan,
        DESTINATION,
        PATH,
        [&typo, SPONSOR_KEY],
        "look for a typing error",
    );
    refused(&plan, DESTINATION, PATH, [SEED, "59c6"], "64 hexadecimal");
    refused(
        &plan,
        DESTINATION,
        PATH,
        [SEED, &word("1")],
        "this key belongs",
    );
    for (right, wrong, expected) in [
        ("index = 1", "index = 0", "address 0"),
        ("written = \"2", "written = \"1", "24 hours"),
        (SPONSOR, &shop.addresses[1], "off the list"),
    ] {
        let plan = plan.replace(right, wrong);
        refused(&plan, DESTINATION, PATH, keys, expected);
    }
}

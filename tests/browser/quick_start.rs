//! The quick start on one machine: the commands, files and addresses of docs/guide/quick-start.md, as they are written; and the
//! demo with a chain, whose customer pays on its page, by the wallet that the demo puts there.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use support::{
    Browser, Demo, Folder, Running, built, eventually, free_port, install_node_library, within,
};

/// The package that the test installs as `cargo xtask tools` leaves it.
const INSTALL: &str = "npm install --install-links \"$FLORIN/packages/node\"\n";

enum Step {
    Write { file: String, text: String },
    Run(String),
}

/// The blocks below a comment that begins with `laptop`: a file's text, or commands.
fn steps(page: &str) -> VecDeque<Step> {
    let mut steps = VecDeque::new();
    for part in page.split("<!-- laptop").skip(1) {
        let (mark, rest) = part.split_once("-->").unwrap();
        let block = rest.split("```").nth(1).unwrap();
        let (_, text) = block.split_once('\n').unwrap();
        steps.push_back(match mark.trim().strip_prefix(':') {
            Some(file) => Step::Write {
                file: file.trim().to_owned(),
                text: text.to_owned(),
            },
            None => Step::Run(text.to_owned()),
        });
    }
    steps
}

/// Starts a shell with these commands; the last of them replaces the shell.
fn start(commands: &str, folder: &Path) -> Running {
    let whole = commands.trim_end();
    let (before, last) = whole.rsplit_once('\n').unwrap_or(("", whole));
    let mut output = File::options();
    let output = output.create(true).append(true);
    let output = output.open(folder.join("output")).unwrap();
    let errors = output.try_clone().unwrap();
    let mut shell = shell(&format!("{before}\nexec {last}"), folder);
    Running(shell.stdout(output).stderr(errors).spawn().unwrap())
}

/// A shell in the merchant's folder, with the built programs on its path and no variable of the proxy.
fn shell(commands: &str, folder: &Path) -> Command {
    let programs: PathBuf = built("florin-proxy", "florin-proxy")
        .parent()
        .unwrap()
        .into();
    let path = std::env::var("PATH").unwrap();
    let mut shell = Command::new("sh");
    shell
        .args(["-c", commands])
        .env("PATH", format!("{}:{path}", programs.display()))
        .current_dir(folder)
        .stdin(Stdio::null());
    // The proxy refuses unknown variables; `cargo xtask test` sets some of these tests.
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("FLORIN_")) {
        shell.env_remove(name);
    }
    shell
}

async fn listens(port: u16, folder: &Path) {
    let up = within(Duration::from_secs(20), async || {
        TcpStream::connect(("127.0.0.1", port)).ok()
    });
    let printed = || fs::read_to_string(folder.join("output")).unwrap_or_default();
    assert!(
        up.await.is_some(),
        "nothing listens on {port}: {}",
        printed()
    );
}

/// Other programs may use the page's ports: each is replaced by a free one, in commands and files alike.
fn with_free_ports(page: &str) -> (String, [u16; 3]) {
    let mut page = page.to_owned();
    let ports = [8080, 8090, 3000].map(|port| (port, free_port()));
    for (written, free) in ports {
        page = page.replace(&written.to_string(), &free.to_string());
    }
    // The commands that take their default ports on the page.
    let [(_, proxy), (_, sandbox), (_, shop)] = ports;
    let admin = free_port();
    page = page.replace(
        "florin-proxy init --sandbox\n",
        &format!(
            "florin-proxy init --sandbox --public-url http://127.0.0.1:{proxy} --origin http://127.0.0.1:{shop} \
             --gateway-url http://127.0.0.1:{sandbox}/api\n"
        ),
    );
    page = page.replace(
        "\nflorin-sandbox --callback",
        &format!("\nflorin-sandbox --listen 127.0.0.1:{sandbox} --callback"),
    );
    page = page.replace(
        "\nflorin-proxy --config",
        &format!("\nexport FLORIN_ADMIN_LISTEN=127.0.0.1:{admin}\nflorin-proxy --config"),
    );
    (page, ports.map(|(_, free)| free))
}

#[tokio::test]
async fn a_merchant_follows_the_quick_start_and_gets_a_paid_order() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = fs::read_to_string(root.join("docs/guide/quick-start.md")).unwrap();
    let receiver = fs::read_to_string(root.join("examples/receivers/node/receiver.mjs")).unwrap();
    assert!(
        page.contains(&receiver),
        "the page's receiver is the example's"
    );
    built("florin-sandbox", "florin-sandbox");
    let (page, [proxy, sandbox, shop]) = with_free_ports(&page);
    let folder = Folder::new();
    let mut running = Vec::new();
    let mut steps = steps(&page);
    // The last command pays, once the page shows an address.
    let Some(Step::Run(pay)) = steps.pop_back() else {
        panic!("the last step is no command");
    };
    for step in steps {
        match step {
            Step::Write { file, text } => fs::write(folder.file(&file), text).unwrap(),
            Step::Run(commands) if commands.starts_with("florin-proxy init") => {
                let done = shell(&commands, folder.path()).output().unwrap();
                assert!(done.status.success(), "{done:?}");
                // The tag that is printed is the page's.
                let printed = String::from_utf8(done.stdout).unwrap();
                let is_tag =
                    |line: &&str| line.starts_with("<script") || line.starts_with("<florin");
                let tag: Vec<_> = printed.lines().map(str::trim).filter(is_tag).collect();
                let is_shown = tag.iter().all(|line| page.contains(line));
                assert!(tag.len() == 2 && is_shown, "{printed}");
                let sandbox = page
                    .lines()
                    .find(|line| line.starts_with("florin-sandbox "));
                assert!(printed.contains(sandbox.unwrap()), "{printed}");
            }
            Step::Run(commands) => {
                let offline = commands.replace(INSTALL, "");
                if offline != commands {
                    install_node_library(&folder.file("node_modules"));
                }
                running.push(start(&offline, folder.path()));
            }
        }
    }
    for port in [proxy, sandbox, shop] {
        listens(port, folder.path()).await;
    }
    let browser = Browser::open().await;
    browser.goto(&format!("http://127.0.0.1:{shop}/")).await;
    browser.enter_checkout().await;
    browser.press("asset-LTC").await;
    browser.wait_for("status-awaiting_payment").await;
    let paid = shell(&pay, folder.path()).output().unwrap();
    let response = String::from_utf8_lossy(&paid.stdout).into_owned();
    assert!(response.contains("\"COMPLETED\""), "{response}");
    browser.wait_for("status-paid").await;
    eventually("the receiver prints the order", async || {
        let printed = fs::read_to_string(folder.file("output")).unwrap();
        let is_paid = |line: &str| line.starts_with("ord_") && line.ends_with(" is paid");
        printed.lines().any(is_paid).then_some(())
    })
    .await;
    browser.end().await;
}

/// Answers each question of the demo's wallet with yes, and keeps it.
const AGREES: &str = "
    window.questions = [];
    window.confirm = (question) => (window.questions.push(question), true);";

#[tokio::test]
async fn one_press_and_a_confirmation_in_the_wallet_pay_usdt_in_the_demo() {
    let demo = Demo::start().await;
    let browser = Browser::open().await;
    browser.run_before_every_page(AGREES).await;
    browser.goto(&demo.wallet_page()).await;
    browser.press("asset-USDTERC20").await;
    browser.press("network-confirm").await;
    browser.press("wallet-Demo Wallet").await;
    let count = "return window.questions.length";
    browser
        .wait_for_result("the wallet has asked to connect and to send", count, 2)
        .await;
    browser.wait_for("status-processing").await;
    demo.mine(5).await;
    browser.wait_for("status-paid").await;
    assert_eq!(browser.evaluate(count).await, 2);
    let asked = browser.evaluate("return window.questions[1]").await;
    let asked = asked.as_str().unwrap();
    assert!(asked.contains(" units of the token\n"), "{asked}");
    browser.end().await;
}

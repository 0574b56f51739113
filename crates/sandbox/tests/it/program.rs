//! The program `florin-sandbox`: start, shutdown, and its log file, which the auditor reads: one JSON object per line, whole,
//! in the order of events.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use florin_sandbox::Settings;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::time::timeout;

use crate::world::World;

fn program(listen: &str) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_florin-sandbox"));
    program.args(["--listen", listen, "--api-secret", "from the command line"]);
    program.stdout(Stdio::piped()).stderr(Stdio::piped());
    program
}

/// A program that is ready, and what it printed until then.
fn ready(mut program: Command) -> (Child, Vec<String>) {
    let mut child = program.spawn().unwrap();
    let mut lines = Vec::new();
    let out = BufReader::new(child.stdout.take().unwrap());
    for line in out.lines() {
        lines.push(line.unwrap());
        if lines.last().unwrap().contains("secret") {
            break;
        }
    }
    (child, lines)
}

#[test]
fn a_port_in_use_is_one_sentence_and_a_failure() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = program(&address).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let expected = format!(
        "florin-sandbox: {address} is in use: stop the program that listens there, \
         or choose another address with --listen\n"
    );
    assert_eq!(String::from_utf8(output.stderr).unwrap(), expected);
}

#[test]
fn the_program_prints_its_addresses_and_credentials_and_ends_by_a_signal() {
    for signal in ["-INT", "-TERM"] {
        let (mut child, lines) = ready(program("127.0.0.1:0"));
        let id = child.id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status();
        assert!(sent.unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(0), "{signal}");
        let printed = lines.join("\n");
        for part in [
            "/sandbox\n",
            "/api\n",
            "apikey    florin_sandbox_key",
            "secret    from the command line",
        ] {
            assert!(printed.contains(part), "{printed}");
        }
        assert!(!printed.contains(":0/"), "{printed}");
    }
}

#[tokio::test]
async fn a_half_sent_request_does_not_delay_the_shutdown() {
    let world = World::start().await;
    let host = world.address.strip_prefix("http://").unwrap();
    let mut stuck = tokio::net::TcpStream::connect(host).await.unwrap();
    stuck
        .write_all(b"POST /sandbox/mine HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{")
        .await
        .unwrap();
    world.merchant().prices().await;
    world.shutdown.cancel();
    let ended = timeout(Duration::from_secs(5), world.server).await;
    ended.expect("it ends in time").unwrap().unwrap();
}

#[tokio::test]
async fn a_state_file_keeps_invoices_over_a_restart() {
    let file = LogFile::new("state");
    let settings = || Settings {
        state_file: Some(file.0.clone()),
        ..Settings::default()
    };
    let world = World::start_with(settings()).await;
    let (paid, open) = (world.open().await, world.open().await);
    world.pay_and_mine(&paid, "exact").await;
    world.control("time", r#"{"jump_seconds": 60}"#).await;
    let before = world.merchant().record(&paid).await;
    world.shutdown.cancel();
    world.server.await.unwrap().unwrap();
    let world = World::start_with(settings()).await;
    assert_eq!(world.merchant().record(&paid).await, before);
    assert_eq!(world.status(&open).await, "CHECKING");
    world.pay_and_mine(&open, "half").await;
    assert_eq!(world.status(&open).await, "COMPLETED");
    let next = world.open().await;
    assert!(![paid, open].contains(&next), "an id is given once");
    fs::write(&file.0, "{}").unwrap();
    let refused = World::start_with(settings()).await.server.await.unwrap();
    let refused = format!("{:#}", refused.unwrap_err());
    assert!(
        refused.contains("was not written by this version"),
        "{refused}"
    );
}

/// A file of one test, removed at the end.
struct LogFile(PathBuf);

impl LogFile {
    fn new(name: &str) -> Self {
        let name = format!("florin-sandbox-{}-{name}.jsonl", std::process::id());
        let file = Self(std::env::temp_dir().join(name));
        let _ = fs::remove_file(&file.0);
        file
    }

    fn settings(&self) -> Settings {
        Settings {
            log_file: Some(self.0.clone()),
            ..Settings::default()
        }
    }

    fn lines(&self) -> Vec<Value> {
        let text = fs::read_to_string(&self.0).unwrap();
        assert!(text.ends_with('\n'));
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        lines.collect()
    }

    fn of_kind(&self, kind: &str) -> Vec<Value> {
        let mut lines = self.lines();
        lines.retain(|line| line["kind"] == kind);
        lines
    }
}

impl Drop for LogFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[tokio::test]
async fn every_request_is_a_line_with_its_effect_behind_the_earlier_ones() {
    let file = LogFile::new("requests");
    fs::write(&file.0, "{\"kind\":\"started\"}\n").unwrap();
    let world = World::start_with(file.settings()).await;
    let invoice = world.merchant().invoice().await;
    let id = invoice["invoice_id"].as_str().unwrap();
    let record = world.merchant().record(id).await;
    assert_eq!(file.of_kind("started").len(), 2);
    let requests = file.of_kind("request");
    let did: Vec<&Value> = requests.iter().map(|line| &line["did"]).collect();
    assert_eq!(did, ["issued_prices", "created_invoice", "read_invoice"]);
    assert_eq!(requests[0]["response"], json!(null));
    assert_eq!(requests[1]["response"], invoice);
    assert_eq!(requests[1]["asked"]["crypto_code"], "USDTTRC20");
    assert_eq!(requests[2]["asked"], json!(null));
    assert_eq!(requests[2]["response"], json!({"data": record}));
    assert_eq!(requests[2]["path"], format!("/invoice?id={id}"));
    assert_eq!(requests[2]["at"], "2023-11-14T22:13:20Z");
    assert_eq!(requests[2]["nonce"], "1700000000");
}

#[tokio::test]
async fn a_rejected_and_a_dropped_request_are_lines_too() {
    let file = LogFile::new("refused");
    let world = World::start_with(file.settings()).await;
    let call = world.merchant().get("/invoice?id=inv_0");
    call.rejected(404, "INVALID_INVOICE_ID").await;
    let busy = r#"{"endpoint":"prices","kind":"status","status":429,"retry_after":7}"#;
    world.control("faults", busy).await;
    let busy = world.merchant().get("/prices").request().send().await;
    assert_eq!(busy.unwrap().status(), 429);
    let fault = r#"{"endpoint":"prices","kind":"drop"}"#;
    world.control("faults", fault).await;
    let dropped = world.merchant().get("/prices").request().send().await;
    assert!(dropped.unwrap_err().is_request());
    let requests = file.of_kind("request");
    let (rejected, busy, dropped) = (&requests[0], &requests[1], &requests[2]);
    assert_eq!(
        (&busy["status"], &busy["retry_after"]),
        (&json!(429), &json!(7))
    );
    assert_eq!(rejected["retry_after"], json!(null));
    assert_eq!(
        (&rejected["status"], &rejected["code"], &rejected["did"]),
        (&json!(404), &json!("INVALID_INVOICE_ID"), &json!(null))
    );
    assert_eq!(
        (&dropped["status"], &dropped["fault"], &dropped["did"]),
        (
            &json!(null),
            &json!({"kind": "drop"}),
            &json!("issued_prices")
        )
    );
}

#[tokio::test]
async fn events_of_the_chain_are_in_order() {
    let file = LogFile::new("chain");
    let world = World::start_with(file.settings()).await;
    let invoice = world.merchant().invoice().await;
    let id = invoice["invoice_id"].as_str().unwrap();
    let paid = world.pay(id, "exact").await;
    world.mine(1).await;
    world.mine(2).await;
    let mut lines = file.lines();
    lines.retain(|line| line["kind"] != "request");
    for line in &mut lines {
        let line = line.as_object_mut().unwrap();
        line.remove("at").unwrap();
        line.remove("number").unwrap();
    }
    let expected = [
        json!({"kind": "started", "seed": 7}),
        json!({
            "kind": "payment", "invoice_id": id, "crypto_code": "USDTTRC20", "amount": "20.00",
            "transaction_hash": paid["transaction_hash"],
        }),
        json!({"kind": "block", "chain": "all", "blocks": 1}),
        json!({"kind": "status", "invoice_id": id, "from": "CHECKING", "to": "PROCESSING"}),
        json!({"kind": "block", "chain": "all", "blocks": 2}),
        json!({"kind": "status", "invoice_id": id, "from": "PROCESSING", "to": "COMPLETED"}),
    ];
    assert_eq!(lines, expected);
}

#[tokio::test]
async fn a_log_that_cannot_be_written_ends_the_start() {
    let world = World::start_with(Settings {
        log_file: Some("/nowhere/at/all".into()),
        ..Settings::default()
    })
    .await;
    let error = world.server.await.unwrap().unwrap_err().to_string();
    assert_eq!(error, "cannot write the log to /nowhere/at/all");
}

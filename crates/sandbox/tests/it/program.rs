//! The program `florin-sandbox`: start and shutdown.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

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
fn the_program_prints_its_addresses_and_its_credentials() {
    let (mut child, lines) = ready(program("127.0.0.1:0"));
    child.kill().unwrap();
    child.wait().unwrap();
    let printed = lines.join("\n");
    assert!(
        printed.contains("/sandbox\n") && printed.contains("/api\n"),
        "{printed}"
    );
    assert!(!printed.contains(":0/"), "{printed}");
    assert!(
        printed.contains("apikey    florin_sandbox_key"),
        "{printed}"
    );
    assert!(
        printed.contains("secret    from the command line"),
        "{printed}"
    );
}

#[test]
fn a_signal_shuts_the_program_down() {
    for signal in ["-INT", "-TERM"] {
        let (mut child, _) = ready(program("127.0.0.1:0"));
        let sent = Command::new("kill")
            .args([signal, &child.id().to_string()])
            .status();
        assert!(sent.unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(0), "{signal}");
    }
}

#[tokio::test]
async fn the_server_ends_when_it_is_cancelled() {
    let world = World::start().await;
    world.merchant().prices().await;
    world.shutdown.cancel();
    let ended = timeout(Duration::from_secs(5), world.server).await;
    ended.expect("it ends in time").unwrap().unwrap();
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

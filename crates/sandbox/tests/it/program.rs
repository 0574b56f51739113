//! The program `florin-sandbox`: start, shutdown, and the file that keeps its state.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::Duration;

use florin_sandbox::Settings;
use tokio::io::AsyncWriteExt as _;
use tokio::time::timeout;

use crate::world::World;

fn program(listen: &str) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_florin-sandbox"));
    program.args(["--listen", listen, "--api-secret", "from the command line"]);
    program
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
        let mut child = program("127.0.0.1:0")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut printed = BufReader::new(child.stdout.take().unwrap());
        let mut text = String::new();
        while !text.contains("secret    from the command line") {
            assert_ne!(printed.read_line(&mut text).unwrap(), 0, "{text}");
        }
        assert!(
            text.contains("/sandbox\n") && text.contains("/api\n"),
            "{text}"
        );
        assert!(text.contains("apikey    florin_sandbox_key"), "{text}");
        let id = child.id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status();
        assert!(sent.unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(0), "{signal}");
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
async fn a_state_file_keeps_invoices_over_a_restart_and_a_bad_file_ends_the_start() {
    let name = format!("florin-sandbox-{}.db", std::process::id());
    let file = std::env::temp_dir().join(name);
    let _ = fs::remove_file(&file);
    let settings = || Settings {
        state_file: Some(file.clone()),
        ..Settings::default()
    };
    let world = World::start_with(settings()).await;
    let (paid, open) = (world.open().await, world.open().await);
    world.pay(&paid, "exact").await;
    world.mine(3).await;
    world.control("time", r#"{"jump_seconds": 60}"#).await;
    let before = world.merchant().record(&paid).await;
    world.shutdown.cancel();
    world.server.await.unwrap().unwrap();
    let world = World::start_with(settings()).await;
    assert_eq!(world.merchant().record(&paid).await, before);
    assert_eq!(world.status(&open).await, "CHECKING");
    world.pay(&open, "half").await;
    world.mine(3).await;
    assert_eq!(world.status(&open).await, "COMPLETED");
    let next = world.open().await;
    assert!(![paid, open].contains(&next), "an id is given once");
    for end in ["-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{end}", file.display()));
    }
    fs::write(&file, "no database at all").unwrap();
    let refused = World::start_with(settings()).await.server.await.unwrap();
    let refused = format!("{:#}", refused.unwrap_err());
    assert!(
        refused.contains("cannot be used as the sandbox's database"),
        "{refused}"
    );
    for end in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{end}", file.display()));
    }
    let settings = Settings {
        log_file: Some("/nowhere/at/all".into()),
        ..Settings::default()
    };
    let ended = World::start_with(settings).await.server.await.unwrap();
    let error = ended.unwrap_err().to_string();
    assert_eq!(error, "cannot write the log to /nowhere/at/all");
}

//! Many connections that send no request: customers and the health pages are served.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::Duration;

use futures_util::stream::{self, StreamExt as _};
use support::{Program, World};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::program::end;

const OPEN_FILES: u32 = 1_024;
const SILENT: usize = 5_000;

/// Returns a program that runs `florin-proxy` with a limit of open files.
fn limited_program(world: &World) -> PathBuf {
    let program = support::built("florin-proxy", "florin-proxy");
    let script = format!(
        "#!/bin/sh\nulimit -Sn 256\nulimit -Hn {OPEN_FILES}\nexec '{}' \"$@\"\n",
        program.display()
    );
    let path = world.file("florin-proxy-limited");
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
    path
}

/// Opens connections as fast as the proxy accepts them. Every second one sends the beginning of a request.
async fn open_silent(public: SocketAddr) -> Vec<TcpStream> {
    let connect = |number: usize| async move {
        let stream = TcpStream::connect(public);
        let stream = tokio::time::timeout(Duration::from_secs(5), stream).await;
        let mut stream = stream.ok()?.ok()?;
        if number.is_multiple_of(2) {
            let _ = stream
                .write_all(b"GET /v1/checkout HTTP/1.1\r\nhost:")
                .await;
        }
        Some(stream)
    };
    let opened = stream::iter(0..SILENT).map(connect).buffer_unordered(500);
    opened.filter_map(async |stream| stream).collect().await
}

#[tokio::test]
async fn silent_connections_stop_no_customer_and_no_health_page_and_are_logged_once() {
    let files = florin_proxy::open_files::raise_limit().unwrap();
    assert!(
        files > 6_000,
        "this test needs 6,000 open files, and may have {files}: raise `ulimit -Hn`"
    );
    let mut world = World::start().await;
    let public = world.listen_address();
    world.stop_proxy().await;
    let (config, log) = (world.config_file(), world.file("proxy.log"));
    let program = Program::start_at(&limited_program(&world), &config, &log);
    world.wait_for_proxy().await;
    // Source: proc(5), `/proc/pid/limits`.
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", program.id())).unwrap();
    let mut limits = limits.lines();
    let files = limits.find(|line| line.starts_with("Max open files"));
    assert!(
        !files.unwrap().contains(" 256 "),
        "the soft limit is raised"
    );
    let before = world.customer().open("ebook").await;
    let mut watching = before.stream().await;
    watching.chunk().await.unwrap().unwrap();

    let silent = open_silent(public).await;
    assert!(silent.len() > 4_000, "{} connections", silent.len());
    for _ in 0..5 {
        let checkout = world.customer().open("ebook").await;
        let quote = tokio::time::timeout(Duration::from_secs(3), checkout.quotes());
        quote.await.expect("a customer is served in time");
        for page in ["live", "ready"] {
            let path = format!("/health/{page}");
            let health = tokio::time::timeout(Duration::from_secs(2), world.get_admin(&path));
            health.await.expect("a probe is answered in time").with(200);
        }
    }
    before.choose("BTC").await;
    watching
        .chunk()
        .await
        .unwrap()
        .expect("an open stream stays open");
    drop(silent);
    // A reverse proxy that is not configured is logged once, too.
    let customer = world.customer();
    let forwarded = customer.with_header("x-forwarded-for", "198.51.100.7");
    for _ in 0..3 {
        forwarded.open("ebook").await;
    }
    let printed = program.printed();
    for (text, count) in [
        ("too many connections", 1),
        ("is not in trusted_proxies", 1),
        ("Too many open files", 0),
    ] {
        assert_eq!(printed.matches(text).count(), count, "{text}: {printed}");
    }
    end(world, program).await;
}

//! The developer's page, and the server's end.

use std::time::Duration;

use tokio::time::timeout;

use crate::world::World;

#[tokio::test]
async fn the_page_runs_under_a_policy_that_allows_nothing_inline() {
    let world = World::start().await;
    let response = world.http.get(&world.address).send().await.unwrap();
    assert_eq!(response.url().path(), "/sandbox");
    let policy = response.headers()["content-security-policy"]
        .to_str()
        .unwrap();
    assert!(
        policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"),
        "{policy}"
    );
    assert!(!policy.contains("unsafe"), "{policy}");
    let html = response.text().await.unwrap();
    for inline in ["<script>", "<style", " style=", " onclick="] {
        assert!(!html.contains(inline), "{inline}");
    }
}

async fn file(world: &World, path: &str) -> String {
    let file = world.http.get(format!("{}{path}", world.address));
    let response = file.send().await.unwrap();
    assert_eq!(response.status(), 200, "{path}");
    if path != "/sandbox/api" {
        let policy = &response.headers()["content-security-policy"];
        assert!(policy.to_str().unwrap().starts_with("default-src 'none'"));
    }
    response.text().await.unwrap()
}

#[tokio::test]
async fn every_file_that_the_page_names_is_served() {
    let world = World::start().await;
    let html = file(&world, "/sandbox").await;
    let named = html.split('"').filter(|text| text.starts_with("/sandbox/"));
    let mut wanted: Vec<String> = named.map(ToOwned::to_owned).collect();
    let mut served = 0;
    while let Some(path) = wanted.get(served).cloned() {
        let text = file(&world, &path).await;
        let imports = text.split("\"./").skip(1);
        for import in imports.filter_map(|rest| rest.split('"').next()) {
            let path = format!("/sandbox/{import}");
            if !wanted.contains(&path) {
                wanted.push(path);
            }
        }
        served += 1;
    }
    for module in [
        "world",
        "invoices",
        "scenarios",
        "log",
        "call",
        "faults",
        "share",
    ] {
        let path = format!("/sandbox/{module}.js");
        assert!(wanted.contains(&path), "{wanted:?}");
    }
}

#[tokio::test]
async fn the_server_ends_when_it_is_told_to() {
    let world = World::start().await;
    world.merchant().prices().await;
    world.shutdown.cancel();
    let ended = timeout(Duration::from_secs(5), world.server).await;
    ended.expect("it ends in time").unwrap().unwrap();
}

#[tokio::test]
async fn a_half_sent_request_does_not_hold_up_the_end() {
    use tokio::io::AsyncWriteExt as _;
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

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

#[tokio::test]
async fn every_file_that_the_page_names_is_served() {
    let world = World::start().await;
    let page = world
        .http
        .get(format!("{}/sandbox", world.address))
        .send()
        .await
        .unwrap();
    let html = page.text().await.unwrap();
    let named: Vec<&str> = html
        .split('"')
        .filter(|text| text.starts_with("/sandbox/"))
        .collect();
    assert!(named.len() >= 4, "{named:?}");
    for path in named {
        let response = world
            .http
            .get(format!("{}{path}", world.address))
            .send()
            .await
            .unwrap();
        assert_eq!(response.status(), 200, "{path}");
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

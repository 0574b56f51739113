//! Payment pages of other makers, as the bench measures them. The peers here are made up: those of the bench come from npm,
//! which no test waits for.

use std::fs;

use axum::http::HeaderMap;
use support::first_view::look_at_peer;
use support::{Folder, PRODUCTS, Peer};

/// A peer whose page runs this module, and shows a choice when the answer to `/order` has arrived.
async fn peer_with(module: &str) -> (Folder, Peer) {
    let folder = Folder::new();
    let writes = |name: &str, content: &[u8]| fs::write(folder.file(name), content).unwrap();
    fs::create_dir(folder.file("assets")).unwrap();
    let shows = "const { name } = await (await fetch('/order', { method: 'POST' })).json();
        document.body.innerHTML = `<button>${name}</button>`;";
    let mut compressed = Vec::new();
    let module = format!("{module}\n{shows}");
    brotli::BrotliCompress(
        &mut module.as_bytes(),
        &mut compressed,
        &brotli::enc::BrotliEncoderParams::default(),
    )
    .unwrap();
    writes("assets/main-1.js.br", &compressed);
    let page = "<!doctype html><html lang=\"en\"><title>Peer</title>
        <script type=\"module\" src=\"/assets/main-1.js\"></script><body>";
    writes("page.html", page.as_bytes());
    writes(
        "choice.js",
        b"() => document.querySelector('button')?.offsetHeight > 0",
    );
    writes("answers.json", b"{ \"/order\": { \"name\": \"Cards\" } }");
    let peer = Peer::open(folder.path()).await;
    (folder, peer)
}

#[tokio::test]
async fn a_peer_waits_for_the_slow_line_until_its_choice_is_on_the_screen() {
    let (_folder, peer) = peer_with("").await;
    let choice = look_at_peer(&peer).await;
    // Its page, its module, its order: one after the other.
    assert!((450..4000).contains(&choice), "{choice} ms");
}

#[tokio::test]
async fn a_peers_files_are_compressed_and_kept_as_ours_are() {
    let (_folder, peer) = peer_with("").await;
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let asset = client.get(format!("{}assets/main-1.js", peer.url()));
    let asset = asset.send().await.unwrap();
    let header = |headers: &HeaderMap, name: &str| headers[name].to_str().unwrap().to_owned();
    assert_eq!(header(asset.headers(), "content-encoding"), "br");
    assert_eq!(
        header(asset.headers(), "cache-control"),
        "public, max-age=31536000, immutable"
    );
}

#[tokio::test]
#[should_panic(expected = "the peer asks other hosts: [\"http://127.0.0.1:9/rates\"] []")]
async fn a_peer_that_asks_another_host_is_refused() {
    let fetches = "fetch('http://127.0.0.1:9/rates').catch(() => {});";
    let (_folder, peer) = peer_with(fetches).await;
    look_at_peer(&peer).await;
}

#[tokio::test]
#[should_panic(expected = "the peer asks other hosts: [] [\"name http://world.invalid\"]")]
async fn a_peer_that_looks_up_another_name_is_refused() {
    let looks_up = "document.head.insertAdjacentHTML('beforeend', '<link rel=\"dns-prefetch\" href=\"//world.invalid\">');";
    let (_folder, peer) = peer_with(looks_up).await;
    look_at_peer(&peer).await;
}

#[tokio::test]
#[should_panic(expected = "the peer asks in vain for [\"/rates\"]")]
async fn a_peer_that_gets_no_answer_is_refused() {
    let (_folder, peer) = peer_with("await fetch('/rates');").await;
    look_at_peer(&peer).await;
}

#[test]
fn a_peer_must_take_longer_than_the_checkout_by_what_is_promised() {
    let [bitcoin_connect, adyen] = PRODUCTS;
    assert_eq!(bitcoin_connect.ratio(2220, 1500), (148, true));
    assert_eq!(bitcoin_connect.ratio(2219, 1500), (147, false));
    assert_eq!(adyen.ratio(1860, 1500), (124, true));
    assert_eq!(adyen.ratio(1859, 1500), (123, false));
}

#[test]
fn a_peers_version_is_the_one_that_is_pinned() {
    for product in PRODUCTS {
        let version = product.version();
        let is_exact = |c: char| c.is_ascii_digit() || c == '.';
        assert!(version.chars().all(is_exact), "{version}");
    }
}

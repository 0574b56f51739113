//! Payment pages of other vendors, as the bench measures them. The peers here are local: the bench's come from npm,
//! which no test needs.

use std::fs;

use axum::http::HeaderMap;
use support::first_view::measure_peer;
use support::{Folder, PRODUCTS, Peer};

/// A peer whose page runs this module and shows a choice when the response of `/order` has arrived.
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
    writes("responses.json", b"{ \"/order\": { \"name\": \"Cards\" } }");
    let peer = Peer::open(folder.path()).await;
    (folder, peer)
}

#[tokio::test]
async fn a_peer_is_measured_on_the_slow_line_until_its_choice_is_shown() {
    let (_folder, peer) = peer_with("").await;
    let choice = measure_peer(&peer).await;
    // Its page, its module and its order are loaded one after the other.
    assert!((450..4000).contains(&choice), "{choice} ms");
}

#[tokio::test]
async fn a_peers_files_are_compressed_and_cached_as_ours() {
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
async fn a_peer_that_sends_a_request_to_another_host_is_rejected() {
    let fetches = "fetch('http://127.0.0.1:9/rates').catch(() => {});";
    let (_folder, peer) = peer_with(fetches).await;
    measure_peer(&peer).await;
}

#[tokio::test]
#[should_panic(expected = "the peer asks other hosts: [] [\"name http://world.invalid\"]")]
async fn a_peer_that_looks_up_another_name_is_rejected() {
    let looks_up = "document.head.insertAdjacentHTML('beforeend', '<link rel=\"dns-prefetch\" href=\"//world.invalid\">');";
    let (_folder, peer) = peer_with(looks_up).await;
    measure_peer(&peer).await;
}

#[tokio::test]
#[should_panic(expected = "the peer asks in vain for [\"/rates\"]")]
async fn a_peer_with_an_unanswered_request_is_rejected() {
    let (_folder, peer) = peer_with("await fetch('/rates');").await;
    measure_peer(&peer).await;
}

#[test]
fn a_peer_must_be_slower_by_the_promised_ratio() {
    let [bitcoin_connect, adyen] = PRODUCTS;
    assert_eq!(bitcoin_connect.ratio(2220, 1500), (148, true));
    assert_eq!(bitcoin_connect.ratio(2219, 1500), (147, false));
    assert_eq!(adyen.ratio(1860, 1500), (124, true));
    assert_eq!(adyen.ratio(1859, 1500), (123, false));
}

#[test]
fn a_peers_version_is_the_pinned_one() {
    for product in PRODUCTS {
        let version = product.version();
        let is_exact = |c: char| c.is_ascii_digit() || c == '.';
        assert!(version.chars().all(is_exact), "{version}");
    }
}

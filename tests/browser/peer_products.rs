//! Payment pages of other vendors, as the bench measures them. The peers here are local: the bench's come from npm,
//! which no test needs.

use std::fs;

use support::first_view::measure_peer;
use support::{Folder, Peer};

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
#[should_panic(expected = "the peer asks other hosts: [\"http://127.0.0.1:9/rates\"] []")]
async fn a_peer_that_sends_a_request_to_another_host_is_rejected() {
    let fetches = "fetch('http://127.0.0.1:9/rates').catch(() => {});";
    let (_folder, peer) = peer_with(fetches).await;
    measure_peer(&peer).await;
}

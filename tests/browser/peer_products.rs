//! Payment pages of other vendors, which the bench measures. The peer here is local: the bench's come from npm, which no test
//! needs.

use std::fs;

use support::first_view::measure_peer;
use support::{Folder, Peer};

#[tokio::test]
#[should_panic(expected = "the peer asks other hosts: [\"http://127.0.0.1:9/rates\"] []")]
async fn a_peer_that_sends_a_request_to_another_host_is_rejected() {
    let folder = Folder::new();
    let writes = |name: &str, content: &str| fs::write(folder.file(name), content).unwrap();
    fs::create_dir(folder.file("assets")).unwrap();
    let page = "<!doctype html><html lang=\"en\"><title>Peer</title><body><script type=\"module\">
        fetch('http://127.0.0.1:9/rates').catch(() => {});
        const { name } = await (await fetch('/order', { method: 'POST' })).json();
        document.body.innerHTML = `<button>${name}</button>`;</script>";
    writes("page.html", page);
    let choice = "() => document.querySelector('button')?.offsetHeight > 0";
    writes("choice.js", choice);
    writes("responses.json", "{ \"/order\": { \"name\": \"Cards\" } }");
    let peer = Peer::open(folder.path()).await;
    measure_peer(&peer).await;
}

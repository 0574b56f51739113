//! The files of the widget: the loader and the page know their proxy, files of other versions stay available, and the script that
//! asks a wallet of the browser sends the checked payment or nothing.

use florin_money::Asset;
use florin_storage::{Database, StaticFile};
use serde_json::Value;
use support::{World, wallet_guards};

use crate::repository::text_of;

async fn loader_of_the_page(world: &World) -> String {
    let page = world.get("/pay").await.with(200).text;
    let (_, path) = page.split_once("<script src=\"assets/").unwrap();
    format!("/assets/{}", path.split_once('"').unwrap().0)
}

#[tokio::test]
async fn the_loader_has_the_address_of_its_proxy_and_the_page_a_loader_by_its_content() {
    for environment in ["test", "production"] {
        let world = World::with(|config| config.environment = environment).await;
        let loader = world.get("/florin.js").await.with(200);
        let address = format!("{}/", world.proxy_url());
        assert!(loader.text.contains(&address), "{environment}");
        assert!(!loader.text.contains("%PUBLIC_URL%"), "{environment}");
        let url = format!("{}/florin.js", world.proxy_url());
        let request = world.http().get(url).header("accept-encoding", "br");
        let compressed = request.send().await.unwrap();
        assert_eq!(compressed.headers()["content-encoding"], "br");
        assert!(compressed.bytes().await.unwrap().len() < 3_100);
        let own = world.get(&loader_of_the_page(&world).await).await.with(200);
        let cache = own.header("cache-control").unwrap();
        assert!(cache.contains("immutable"), "{cache}");
        world.end().await;
    }
}

/// A page that was loaded before asks for its files afterwards. `contract/database.rs` of the storage has both databases.
#[tokio::test]
async fn files_of_another_version_are_served_after_an_upgrade_and_a_roll_back() {
    let mut world = World::start().await;
    let own = loader_of_the_page(&world).await;
    let own = own.rsplit_once('/').unwrap().1;
    world.stop_proxy().await;
    let database = Database::open(&world.database_url(), "test").await.unwrap();
    let storage = database.storage();
    let kept = storage.static_file(own).await.unwrap();
    assert!(kept.is_some_and(|file| !file.whole.is_empty()), "{own}");
    let other = StaticFile {
        name: "florin-0123456789abcdef.js".to_owned(),
        whole: b"export const version = 0;".to_vec(),
        brotli: None,
    };
    let now = world.clock.now();
    storage
        .keep_static_files(std::slice::from_ref(&other), now)
        .await
        .unwrap();
    database.close().await;
    world.start_proxy().await;
    let response = world.get(&format!("/assets/{}", other.name)).await;
    let response = response.with(200);
    assert_eq!(response.text.as_bytes(), other.whole);
    let script = "text/javascript; charset=utf-8";
    assert_eq!(response.header("content-type"), Some(script));
    let cache = response.header("cache-control").unwrap();
    assert!(cache.contains("immutable"), "{cache}");
    for unknown in ["florin-0000000000000000.js", "..%2Fpay.html", "%00"] {
        let response = world.get(&format!("/assets/{unknown}")).await;
        assert_eq!(response.status, 404, "{unknown}");
    }
    world.end().await;
}

/// Assets for which no wallet of a phone has a link.
const WITHOUT_LINK: [&str; 1] = ["BCH"];

#[test]
fn the_script_asks_for_the_checked_payment_alone_and_names_each_refusal() {
    assert_eq!(wallet_guards("guards.js"), "");
}

#[test]
fn the_script_for_wallets_of_tron_lets_them_sign_the_checked_payment_alone() {
    assert_eq!(wallet_guards("tron_guards.js"), "");
}

#[test]
fn every_asset_has_a_link_to_a_wallet_or_is_known_to_have_none() {
    let links = text_of("widget/js/wallets/universal_links.json");
    let links: Value = serde_json::from_str(&links).unwrap();
    let links = links["universal_links"].as_array().unwrap();
    for asset in Asset::ALL {
        let code = asset.crypto_code();
        let has_link = links
            .iter()
            .any(|wallet| wallet["assets"].get(code.as_str()).is_some());
        let is_known = WITHOUT_LINK.contains(&code.as_str());
        assert_eq!(has_link, !is_known, "{}", code.as_str());
    }
}

/// A wallet that does not know the chain of a payment link is given the chain's data.
#[test]
fn every_chain_of_a_payment_link_can_be_added_to_a_wallet() {
    let networks = text_of("crates/address/src/payment_uri/networks.rs");
    let chains = text_of("widget/js/wallets/chains.js");
    let texts = networks.split('"').skip(1).step_by(2);
    let ids: Vec<u64> = texts.filter_map(|text| text.parse().ok()).collect();
    assert!(ids.contains(&1), "{ids:?}");
    for id in ids {
        assert!(chains.contains(&format!("'{id:#x}':")), "{id}");
    }
}

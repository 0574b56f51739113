//! The files of the widget: the loader and the page know their proxy, and files of other versions stay available.

use florin_storage::{Database, StaticFile};
use support::{HttpResponse, World, WorldConfig};

async fn get(world: &World, path: &str) -> HttpResponse {
    let request = world.http().get(format!("{}{path}", world.proxy_url()));
    let request = request.header("accept-encoding", "identity");
    HttpResponse::read(request.send().await.unwrap()).await
}

/// The path of the loader that the checkout's page names.
async fn loader_of_the_page(world: &World) -> String {
    let page = get(world, "/pay").await.with(200).text;
    let (_, path) = page.split_once("<script src=\"assets/").unwrap();
    format!("/assets/{}", path.split_once('"').unwrap().0)
}

#[tokio::test]
async fn the_loader_has_the_address_of_its_proxy_and_the_page_a_loader_by_its_content() {
    for environment in ["test", "production"] {
        let world = World::start_with(WorldConfig {
            environment,
            ..WorldConfig::default()
        })
        .await;
        let loader = get(&world, "/florin.js").await.with(200);
        let address = format!("{}/", world.proxy_url());
        assert!(loader.text.contains(&address), "{environment}");
        assert!(!loader.text.contains("%PUBLIC_URL%"), "{environment}");
        let url = format!("{}/florin.js", world.proxy_url());
        let request = world.http().get(url).header("accept-encoding", "br");
        let compressed = request.send().await.unwrap();
        assert_eq!(compressed.headers()["content-encoding"], "br");
        assert!(compressed.bytes().await.unwrap().len() < 3_100);
        let own = get(&world, &loader_of_the_page(&world).await)
            .await
            .with(200);
        let cache = own.header("cache-control").unwrap();
        assert!(cache.contains("immutable"), "{cache}");
        world.end().await;
    }
}

/// A page that was loaded before asks for its files afterwards. `contract/static_files.rs` of the storage has both databases.
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
    let response = get(&world, &format!("/assets/{}", other.name)).await;
    let response = response.with(200);
    assert_eq!(response.text.as_bytes(), other.whole);
    let script = "text/javascript; charset=utf-8";
    assert_eq!(response.header("content-type"), Some(script));
    let cache = response.header("cache-control").unwrap();
    assert!(cache.contains("immutable"), "{cache}");
    for unknown in ["florin-0000000000000000.js", "..%2Fpay.html", "%00"] {
        let response = get(&world, &format!("/assets/{unknown}")).await;
        assert_eq!(response.status, 404, "{unknown}");
    }
    world.end().await;
}

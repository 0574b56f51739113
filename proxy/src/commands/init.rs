//! `florin-proxy init`: writes a configuration for the sandbox or for production.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::{ArgGroup, Args, ValueEnum};
use florin_proxy::config::{Given, Problem, parse, template};
use serde_json::json;
use url::{Host, Url};

use crate::commands::secrets::{Kind, draw_password};

/// What is written.
#[derive(Args)]
#[command(group(ArgGroup::new("environment").required(true).args(["sandbox", "production"])))]
pub(crate) struct Init {
    /// For this machine, with the sandbox as the gateway and without an account
    #[arg(long)]
    sandbox: bool,
    /// For a server, with the gateway's account
    #[arg(long)]
    production: bool,
    /// The store's id: small letters, digits and hyphens
    #[arg(long, value_name = "ID", default_value = "demo")]
    store: String,
    /// The store's name, which customers read
    #[arg(long, value_name = "TEXT", default_value = "My shop")]
    name: String,
    /// The origin of the shop's pages, like `https://shop.example`; the sandbox's default is `http://127.0.0.1:3000`
    #[arg(long, value_name = "URL")]
    origin: Option<String>,
    /// Where browsers reach the proxy, like `https://pay.shop.example`; the sandbox's default is `http://127.0.0.1:8080`
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// Where events are delivered; by default /florin at the origin
    #[arg(long, value_name = "URL")]
    webhook_url: Option<String>,
    /// The gateway's base address; the sandbox's default is `http://127.0.0.1:8090/api`
    #[arg(long, value_name = "URL")]
    gateway_url: Option<String>,
    /// A folder for the secrets, one file each, as the systemd unit reads them; without it they are in the configuration
    #[arg(long, value_name = "DIR")]
    secrets: Option<PathBuf>,
    /// The language of the webhook receiver that is printed
    #[arg(long, value_enum, default_value_t = Language::Node)]
    language: Language,
}

/// A language of `examples/receivers`.
#[derive(Clone, Copy, ValueEnum)]
enum Language {
    Node,
    Python,
    Php,
    Go,
    Rust,
}

impl Language {
    fn receiver(self) -> (&'static str, &'static str) {
        macro_rules! example {
            ($folder:literal, $file:literal) => {
                (
                    $file,
                    include_str!(concat!("../../../examples/receivers/", $folder, "/", $file)),
                )
            };
        }
        match self {
            Self::Node => example!("node", "receiver.mjs"),
            Self::Python => example!("python", "receiver.py"),
            Self::Php => example!("php", "receiver.php"),
            Self::Go => example!("go", "receiver.go"),
            Self::Rust => example!("rust", "receiver.rs"),
        }
    }
}

const SKU: &str = "mug";
/// The name of the first operator, and where the operator's page is by default.
const OPERATOR: &str = "owner";
const OPERATORS_PAGE: &str = "http://127.0.0.1:9090/";

/// With `--secrets`: of a secret's key the key of its file, and the file's name in deploy/systemd/florin-proxy.service.
fn secret_file(key: &str) -> Option<(&'static str, &'static str)> {
    Some(match key {
        "gateway.api_key" => ("gateway.api_key_file", "api_key"),
        "gateway.api_secret" => ("gateway.api_secret_file", "api_secret"),
        "gateway.callback_token" => ("gateway.callback_token_file", "callback_token"),
        "store.secret_key" => ("store.secret_key_file", "store_secret_key"),
        "store.webhook.secret" => ("store.webhook.secret_file", "store_webhook_secret"),
        "store.token_keys.secret" => ("store.token_keys.secret_file", "store_token_key"),
        "operator.password_hash" => ("operator.password_hash_file", "operator_password_hash"),
        _ => return None,
    })
}

/// Where the sandbox listens by default.
const DEFAULT_SANDBOX: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8090);

/// What `api_key`, `api_secret` and `gateway.url` are until their owner writes them. No check accepts it.
const PLACEHOLDER: &str = "…";

pub(crate) fn run(init: &Init, file: Option<&Path>, json: bool) -> anyhow::Result<()> {
    let file = file.unwrap_or(Path::new("florin.toml"));
    let addresses = init.addresses()?;
    let password = draw_password();
    let hash = florin_proxy::hash_password(&password.as_str().into());
    let mut values = init.values(&addresses, file)?;
    values.extend([
        ("operator.name", OPERATOR.to_owned()),
        (
            "operator.password_hash",
            hash.context("the password's hash")?,
        ),
        ("operator.role", "write".to_owned()),
    ]);
    let mut missing = unfinished(&template("", &values), file)?;
    require_new(file)?;
    let secrets = match &init.secrets {
        Some(folder) => write_secrets(folder, &mut values, &mut missing)?,
        None => BTreeMap::new(),
    };
    let mode = if secrets.is_empty() { 0o600 } else { 0o644 };
    write_new(file, &template(&init.title(), &values), mode)?;
    let (script, element) = init.tag(&addresses);
    let token = match secrets.get("gateway.callback_token") {
        Some(file) => format!("$(cat {})", file.display()),
        None => format!(
            r#"$(sed -n 's/^callback_token = "\(.*\)"$/\1/p' {})"#,
            file.display()
        ),
    };
    let commands = init.commands(&addresses, &token, file, missing.is_empty());
    if json {
        let missing = missing.iter().map(|problem| problem.key.as_str());
        let printed = json!({
            "file": file,
            "secret_files": secrets,
            "tag": [script, element],
            "receiver": init.language.receiver().1,
            "operator": { "page": OPERATORS_PAGE, "name": OPERATOR, "password": password },
            "missing": missing.collect::<Vec<_>>(),
            "commands": commands,
        });
        println!("{printed}");
        return Ok(());
    }
    match &init.secrets {
        None => println!(
            "{} is written. It holds random secrets: only you can read it.",
            file.display()
        ),
        Some(folder) => println!(
            "{} is written, and its secrets in {}: only you can read them.",
            file.display(),
            folder.display()
        ),
    }
    if !missing.is_empty() {
        println!("\nWrite what the proxy cannot know into it:\n");
        for Problem { key, message } in &missing {
            println!("  {key}: {message}");
        }
    }
    println!("\nOn your page:\n\n  {script}\n  {element}");
    let (name, receiver) = init.language.receiver();
    let place = match secrets.get("store.webhook.secret") {
        Some(file) => format!("in {}", file.display()),
        None => "`secret` of [[store.webhook]]".to_owned(),
    };
    println!("\nYour server's receiver of webhooks, {name}. WEBHOOK_SECRET is {place}:\n");
    for line in receiver.lines() {
        println!("  {line}");
    }
    println!(
        "\nThe operator's page, {OPERATORS_PAGE}, takes the name {OPERATOR} and the password {password}. Keep it: only its hash \
         is written."
    );
    println!("\nNext:\n");
    for command in commands {
        println!("  {command}");
    }
    Ok(())
}

struct Addresses {
    origin: String,
    public_url: String,
    webhook_url: String,
    gateway_url: String,
}

impl Init {
    fn title(&self) -> String {
        let place = if self.sandbox {
            "on this machine: the sandbox is the gateway, and no money moves"
        } else {
            "in production"
        };
        let secrets = match self.secrets {
            Some(_) => "Each secret is in a separate file.",
            None => {
                "This file holds secrets: keep it private (chmod 600) and out of version control."
            }
        };
        format!(
            "Florin's proxy {place}. A line that begins with # and a key has its default. {secrets}"
        )
    }

    fn addresses(&self) -> anyhow::Result<Addresses> {
        let or = |given: &Option<String>, sandbox: &str, flag: &str| match given {
            Some(given) => Ok(given.trim_end_matches('/').to_owned()),
            None if self.sandbox => Ok(sandbox.to_owned()),
            None => bail!("--production needs {flag}"),
        };
        let public_url = or(
            &self.public_url,
            "http://127.0.0.1:8080",
            "--public-url, where browsers reach the proxy: https://pay.shop.example",
        )?;
        let origin = or(
            &self.origin,
            "http://127.0.0.1:3000",
            "--origin, where the shop's pages are: https://shop.example",
        )?;
        let webhook_url = self.webhook_url.clone();
        let gateway_url = self.gateway_url.clone().unwrap_or_else(|| {
            let sandbox = "http://127.0.0.1:8090/api";
            if self.sandbox { sandbox } else { PLACEHOLDER }.to_owned()
        });
        Ok(Addresses {
            webhook_url: webhook_url.unwrap_or_else(|| format!("{origin}/florin")),
            origin,
            public_url,
            gateway_url,
        })
    }

    fn values(&self, addresses: &Addresses, file: &Path) -> anyhow::Result<Vec<Given>> {
        let mut values = Vec::new();
        let mut set = |key: &'static str, value: &str| values.push((key, value.to_owned()));
        // The sandbox's key and secret are public: no money moves.
        let (environment, key, secret) = if self.sandbox {
            ("test", "florin_sandbox_key", "florin_sandbox_secret")
        } else {
            ("production", PLACEHOLDER, PLACEHOLDER)
        };
        set("environment", environment);
        set("public_url", &addresses.public_url);
        if self.sandbox {
            set("database_url", &database_url(file)?);
        } else {
            set("listen", "127.0.0.1:8080");
            set("database_url", "sqlite:///var/lib/florin/florin.db");
        }
        set("gateway.url", &addresses.gateway_url);
        set("gateway.api_key", key);
        set("gateway.api_secret", secret);
        set("gateway.callback_token", &Kind::CallbackToken.draw());
        let base = addresses.gateway_url.strip_suffix("/api");
        if let Some(base) = base.filter(|_| self.sandbox) {
            set("gateway.checkout_url", &format!("{base}/checkout"));
        }
        set("store.id", &self.store);
        set("store.name", &self.name);
        set("store.origins", &addresses.origin);
        set("store.currency", "USD");
        set("store.secret_key", &Kind::SecretKey.draw());
        set("store.webhook.url", &addresses.webhook_url);
        set("store.webhook.secret", &Kind::WebhookSecret.draw());
        if self.sandbox {
            set("store.webhook.dangerous_allow_private_targets", "true");
        }
        set("store.token_keys.kid", "k1");
        set("store.token_keys.secret", &Kind::TokenKey.draw());
        set("store.product.sku", SKU);
        set("store.product.title", "A mug");
        set("store.product.price", "12.00");
        set("store.product.max_quantity", "5");
        Ok(values)
    }

    fn tag(&self, addresses: &Addresses) -> (String, String) {
        let (proxy, store) = (&addresses.public_url, &self.store);
        let script = format!(r#"<script src="{proxy}/florin.js" async></script>"#);
        // Neither an address nor an id has a character that an attribute escapes, but for the ampersand.
        let page = format!("{proxy}/pay?store={store}&amp;product={SKU}");
        let element = format!(
            r#"<florin-checkout store="{store}" product="{SKU}"><iframe src="{page}" title="Checkout" allow="clipboard-write"></iframe></florin-checkout>"#
        );
        (script, element)
    }

    fn commands(
        &self,
        addresses: &Addresses,
        token: &str,
        file: &Path,
        is_complete: bool,
    ) -> Vec<String> {
        let mut commands = Vec::new();
        if let Some(listen) = self.sandbox_address(addresses) {
            let listen = if listen == DEFAULT_SANDBOX {
                String::new()
            } else {
                format!(" --listen {listen}")
            };
            commands.push(format!(
                r#"florin-sandbox{listen} --callback-url "{}/callbacks/{token}""#,
                addresses.public_url
            ));
        }
        if !is_complete || self.production {
            commands.push(format!(
                "florin-proxy check-config --config {}",
                file.display()
            ));
        }
        commands.push(format!("florin-proxy --config {}", file.display()));
        if self.sandbox {
            // Beside the API, whose path ends in /api.
            let base = addresses.gateway_url.trim_end_matches("/api");
            commands.push(format!(
                r#"curl -d '{{"name": "paid"}}' {base}/sandbox/scenario   # pays the newest open checkout"#
            ));
        }
        commands
    }
}

impl Init {
    /// Where the sandbox listens; `None` if it is on another machine.
    fn sandbox_address(&self, addresses: &Addresses) -> Option<SocketAddr> {
        let url = Url::parse(&addresses.gateway_url).ok();
        let url = url.filter(|_| self.sandbox)?;
        let ip = match url.host()? {
            Host::Ipv4(ip) => IpAddr::from(ip),
            Host::Ipv6(ip) => IpAddr::from(ip),
            Host::Domain("localhost") => DEFAULT_SANDBOX.ip(),
            Host::Domain(_) => return None,
        };
        let listen = SocketAddr::new(ip, url.port_or_known_default()?);
        ip.is_loopback().then_some(listen)
    }
}

/// Writes each secret to a file of the folder, and puts the files into the place of the secrets. Returns them by key.
fn write_secrets(
    folder: &Path,
    values: &mut [Given],
    missing: &mut [Problem],
) -> anyhow::Result<BTreeMap<&'static str, PathBuf>> {
    let made = fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder);
    let made = made.and_then(|()| folder.canonicalize());
    let folder = made.with_context(|| format!("the folder {} cannot be made", folder.display()))?;
    let secrets = values.iter().filter_map(|(key, _)| secret_file(key));
    for (_, name) in secrets {
        require_new(&folder.join(name))?;
    }
    let mut files = BTreeMap::new();
    for (key, value) in values {
        let Some((file_key, name)) = secret_file(key) else {
            continue;
        };
        let file = folder.join(name);
        write_new(&file, &format!("{value}\n"), 0o600)?;
        for problem in missing.iter_mut().filter(|problem| problem.key == *key) {
            let message = format!("{} (the file {})", problem.message, file.display());
            problem.message = message;
        }
        files.insert(*key, file.clone());
        (*key, *value) = (file_key, file.display().to_string());
    }
    Ok(files)
}

/// The address of the database beside the configuration. Its library reads `%`, `?` and `#` as parts of an address.
fn database_url(file: &Path) -> anyhow::Result<String> {
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let whole = folder
        .canonicalize()
        .with_context(|| format!("the folder {} does not exist: create it", folder.display()))?;
    let path = whole.join("florin.db").display().to_string();
    let path = path.replace('%', "%25").replace('?', "%3f");
    Ok(format!("sqlite://{}", path.replace('#', "%23")))
}

/// What the owner must still write or prepare. Any other problem is one of the arguments.
fn unfinished(text: &str, file: &Path) -> anyhow::Result<Vec<Problem>> {
    let Err(problems) = parse(text) else {
        return Ok(Vec::new());
    };
    let is_open = |problem: &Problem| {
        let placeholder = text
            .lines()
            .any(|line| line.ends_with(&format!("= \"{PLACEHOLDER}\"")));
        (problem.key.starts_with("gateway.") && placeholder) || problem.key == "database_url"
    };
    let (open, wrong): (Vec<_>, Vec<_>) = problems.0.into_iter().partition(is_open);
    if wrong.is_empty() {
        return Ok(open);
    }
    let wrong: Vec<String> = wrong
        .iter()
        .map(|Problem { key, message }| format!("{key}: {message}"))
        .collect();
    bail!("{} was not written: {}", file.display(), wrong.join("; "));
}

fn require_new(file: &Path) -> anyhow::Result<()> {
    if file.exists() {
        bail!(
            "{} exists, and its secrets would be lost: move it away, or name another file with --config or --secrets",
            file.display()
        );
    }
    Ok(())
}

/// Writes a file that only its owner may change, and replaces none.
fn write_new(file: &Path, text: &str, mode: u32) -> anyhow::Result<()> {
    let mut opened = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(file)
        .with_context(|| format!("{} cannot be written", file.display()))?;
    opened
        .write_all(text.as_bytes())
        .and_then(|()| opened.sync_all())
        .with_context(|| format!("{} cannot be written", file.display()))
}

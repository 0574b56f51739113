use std::collections::BTreeMap;

use florin_checkout_api::Environment;
use secrecy::ExposeSecret as _;

use super::*;

mod stores;
mod variables;

/// A configuration with a store, a product and a donation.
pub(crate) const EXAMPLE: &str = r#"
[gateway]
url = "http://127.0.0.1:8090/api"
api_key = "key"
api_secret = "secret"
callback_token = "0123456789abcdef0123456789abcdef"

[[store]]
id = "demo"
name = "Demo shop"
origins = ["http://127.0.0.1:8081"]
secret_key = "sk_0123456789abcdef0123456789abcdef"
token_keys = [{ kid = "k1", secret = "tk_0123456789abcdef0123456789abcdef" }]
[store.webhook]
url = "https://shop.example/florin"
secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
[[store.product]]
sku = "ebook"
title = "An e-book"
price = "19.90"
max_quantity = 5
[[store.donation]]
id = "coffee"
title = "A coffee"
min = "2"
max = "500"
suggested = ["3", "5.50"]
"#;

fn loaded(text: &str, variables: &[(&str, &str)]) -> Result<Config, Problems> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let variables = variables
        .iter()
        .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
    load(Some(file.path()), &variables.collect::<BTreeMap<_, _>>())
}

fn keys(text: &str) -> Vec<String> {
    loaded(text, &[])
        .unwrap_err()
        .0
        .into_iter()
        .map(|problem| problem.key)
        .collect()
}

#[test]
fn a_complete_configuration_is_taken() {
    let config = loaded(EXAMPLE, &[]).unwrap();
    let store = &config.stores[0];
    assert_eq!(
        store.product("ebook").unwrap().price.to_string(),
        "19.90 USD"
    );
    assert!(store.lists_origin("http://127.0.0.1:8081"));
    assert!(!store.lists_origin("http://127.0.0.1:8081.evil.example"));
    assert_eq!(config.environment, Environment::Test);
}

#[test]
fn problems_of_files_and_sections_are_named_at_once() {
    let text = EXAMPLE
        .replacen(
            "[gateway]",
            "rate_limit.orders_per_minute_per_ip = 0\n[gateway]",
            1,
        )
        .replacen("name = \"Demo shop\"", "theme = { border = \"red\" }", 1)
        .replacen("max_quantity = 5", "max_quantity = 0", 1);
    let variables = [("FLORIN_GATEWAY__CALLBACK_TOKEN_FILE", "/nowhere")];
    let problems = loaded(&text, &variables).unwrap_err().to_string();
    let problems: Vec<&str> = problems.lines().collect();
    assert_eq!(
        problems,
        [
            "gateway.callback_token: the file /nowhere cannot be read: No such file or directory (os error 2)",
            "rate_limit.orders_per_minute_per_ip: write 1 to 10000 orders a minute",
            "store.demo.theme.border: \"red\" is no colour here: write it like \"#0b6e52\", or for both schemes like \"light-dark(#0b6e52, #4fd1a1)\"",
            "store.demo.product.ebook: max_quantity: write 1 to 10000",
        ]
    );
}

#[test]
fn every_unknown_missing_and_mistyped_key_is_named_at_once_without_its_value() {
    let text = EXAMPLE
        .replacen("api_key = \"key\"", "api_key = 918273645546372819", 1)
        .replacen("api_secret = \"secret\"", "api_secert = \"canary\"", 1)
        .replacen("sku = \"ebook\"\n", "", 1)
        .replacen("max_quantity = 5", "max_quantity = -5", 1)
        .replacen("id = \"coffee\"", "id = \"coffee\"\ncolour = 1.5", 1)
        .replacen("max = \"500\"", "max = 500", 1);
    let problems = loaded(&text, &[]).unwrap_err().to_string();
    let problems: Vec<&str> = problems.lines().collect();
    assert_eq!(
        problems,
        [
            "gateway.api_key: a value of another kind was expected: a string; write it in quotes (line 4)",
            "gateway.api_secert: is no key of Florin's (line 5)",
            "store.demo.donation.coffee.colour: is no key of Florin's (line 23)",
            "store.demo.donation.coffee.max: a value of another kind was expected: a string; write it in quotes (line 26)",
            "store.demo.product.0.max_quantity: is out of range (line 20)",
            "store.demo.product.0.sku: is required (line 17)",
        ]
    );
}

#[test]
fn a_title_has_120_characters_at_most() {
    for (title, key) in [
        ("An e-book", "store.demo.product.ebook"),
        ("A coffee", "store.demo.donation.coffee"),
    ] {
        let with_title = |characters| EXAMPLE.replace(title, &"ü".repeat(characters));
        assert!(loaded(&with_title(120), &[]).is_ok(), "{title}");
        assert_eq!(keys(&with_title(121)), [key]);
    }
}

#[test]
fn what_would_cost_money_or_secrets_is_refused() {
    for (from, to, key) in [
        ("\"19.90\"", "\"0\"", "store.demo.product.ebook"),
        ("\"19.90\"", "\"-5\"", "store.demo.product.ebook"),
        ("\"19.90\"", "\"19.905\"", "store.demo.product.ebook"),
        ("quantity = 5", "quantity = 0", "store.demo.product.ebook"),
        (
            "max_quantity = 5",
            "ask = [\"phone\"]",
            "store.demo.product.ebook",
        ),
        (
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "whsec_c2hvcnQ=",
            "store.demo.webhook",
        ),
        (
            "sk_0123456789abcdef0123456789abcdef",
            "sk_short",
            "store.demo.secret_key",
        ),
        (
            "0123456789abcdef0123456789abcdef\"\n\n",
            "short\"\n\n",
            "gateway.callback_token",
        ),
        (
            "http://127.0.0.1:8090/api",
            "http://pay.example/api",
            "gateway.url",
        ),
    ] {
        assert!(EXAMPLE.contains(from), "{from}");
        assert_eq!(keys(&EXAMPLE.replacen(from, to, 1)), [key], "{to}");
    }
    for origin in [
        "*",
        "http://shop.example",
        "https://shop.example/",
        "https://*",
        "https://*.myshopify.com",
        "https://a.example;script-src",
    ] {
        let text = EXAMPLE.replace("http://127.0.0.1:8081", origin);
        assert_eq!(keys(&text), ["store.demo.origins"], "{origin}");
    }
}

#[test]
fn what_the_server_could_not_run_with_is_found_by_the_check() {
    for (line, key) in [
        ("log = \"no such=filter=\"", "log"),
        ("admin_listen = \"127.0.0.1:8080\"", "admin_listen"),
        ("database_url = \"sqlite::memory:\"", "database_url"),
        ("database_url = \"mysql://localhost/x\"", "database_url"),
    ] {
        assert_eq!(keys(&format!("{line}\n{EXAMPLE}")), [key], "{line}");
    }
    assert_eq!(
        keys(&EXAMPLE.replacen("/api\"", "/api?v=1\"", 1)),
        ["gateway.url"]
    );
    let problems = loaded(EXAMPLE, &[("FLORIN_DATABASE_URI", "x")]).unwrap_err();
    assert_eq!(problems.0[0].key, "FLORIN_DATABASE_URI");
}

#[test]
fn production_delivers_to_public_addresses_alone() {
    let private = EXAMPLE.replace(
        "[[store.product]]",
        "dangerous_allow_private_targets = true\n[[store.product]]",
    );
    assert!(loaded(&private, &[]).is_ok());
    let production = [
        ("FLORIN_ENVIRONMENT", "production"),
        ("FLORIN_PUBLIC_URL", "https://pay.shop.example"),
    ];
    let problems = loaded(&private, &production).unwrap_err();
    assert_eq!(problems.0[0].key, "store.demo.webhook");
}

#[test]
fn no_secret_is_printed() {
    let config = loaded(EXAMPLE, &[]).unwrap();
    let printed = format!("{config:?}");
    for secret in ["\"secret\"", "0123456789abcdef", "MfKQ9r8", "sk_", "tk_"] {
        assert!(!printed.contains(secret), "{secret} in {printed}");
    }
}

#[test]
fn listen_and_public_url_follow_each_other() {
    // What is written, and what holds; a question mark for a warning.
    for row in [
        "                         -> 127.0.0.1:8080 http://127.0.0.1:8080",
        "listen = 0.0.0.0:9000    -> 0.0.0.0:9000 http://127.0.0.1:9000",
        "public_url = http://localhost:9000 -> 127.0.0.1:9000 http://localhost:9000",
        "public_url = http://[::1]:9000 -> [::1]:9000 http://[::1]:9000",
        "public_url = https://pay.example -> 127.0.0.1:8080 https://pay.example",
        "listen = 127.0.0.1:0     -> 127.0.0.1:0 http://127.0.0.1:8080",
        "listen = 0.0.0.0:9000, public_url = http://127.0.0.1:9000 -> 0.0.0.0:9000 http://127.0.0.1:9000",
        "listen = 127.0.0.1:8080, public_url = http://127.0.0.1:9000 -> 127.0.0.1:8080 http://127.0.0.1:9000 ?",
        "listen = 127.0.0.1:8080, public_url = https://localhost -> 127.0.0.1:8080 https://localhost",
    ] {
        let (written, expected) = row.split_once("->").unwrap();
        let keys = written
            .split(", ")
            .filter_map(|key| key.trim().split_once(" = "));
        let keys: Vec<String> = keys
            .map(|(key, value)| format!("{key} = {value:?}\n"))
            .collect();
        let config = loaded(&format!("{}{EXAMPLE}", keys.concat()), &[]).unwrap();
        let warning = if config.warnings.is_empty() { "" } else { " ?" };
        let found = format!("{} {}{warning}", config.listen, config.public_url.base());
        assert_eq!(found, expected.trim());
    }
}

#[test]
fn the_admin_address_is_known_without_the_rest() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let at = |text: &str, variable: Option<&str>| {
        std::fs::write(file.path(), text).unwrap();
        let variable = variable.map(|text| ("FLORIN_ADMIN_LISTEN".to_owned(), text.to_owned()));
        let address = admin_address(Some(file.path()), &variable.into_iter().collect());
        address.map(|address| address.to_string())
    };
    assert_eq!(at("log = 7", None).unwrap(), "127.0.0.1:9090");
    assert_eq!(at("admin_listen = \"[::]:1\"", None).unwrap(), "[::]:1");
    assert_eq!(
        at("admin_listen = \"x\"", Some("127.0.0.1:2")).unwrap(),
        "127.0.0.1:2"
    );
    assert!(at("admin_listen = \"x\"", None).is_err());
}

#[test]
fn a_direct_address_leads_past_the_pooler_of_a_server() {
    const POOLED: &str = "postgres://florin:pw@127.0.0.1:6432/florin";
    const DIRECT: &str = "postgres://florin:pw@127.0.0.1/florin";
    let pooled = ("FLORIN_DATABASE_URL", POOLED);
    let direct = ("FLORIN_DATABASE_URL_DIRECT", DIRECT);
    let config = loaded(EXAMPLE, &[pooled]).unwrap();
    assert_eq!(config.direct_url(), POOLED);
    let config = loaded(EXAMPLE, &[pooled, direct]).unwrap();
    assert_eq!(
        (&*config.database_url, config.direct_url()),
        (POOLED, DIRECT)
    );
    assert!(!format!("{config:?}").contains("florin:pw"));
    for variables in [
        // A file has no pooler.
        [direct, ("FLORIN_LOG", "info")],
        [pooled, ("FLORIN_DATABASE_URL_DIRECT", "sqlite://florin.db")],
        [
            pooled,
            ("FLORIN_DATABASE_URL_DIRECT", "postgres://127.0.0.1"),
        ],
    ] {
        let refused = loaded(EXAMPLE, &variables).unwrap_err().0;
        assert_eq!(refused.len(), 1, "{refused:?}");
        assert_eq!(refused[0].key, "database_url_direct");
    }
}

#[test]
fn the_connections_to_postgresql_have_limits_with_defaults() {
    let server = [(
        "FLORIN_DATABASE_URL",
        "postgres://florin:pw@127.0.0.1/florin",
    )];
    let config = loaded(EXAMPLE, &server).unwrap();
    assert_eq!(config.database, florin_storage::PostgresOptions::DEFAULT);
    let given = "[database]\nconnections = 40\nacquire_timeout_seconds = 1\nstatement_timeout_seconds = 20\n\
         lock_timeout_seconds = 4";
    let database = loaded(&format!("{EXAMPLE}\n{given}"), &server)
        .unwrap()
        .database;
    assert_eq!(database.connections, 40);
    let seconds = [
        database.acquire_timeout.as_secs(),
        database.statement_timeout.as_secs(),
        database.lock_timeout.as_secs(),
    ];
    assert_eq!(seconds, [1, 20, 4]);
    for (key, value) in [
        ("connections", "1"),
        ("connections", "501"),
        ("acquire_timeout_seconds", "0"),
        ("statement_timeout_seconds", "61"),
        ("lock_timeout_seconds", "6"),
    ] {
        let refused = format!("{EXAMPLE}\n[database]\n{key} = {value}");
        let refused = loaded(&refused, &server).unwrap_err().0;
        let refused: Vec<&str> = refused.iter().map(|problem| &*problem.key).collect();
        assert_eq!(refused, [format!("database.{key}")]);
    }
    let config = loaded(&format!("{EXAMPLE}\n{given}"), &[]).unwrap();
    let warned = config
        .warnings
        .iter()
        .find(|warning| warning.key == "database");
    assert!(warned.is_some_and(|warning| warning.message.contains("SQLite")));
}

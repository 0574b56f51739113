use std::collections::BTreeMap;

use florin_address::{DepositKey, Network};
use florin_checkout_api::Environment;
use florin_money::Asset;

use super::*;

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
[[store.webhook]]
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

/// The account of BIP-84's seed on the test network.
const ACCOUNT: &str = "vpub5Y6cjg78GGuNLsaPhmYsiw4gYX3HoQiRBiSwDaBXKUafCt9bNwWQiitDk5VZ5BVxYnQdwoTyXSs2JHRPAgjAvtbBrf8ZhDYe2jWAqvZVnsc";

const SERVER: &str = "postgres://florin:pw@127.0.0.1/florin";

pub(crate) fn loaded(text: &str, variables: &[(&str, &str)]) -> Result<Config, Problems> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let variables = variables
        .iter()
        .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
    load(Some(file.path()), &variables.collect::<BTreeMap<_, _>>())
}

fn keys(text: &str) -> Vec<String> {
    let problems = loaded(text, &[]).unwrap_err().0.into_iter();
    problems.map(|problem| problem.key).collect()
}

/// [`EXAMPLE`] with these lines before another one.
fn with(lines: &str, before: &str) -> String {
    assert!(EXAMPLE.contains(before), "{before}");
    EXAMPLE.replacen(before, &format!("{lines}\n{before}"), 1)
}

#[test]
fn a_complete_configuration_is_taken() {
    let config = loaded(EXAMPLE, &[]).unwrap();
    let store = &config.stores[0];
    let ebook = store.product("ebook").unwrap();
    assert_eq!(ebook.price.to_string(), "19.90 USD");
    let coffee = store.donation("coffee").unwrap();
    let bounds = [coffee.min, coffee.max, coffee.suggested[1]].map(|amount| amount.to_string());
    assert_eq!(bounds, ["2.00", "500.00", "5.50"]);
    assert!(store.lists_origin("http://127.0.0.1:8081"));
    assert!(!store.lists_origin("http://127.0.0.1:8081.evil.example"));
    assert_eq!(config.environment, Environment::Test);
    assert_eq!(config.gateway.checkout_url, None);
    assert_eq!(config.database, florin_storage::PostgresOptions::DEFAULT);
    let gateway = &config.gateway.client;
    assert_eq!(gateway.requests_per_second, 10);
    assert_eq!(gateway.nonces, florin_gateway_client::NonceRule::MayRepeat);
    assert!(!gateway.sign_put_body);
    let printed = format!("{config:?}");
    for secret in ["\"secret\"", "0123456789abcdef", "MfKQ9r8", "sk_", "tk_"] {
        assert!(!printed.contains(secret), "{secret} in {printed}");
    }
}

#[test]
fn what_is_set_holds() {
    let lines = "requests_per_second = 3\nnonces = \"must_increase\"\nsign_put_body = true\n\
                 checkout_url = \"https://checkout.example/pay\"";
    let gateway = loaded(&with(lines, "api_key"), &[]).unwrap().gateway;
    let page = gateway.checkout_url.as_ref().unwrap();
    assert_eq!(page.as_str(), "https://checkout.example/pay");
    let settings = gateway.client;
    assert_eq!(settings.requests_per_second, 3);
    assert_eq!(
        settings.nonces,
        florin_gateway_client::NonceRule::MustIncrease
    );
    assert!(settings.sign_put_body);
    let key = format!("[[gateway.deposit_key]]\ncrypto_code = \"BTC\"\nkey = \"{ACCOUNT}\"");
    let page = "checkout_url = \"https://checkout.example/pay\"";
    for (before, network) in [("", Network::Test), ("regtest = true", Network::Regtest)] {
        let text = with(&key, "[[store]]").replacen("api_key", &format!("{before}\napi_key"), 1);
        let config = loaded(&text, &[]).unwrap();
        assert_eq!(config.gateway.network, network);
        let key = &config.gateway.deposit_keys[&Asset::BTC.crypto_code()];
        let expected = DepositKey::parse(Asset::BTC, network, ACCOUNT).unwrap();
        assert_eq!(key.address(0), expected.address(0));
        assert!(config.warnings.is_empty() && !format!("{config:?}").contains("vpub"));
        let config = loaded(
            &text.replacen("api_key", &format!("{page}\napi_key"), 1),
            &[],
        )
        .unwrap();
        assert_eq!(config.warnings[0].key, "gateway.checkout_url");
    }
    let theme = "theme = { preset = \"paper\", accent = \"#8C2\", on_accent = \"#ffffff\", \
                 text = \"light-dark(#14201b, #edf1ee)\", radius = \"0px\", \
                 font = \"'Iowan Old Style', Georgia, serif\", density = \"0.8\" }\n\
                 merchant_id = \"m-1\"";
    let store = &loaded(&with(theme, "origins"), &[]).unwrap().stores[0];
    assert_eq!(store.theme, "paper");
    let tokens: Vec<&str> = store.theme_tokens.iter().map(|(name, _)| *name).collect();
    let expected = ["accent", "on-accent", "text", "radius", "font", "density"];
    assert_eq!(tokens, expected);
    assert_eq!(store.merchant_id.as_deref(), Some("m-1"));
    let operator = "[[operator]]\nname = \"ada\"\ntoken = \"0123456789abcdef-0123456789abcdef\"";
    for (line, role) in [("", Role::Read), ("\nrole = \"write\"", Role::Write)] {
        let config = loaded(&format!("{EXAMPLE}{operator}{line}"), &[]).unwrap();
        assert_eq!(config.operators[0].role, role);
    }
    let server = [("FLORIN_DATABASE_URL", SERVER)];
    let connections = with("database.connections = 40", "[gateway]");
    let config = loaded(&connections, &server).unwrap();
    assert_eq!(config.database.connections, 40);
    let unused = &loaded(&connections, &[]).unwrap().warnings[0];
    assert!(unused.key == "database" && unused.message.contains("SQLite"));
    let one = "\"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\"";
    for secrets in [format!("[{one}]"), format!("[{one}, {one}]")] {
        loaded(&EXAMPLE.replace(one, &secrets), &[]).unwrap();
    }
}

/// Keys, and below each the changes of [`EXAMPLE`] that make it wrong: a text, and each text in its place.
const MISTAKES: &str = r##"
environment
    [gateway] => environment = "staging"\n[gateway]
log
    [gateway] => log = "no such=filter="\n[gateway]
admin_listen
    [gateway] => admin_listen = "127.0.0.1:8080"\n[gateway]
trusted_proxies
    [gateway] => trusted_proxies = ["10.0.0"]\n[gateway] | trusted_proxies = ["10.0.0.0/33"]\n[gateway]
database_url
    [gateway] => database_url = "sqlite::memory:"\n[gateway] | database_url = "mysql://localhost/x"\n[gateway]
database.connections
    [gateway] => database.connections = 1\n[gateway] | database.connections = 501\n[gateway]
rate_limit.orders_per_minute_per_ip
    [gateway] => rate_limit.orders_per_minute_per_ip = 0\n[gateway]
rate_limit.streams_per_order
    [gateway] => rate_limit.streams_per_order = 10001\n[gateway]
tracing.sample_ratio
    [gateway] => tracing = { otlp_endpoint = "http://[::1]:4318", sample_ratio = "2" }\n[gateway]
    [gateway] => tracing = { sample_ratio = "1" }\n[gateway]
tracing.otlp_endpoint
    [gateway] => tracing.otlp_endpoint = "127.0.0.1:4318"\n[gateway] | tracing.otlp_endpoint = "http://a:4318/?a"\n[gateway]
gateway.url
    http://127.0.0.1:8090/api => http://pay.example/api | http://127.0.0.1:8090/api?v=1
gateway.api_key
    api_key = "key" => api_key = ["new", "old"] | api_key = "kéy"
gateway.api_secret
    api_secret = "secret" => api_secret = ["new", "old"]
gateway.callback_token
    callback_token = "0123456789abcdef0123456789abcdef" => callback_token = "short"
    callback_token = "0123456789abcdef0123456789abcdef" => callback_token = "0123456789abcdef/0123456789abcde"
gateway.callback_token.1
    "0123456789abcdef0123456789abcdef" => ["0123456789abcdef0123456789abcdef", "0123456789abcdef0123456789abcdef"]
gateway.checkout_url
    "secret"\n => "secret"\ncheckout_url = "http://checkout.example"\n | "secret"\ncheckout_url = "https://a.example/?id=1"\n
gateway.requests_per_second
    "secret"\n => "secret"\nrequests_per_second = 0\n | "secret"\nrequests_per_second = 1001\n
gateway.quote_ttl_seconds
    "secret"\n => "secret"\nquote_ttl_seconds = 9\n
gateway.poll_interval_seconds
    "secret"\n => "secret"\npoll_interval_seconds = 61\n
gateway.regtest
    [gateway] => environment = "production"\npublic_url = "https://pay.example"\n[gateway]\nregtest = true
gateway.deposit_key.BTC
    [[store]] => [[gateway.deposit_key]]\ncrypto_code = "BTC"\n[[store]]
    [[store]] => [[gateway.deposit_key]]\ncrypto_code = "BTC"\nkey = "xprv9xpXF"\n[[store]]
gateway.deposit_key.XMR
    [[store]] => [[gateway.deposit_key]]\ncrypto_code = "XMR"\nkey = "xpub6CatW"\n[[store]]
gateway.nonces
    "secret"\n => "secret"\nnonces = "often"\n
store.demo.origins
    http://127.0.0.1:8081 => * | http://shop.example | https://shop.example/ | https://* | https://*.myshopify.com
    http://127.0.0.1:8081 => https://a.example;script-src
store.demo.secret_key
    sk_0123456789abcdef0123456789abcdef => sk_short | aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
store.demo.staff_pages
    name = "Demo shop" => staff_pages = "all"
store.demo.time_zone
    name = "Demo shop" => time_zone = "Berlin" | time_zone = ""
store.demo.merchant_id
    name = "Demo shop" => merchant_id = "" | merchant_id = "m 1" | merchant_id = "é"
store.demo.logo_url
    name = "Demo shop" => logo_url = "http://shop.example/logo.svg" | logo_url = "logo.svg"
    name = "Demo shop" => logo_url = "https://a;script-src.example/"
store.demo.image_origins
    name = "Demo shop" => image_origins = ["https://cdn.example/"] | image_origins = ["*"]
store.demo.token_keys
    kid = "k1" => kid = "k 1"
    }] => }, { kid = "k2", secret = "uk_0123456789abcdef0123456789abcdef" }, { kid = "k3", secret = "vk_0123456789abcdef0123456789abcdef" }]
store.demo.token_keys.k1
    secret = "tk_0123456789abcdef0123456789abcdef" => secret = "sk_0123456789abcdef0123456789abcdef" | secret = "short"
    , secret = "tk_0123456789abcdef0123456789abcdef" =>
    }] => }, { kid = "k1", secret = "uk_0123456789abcdef0123456789abcdef" }]
store.demo.token_keys.k2
    }] => }, { kid = "k2", secret = "tk_0123456789abcdef0123456789abcdef" }]
store.other.token_keys.k1
    "5.50"] => "5.50"]\n[[store]]\nid = "other"\ntoken_keys = [{ kid = "k1", secret = "tk_0123456789abcdef0123456789abcdef" }]
store.demo.theme.preset
    name = "Demo shop" => theme = { preset = "solarized" }
store.demo.theme.accent
    name = "Demo shop" => theme = { accent = "red" } | theme = { accent = "#12345" } | theme = { accent = "light-dark(#fff, red)" }
store.demo.theme.background
    name = "Demo shop" => theme = { background = "url(https://elsewhere.example)" }
store.demo.theme.radius
    name = "Demo shop" => theme = { radius = "12" } | theme = { radius = "41px" } | theme = { radius = "-1px" }
store.demo.theme.font
    name = "Demo shop" => theme = { font = "a;b" } | theme = { font = "'a" } | theme = { font = "" }
store.demo.theme.density
    name = "Demo shop" => theme = { density = "0.7" } | theme = { density = "1.51" } | theme = { density = "compact" }
store.demo.webhook
    [[store.webhook]] => [store.webhook]
store.demo.webhook.default
    [[store.product]] => [[store.webhook]]\nurl = "https://shop.example/b"\nsecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"\n[[store.product]]
    shop.example/florin" => shop.example/florin"\nevents = ["order.payed"]
    "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" => "whsec_c2hvcnQ=" | "x" | [] | ["a", "b", "c"]
    "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" => ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_dG9vIHNob3J0"]
    https://shop.example/florin => https://127.0.0.1/ | https://127.1/ | https://0x7f.1/ | https://2130706433/
    https://shop.example/florin => https://0177.0.0.1/ | https://10.0.0.1/ | https://169.254.169.254/latest/meta-data/
    https://shop.example/florin => https://[::1]/ | https://[::ffff:10.0.0.1]/ | https://[fd00::1]/ | https://localhost/
    https://shop.example/florin => https://user@shop.example/ | https://user:word@shop.example/ | http://shop.example/
    https://shop.example/florin => ftp://shop.example/
store.demo.product.ebook
    "19.90" => "0" | "-5" | "19.905"
    An e-book =>
    max_quantity = 5 => ask = ["phone"] | image_url = "https://cdn.example/a.png"
store.demo.product.ebook.max_quantity
    max_quantity = 5 => max_quantity = 0 | max_quantity = 10001 | max_quantity = 4294967296
store.demo.donation.coffee
    min = "2" => min = "0" | min = "501" | min = "2.001" | min = "-2"
    min = "2"\n =>
    max = "500"\n =>
    "5.50" => "501" | "1.99"
    A coffee =>
    "5.50"] => "5.50"]\n[[store.donation]]\nid = "coffee"\nmin = "1"\nmax = "2"
operator.ada
    "5.50"] => "5.50"]\n[[operator]]\nname = "ada"
operator.ada.password_hash
    "5.50"] => "5.50"]\n[[operator]]\nname = "ada"\npassword_hash = "hunter2"
operator.ada.token
    "5.50"] => "5.50"]\n[[operator]]\nname = "ada"\ntoken = "short"
operator.ada.role
    "5.50"] => "5.50"]\n[[operator]]\nname = "ada"\ntoken = "0123456789abcdef-0123456789abcdef"\nrole = "root"
"##;

#[test]
fn each_mistake_is_refused_by_its_key_alone() {
    let mut key = "";
    let mut count = 0;
    for line in MISTAKES.lines().filter(|line| !line.is_empty()) {
        let change = line.strip_prefix("    ");
        let Some((from, changes)) = change.and_then(|it| it.split_once(" =>")) else {
            key = line;
            continue;
        };
        let from = from.replace("\\n", "\n");
        assert!(EXAMPLE.contains(&from), "{line}");
        for to in changes.split(" | ") {
            let to = to.trim_start().replace("\\n", "\n");
            assert_eq!(keys(&EXAMPLE.replacen(&from, &to, 1)), [key], "{line}");
            count += 1;
        }
    }
    assert!(count > 90, "the mistakes were not found: {count}");
}

#[test]
fn every_token_of_the_checkout_can_be_configured() {
    for token in florin_checkout_api::TOKENS {
        let key = token.replace('-', "_");
        let text = with(&format!("theme = {{ {key} = \"?\" }}"), "origins");
        assert_eq!(keys(&text), [format!("store.demo.theme.{key}")]);
        assert!(reference().contains(&format!("theme.{key}")), "{key}");
    }
}

#[test]
fn problems_of_files_and_sections_are_named_at_once() {
    let text = with("rate_limit.orders_per_minute_per_ip = 0", "[gateway]")
        .replacen("name = \"Demo shop\"", "theme = { border = \"red\" }", 1)
        .replacen("max_quantity = 5", "max_quantity = 0", 1);
    let variables = [("FLORIN_GATEWAY__CALLBACK_TOKEN_FILE", "/nowhere")];
    let problems = loaded(&text, &variables).unwrap_err().to_string();
    let problems: Vec<&str> = problems.lines().collect();
    assert_eq!(
        problems,
        [
            "rate_limit.orders_per_minute_per_ip: write 1 to 10000 (line 2)",
            "store.demo.product.ebook.max_quantity: write 1 to 10000 (line 22)",
            "gateway.callback_token: the file /nowhere cannot be read: No such file or directory (os error 2)",
            "store.demo.theme.border: \"red\" is no colour here: write it like \"#0b6e52\", or for both schemes like \"light-dark(#0b6e52, #4fd1a1)\"",
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
            "store.demo.product.0.max_quantity: write 1 to 10000 (line 20)",
            "store.demo.product.0.sku: is required (line 17)",
        ]
    );
}

#[test]
fn production_is_encrypted_and_public() {
    let production = [
        ("FLORIN_ENVIRONMENT", "production"),
        ("FLORIN_PUBLIC_URL", "https://pay.shop.example"),
    ];
    let private = "dangerous_allow_private_targets = true";
    let webhook = with(private, "[[store.product]]");
    let logo = with("logo_url = \"http://127.0.0.1:8081/a.svg\"", "origins");
    for (text, key) in [
        (webhook, "store.demo.webhook.default"),
        (logo, "store.demo.logo_url"),
    ] {
        assert!(loaded(&text, &[]).is_ok(), "{key}");
        let problems = loaded(&text, &production).unwrap_err().0;
        assert!(problems.iter().any(|it| it.key == key), "{problems:?}");
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
            .split(',')
            .filter_map(|key| key.trim().split_once(" = "));
        let keys = keys.map(|(key, value)| format!("{key} = {value:?}\n"));
        let text = keys.collect::<Vec<_>>().concat() + EXAMPLE;
        let config = loaded(&text, &[]).unwrap();
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
        address.ok().map(|address| address.to_string())
    };
    assert_eq!(at("log = 7", None).unwrap(), "127.0.0.1:9090");
    assert_eq!(at("admin_listen = \"[::]:1\"", None).unwrap(), "[::]:1");
    let variable = Some("127.0.0.1:2");
    assert_eq!(at("admin_listen = \"x\"", variable).unwrap(), "127.0.0.1:2");
    assert_eq!(at("admin_listen = \"x\"", None), None);
}

#[test]
fn a_direct_address_leads_past_the_pooler_of_a_server() {
    const POOLED: &str = "postgres://florin:pw@127.0.0.1:6432/florin";
    let pooled = ("FLORIN_DATABASE_URL", POOLED);
    let direct = ("FLORIN_DATABASE_URL_DIRECT", SERVER);
    assert_eq!(loaded(EXAMPLE, &[pooled]).unwrap().direct_url(), POOLED);
    let config = loaded(EXAMPLE, &[pooled, direct]).unwrap();
    let urls = (&*config.database_url, config.direct_url());
    assert_eq!(urls, (POOLED, SERVER));
    assert!(!format!("{config:?}").contains("florin:pw"));
    for variables in [
        // A file has no pooler.
        &[direct][..],
        &[pooled, (direct.0, "sqlite://florin.db")],
        &[pooled, (direct.0, "postgres://127.0.0.1")],
    ] {
        let refused = loaded(EXAMPLE, variables).unwrap_err().0;
        assert_eq!(refused.len(), 1, "{refused:?}");
        assert_eq!(refused[0].key, "database_url_direct");
    }
}

#[test]
fn the_account_at_the_gateway_is_a_single_stores_own_and_else_for_those_that_are_named() {
    let two = format!("{EXAMPLE}[[store]]\nid = \"second\"\n");
    for (text, expected) in [
        (EXAMPLE.to_owned(), &[true][..]),
        (with("gateway_access = false", "origins"), &[false]),
        (format!("{two}gateway_access = true"), &[false, true]),
        (two, &[false, false]),
    ] {
        let stores = loaded(&text, &[]).unwrap().stores;
        let access: Vec<bool> = stores.iter().map(|store| store.gateway_access).collect();
        assert_eq!(access, expected);
    }
}

#[test]
fn pictures_are_on_the_hosts_that_the_operator_names() {
    let lines = "image_origins = [\"https://cdn.example\", \"http://127.0.0.1:8081\"]\n\
                 logo_url = \"https://shop.example/logo.svg\"";
    let image = "image_url = \"https://cdn.example/ebook.jpg\"\nsku";
    let text = with(lines, "origins = ").replace("sku", image);
    let config = loaded(&text, &[]).unwrap();
    let store = &config.stores[0];
    let origins = store.picture_origins();
    let origins: Vec<&str> = origins.iter().map(Origin::as_str).collect();
    let named = ["https://cdn.example", "http://127.0.0.1:8081"];
    assert_eq!(origins, [named[0], named[1], "https://shop.example"]);
    let ebook = store.product("ebook").unwrap();
    let image = ebook.image_url.as_deref();
    assert_eq!(image, Some("https://cdn.example/ebook.jpg"));
    let on_loopback = store.check_image_url("http://127.0.0.1:8081/a.png");
    on_loopback.unwrap();
    for refused in [
        "https://cdn.example.evil.example/a.png",
        "https://cdn.example:8443/a.png",
        "http://cdn.example/a.png",
        "https://user@cdn.example/a.png",
        "https://cdn.example@evil.example/a.png",
        "data:image/png;base64,AAAA",
        "javascript:alert(1)",
        "//cdn.example/a.png",
        "https://cdn.example/a b.png",
        // The logo's host is named for the logo.
        "https://shop.example/a.png",
        &format!("https://cdn.example/{}", "a".repeat(2048)),
    ] {
        assert!(store.check_image_url(refused).is_err(), "{refused}");
    }
    let refused = store.check_image_url("https://evil.example/a.png");
    let refused = refused.unwrap_err();
    assert!(refused.contains("https://evil.example") && refused.contains("image_origins"));
}

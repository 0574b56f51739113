use std::collections::BTreeMap;

use florin_checkout_api::Environment;
use secrecy::ExposeSecret as _;

use super::*;

const COMPLETE: &str = r#"
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

/// Loads a file of this text.
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
    let config = loaded(COMPLETE, &[]).unwrap();
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
fn a_variable_wins_over_the_file() {
    let variables = [
        ("FLORIN_LISTEN", "127.0.0.1:9999"),
        ("FLORIN_GATEWAY__API_KEY", "other"),
    ];
    let config = loaded(COMPLETE, &variables).unwrap();
    assert_eq!(config.listen.port(), 9999);
    assert_eq!(config.gateway.api_key.expose_secret(), "other");
}

#[test]
fn every_key_can_be_a_variable() {
    let store = |key: &str| format!("FLORIN_STORE__0__{key}");
    let variables = [
        (
            "FLORIN_GATEWAY__URL".to_owned(),
            "http://127.0.0.1:8090/api",
        ),
        ("FLORIN_GATEWAY__API_KEY".to_owned(), "918273645"),
        ("FLORIN_GATEWAY__API_SECRET".to_owned(), "true"),
        (
            "FLORIN_GATEWAY__CALLBACK_TOKEN".to_owned(),
            "0123456789abcdef0123456789abcdef",
        ),
        ("FLORIN_GATEWAY__SIGN_PUT_BODY".to_owned(), "true"),
        (
            "FLORIN_RATE_LIMIT__ORDERS_PER_MINUTE_PER_IP".to_owned(),
            "7",
        ),
        ("FLORIN_TRUSTED_PROXIES".to_owned(), "10.0.0.0/8, 127.0.0.1"),
        (store("ID"), "demo"),
        (
            store("ORIGINS"),
            "[\"https://a.example\", \"https://b.example\"]",
        ),
        (store("ORIGINS__2"), "https://c.example"),
        (store("TOKEN_KEYS__0__KID"), "k1"),
        (
            store("TOKEN_KEYS__0__SECRET"),
            "tk_0123456789abcdef0123456789abcdef",
        ),
        (store("THEME__TEXT_MUTED"), "#555555"),
        (store("WEBHOOK__URL"), "https://shop.example/florin"),
        (
            store("WEBHOOK__SECRET"),
            "[\"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\"]",
        ),
        (store("PRODUCT__0__SKU"), "ebook"),
        (store("PRODUCT__0__PRICE"), "19.90"),
        ("FLORIN_STORE__1__ID".to_owned(), "other"),
    ];
    let variables: Vec<(&str, &str)> = variables.iter().map(|(k, v)| (k.as_str(), *v)).collect();
    let config = loaded("", &variables).unwrap();
    assert_eq!(config.gateway.api_key.expose_secret(), "918273645");
    assert!(config.gateway.sign_put_body);
    assert_eq!(config.rate_limit.orders_per_minute_per_ip, 7);
    assert_eq!(config.trusted_proxies.len(), 2);
    assert_eq!(config.stores.len(), 2);
    let store = &config.stores[0];
    assert!(store.lists_origin("https://b.example") && store.lists_origin("https://c.example"));
    assert_eq!(store.token_keys[0].kid.to_string(), "k1");
    assert_eq!(store.theme_tokens, [("text-muted", "#555555".to_owned())]);
    assert!(store.webhook.is_some() && store.product("ebook").is_some());
}

#[test]
fn elements_of_variables_are_added_in_their_order() {
    let names: Vec<String> = (0..11)
        .map(|n| format!("FLORIN_STORE__{}__ID", n + 1))
        .collect();
    let ids: Vec<String> = (0..11).map(|n| format!("s{n}")).collect();
    let variables: Vec<(&str, &str)> = names
        .iter()
        .zip(&ids)
        .map(|(name, id)| (name.as_str(), id.as_str()))
        .collect();
    let config = loaded(COMPLETE, &variables).unwrap();
    let found: Vec<String> = config
        .stores
        .iter()
        .map(|store| store.id.to_string())
        .collect();
    assert_eq!(found[0], "demo");
    assert_eq!(found[1..], ids);
}

#[test]
fn a_variable_without_a_place_or_of_another_kind_is_refused_without_its_value() {
    for (variable, complaint) in [
        ("FLORIN_STORE__2__ID", "there are 1 before it: write 1"),
        (
            "FLORIN_GATEWAY",
            "a value of another kind was expected: a table",
        ),
        (
            "FLORIN_GATEWAY__URL__0",
            "is no variable of Florin's: see florin-proxy config-reference",
        ),
        (
            "FLORIN_GATEWAY__API_SECERT",
            "is no variable of Florin's: see florin-proxy config-reference",
        ),
        (
            "FLORIN_gateway__url",
            "is no variable of Florin's: see florin-proxy config-reference",
        ),
        (
            "FLORIN_GATEWAY__REQUESTS_PER_SECOND",
            "a value of another kind was expected: a whole number",
        ),
        (
            "FLORIN_GATEWAY__SIGN_PUT_BODY",
            "a value of another kind was expected: true or false",
        ),
    ] {
        let problems = loaded(COMPLETE, &[(variable, "canary")]).unwrap_err();
        let found: Vec<(&str, &str)> = problems
            .0
            .iter()
            .map(|problem| (problem.key.as_str(), problem.message.as_str()))
            .collect();
        assert_eq!(found, [(variable, complaint)]);
    }
}

#[test]
fn old_names_are_refused_with_the_new_ones_beside_everything_else() {
    let text = COMPLETE
        .replacen(
            "[gateway]",
            "opens_per_minute = 0\n[service]\nwatch_seconds = 1\nquote_seconds = 30",
            1,
        )
        .replacen(
            "name = \"Demo shop\"",
            "service_access = true\ntheme = { ink = \"#000\", line = \"red\" }",
            1,
        )
        .replacen("max_quantity = 5", "max_quantity = 0", 1);
    let variables = [
        ("FLORIN_SERVICE_API_KEY", "a"),
        ("FLORIN_CALLBACK_TOKEN_FILE", "/nowhere"),
    ];
    let problems = loaded(&text, &variables).unwrap_err().to_string();
    let problems: Vec<&str> = problems.lines().collect();
    assert_eq!(
        problems,
        [
            "service.quote_seconds: is named gateway.quote_ttl_seconds now (line 5)",
            "service.watch_seconds: is named gateway.poll_interval_seconds now (line 4)",
            "service: is named gateway now (line 3)",
            "opens_per_minute: is named rate_limit.orders_per_minute_per_ip now (line 2)",
            "store.demo.service_access: is named store.demo.gateway_access now (line 13)",
            "store.demo.theme.ink: is named store.demo.theme.text now (line 14)",
            "store.demo.theme.line: is named store.demo.theme.border now (line 14)",
            "FLORIN_CALLBACK_TOKEN_FILE: is named FLORIN_GATEWAY__CALLBACK_TOKEN_FILE now",
            "FLORIN_SERVICE_API_KEY: is named FLORIN_GATEWAY__API_KEY now",
            "gateway.callback_token: the file /nowhere cannot be read: No such file or directory (os error 2)",
            "rate_limit.orders_per_minute_per_ip: write 1 to 10000 orders a minute",
            "store.demo.theme.border: \"red\" is no colour here: write it like \"#0b6e52\", or for both schemes like \"light-dark(#0b6e52, #4fd1a1)\"",
            "store.demo.product.ebook: max_quantity: write 1 to 10000",
        ]
    );
}

#[test]
fn every_unknown_missing_and_mistyped_key_is_named_at_once() {
    let text = COMPLETE
        .replacen("api_secret =", "api_secert =", 1)
        .replacen("sku = \"ebook\"\n", "", 1)
        .replacen("max_quantity = 5", "max_quantity = -5", 1)
        .replacen("id = \"coffee\"", "id = \"coffee\"\ncolour = 1.5", 1)
        .replacen("max = \"500\"", "max = 500", 1);
    let problems = loaded(&text, &[]).unwrap_err().to_string();
    let problems: Vec<&str> = problems.lines().collect();
    assert_eq!(
        problems,
        [
            "gateway.api_secert: is no key of Florin's (line 5)",
            "store.demo.donation.coffee.colour: is no key of Florin's (line 23)",
            "store.demo.donation.coffee.max: a value of another kind was expected: a string; write it in quotes (line 26)",
            "store.demo.product.0.max_quantity: is out of range (line 20)",
            "store.demo.product.0.sku: is required (line 17)",
        ]
    );
}

#[test]
fn a_variable_replaces_both_forms_of_a_secret_in_the_file() {
    let text = COMPLETE.replacen("api_secret = ", "api_secret_file = ", 1);
    let config = loaded(&text, &[("FLORIN_GATEWAY__API_SECRET", "a")]).unwrap();
    assert_eq!(config.gateway.api_secret.expose_secret(), "a");
    let problems = loaded(
        COMPLETE,
        &[("FLORIN_STORE__0__SECRET_KEY_FILE", "/nowhere")],
    );
    let problem = &problems.unwrap_err().0[0];
    assert_eq!(problem.key, "store.demo.secret_key");
    assert!(problem.message.contains("/nowhere"), "{}", problem.message);
}

#[test]
fn a_secret_given_twice_is_refused() {
    let variables = [
        ("FLORIN_GATEWAY__API_SECRET", "a"),
        ("FLORIN_GATEWAY__API_SECRET_FILE", "/b"),
    ];
    let problems = loaded(COMPLETE, &variables).unwrap_err();
    assert_eq!(problems.0[0].key, "gateway.api_secret");
}

#[test]
fn every_problem_is_reported_at_once() {
    let text = COMPLETE
        .replace("http://127.0.0.1:8090/api", "http://pay.example/api")
        .replace("0123456789abcdef0123456789abcdef\"\n\n", "short\"\n\n")
        .replace("\"http://127.0.0.1:8081\"", "\"*\"")
        .replace("\"19.90\"", "\"19.905\"");
    let expected = [
        "gateway.url",
        "gateway.callback_token",
        "store.demo.origins",
        "store.demo.product.ebook",
    ];
    assert_eq!(keys(&text), expected);
}

#[test]
fn a_title_has_120_characters_at_most() {
    for (title, key) in [
        ("An e-book", "store.demo.product.ebook"),
        ("A coffee", "store.demo.donation.coffee"),
    ] {
        let with_title = |characters| COMPLETE.replace(title, &"ü".repeat(characters));
        assert!(loaded(&with_title(120), &[]).is_ok(), "{title}");
        assert_eq!(keys(&with_title(121)), [key]);
    }
}

#[test]
fn what_would_cost_money_or_secrets_is_refused() {
    for (from, to, key) in [
        (
            "price = \"19.90\"",
            "price = \"0\"",
            "store.demo.product.ebook",
        ),
        (
            "price = \"19.90\"",
            "price = \"-5\"",
            "store.demo.product.ebook",
        ),
        (
            "max_quantity = 5",
            "max_quantity = 0",
            "store.demo.product.ebook",
        ),
        (
            "https://shop.example/florin",
            "http://shop.example/florin",
            "store.demo.webhook",
        ),
        (
            "https://shop.example/florin",
            "https://169.254.169.254/",
            "store.demo.webhook",
        ),
        (
            "https://shop.example/florin",
            "http://127.0.0.1/florin",
            "store.demo.webhook",
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
            "http://127.0.0.1:8081",
            "http://shop.example",
            "store.demo.origins",
        ),
        (
            "http://127.0.0.1:8081",
            "https://shop.example/",
            "store.demo.origins",
        ),
    ] {
        assert!(COMPLETE.contains(from), "{from}");
        assert_eq!(keys(&COMPLETE.replace(from, to)), [key], "{to}");
    }
}

#[test]
fn an_unknown_key_is_refused_by_name_and_line_without_its_value() {
    let text = COMPLETE.replace("api_secret = \"secret\"", "api_secert = \"canary\"");
    let problems = loaded(&text, &[]).unwrap_err().to_string();
    assert!(
        problems.contains("api_secert") && problems.contains("line 5"),
        "{problems}"
    );
    assert!(!problems.contains("canary"), "{problems}");
}

#[test]
fn an_unquoted_secret_is_refused_without_being_printed() {
    let text = COMPLETE.replace("\"secret\"", "918273645546372819");
    let problems = loaded(&text, &[]).unwrap_err().to_string();
    assert!(
        problems.contains("a value of another kind was expected: a string"),
        "{problems}"
    );
    assert!(
        problems.contains("line 5") && !problems.contains("918273645"),
        "{problems}"
    );
}

#[test]
fn what_the_server_could_not_run_with_is_found_by_the_check() {
    for (from, to, key) in [
        ("/api\"", "/api?v=1\"", "gateway.url"),
        ("[gateway]", "log = \"no such=filter=\"\n[gateway]", "log"),
        (
            "[gateway]",
            "log = \"info,proxy::http=debug\"\n[gateway]",
            "log",
        ),
        (
            "[gateway]",
            "admin_listen = \"127.0.0.1:8080\"\n[gateway]",
            "admin_listen",
        ),
        (
            "[gateway]",
            "database_url = \"sqlite::memory:\"\n[gateway]",
            "database_url",
        ),
        (
            "[gateway]",
            "database_url = \"postgres://localhost/x\"\n[gateway]",
            "database_url",
        ),
    ] {
        assert_eq!(keys(&COMPLETE.replacen(from, to, 1)), [key], "{to}");
    }
    let problems = loaded(COMPLETE, &[("FLORIN_DATABASE_URI", "x")]).unwrap_err();
    assert_eq!(problems.0[0].key, "FLORIN_DATABASE_URI");
}

#[test]
fn production_delivers_to_public_addresses_alone() {
    let private = COMPLETE.replace(
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
    let config = loaded(COMPLETE, &[]).unwrap();
    let printed = format!("{config:?}");
    for secret in ["\"secret\"", "0123456789abcdef", "MfKQ9r8", "sk_", "tk_"] {
        assert!(!printed.contains(secret), "{secret} in {printed}");
    }
}

#[test]
fn every_key_of_the_file_is_in_the_reference() {
    let page = reference();
    assert!(!page.contains("null"), "a key without a default: {page}");
    for key in COMPLETE
        .lines()
        .filter_map(|line| line.split_once(" = "))
        .map(|(key, _)| key)
    {
        assert!(page.contains(key), "{key}");
    }
}

#[test]
fn a_webhook_has_one_secret_or_two_while_it_is_exchanged() {
    let with = |secrets: &str| {
        let one = "\"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\"";
        COMPLETE.replace(one, &secrets.replace("ONE", one))
    };
    for taken in ["ONE", "[ONE]", "[ONE, ONE]"] {
        loaded(&with(taken), &[]).unwrap();
    }
    for refused in [
        "[]",
        "[ONE, ONE, ONE]",
        "[ONE, \"whsec_dG9vIHNob3J0\"]",
        "\"x\"",
    ] {
        assert_eq!(keys(&with(refused)), ["store.demo.webhook"], "{refused}");
    }
}

#[test]
fn a_webhook_is_on_the_public_internet_however_its_address_is_written() {
    for refused in [
        "https://127.0.0.1/",
        "https://127.1/",
        "https://0x7f.1/",
        "https://2130706433/",
        "https://0177.0.0.1/",
        "https://10.0.0.1/",
        "https://169.254.169.254/latest/meta-data/",
        "https://[::1]/",
        "https://[::ffff:10.0.0.1]/",
        "https://[fd00::1]/",
        "https://localhost/",
        "https://user@shop.example/",
        "https://user:word@shop.example/",
        "http://shop.example/",
        "ftp://shop.example/",
    ] {
        let text = COMPLETE.replace("https://shop.example/florin", refused);
        assert_eq!(keys(&text), ["store.demo.webhook"], "{refused}");
    }
}

#[test]
fn how_the_gateway_is_asked_can_be_set_and_is_checked() {
    let set =
        |lines: &str| COMPLETE.replace("api_key = \"key\"", &format!("api_key = \"key\"\n{lines}"));
    let gateway = |lines: &str| loaded(&set(lines), &[]).unwrap().gateway.client_settings();
    let usual = gateway("");
    assert_eq!(usual.requests_per_second, 10);
    assert_eq!(usual.nonces, florin_gateway::NonceRule::MayRepeat);
    assert_eq!(usual.signing.put_body, florin_gateway::PutBody::Unsigned);
    let other =
        gateway("requests_per_second = 3\nnonces = \"must_increase\"\nsign_put_body = true");
    assert_eq!(other.requests_per_second, 3);
    assert_eq!(other.nonces, florin_gateway::NonceRule::MustIncrease);
    assert_eq!(other.signing.put_body, florin_gateway::PutBody::Signed);
    for (line, key) in [
        ("requests_per_second = 0", "gateway.requests_per_second"),
        ("requests_per_second = 1001", "gateway.requests_per_second"),
        ("nonces = \"often\"", "gateway.nonces"),
    ] {
        assert_eq!(keys(&set(line)), [key], "{line}");
    }
}

#[test]
fn the_account_at_the_gateway_is_a_single_stores_own_and_else_for_those_that_are_named() {
    let access = |text: &str| -> Vec<bool> {
        let stores = loaded(text, &[]).unwrap().stores;
        stores.iter().map(|store| store.gateway_access).collect()
    };
    let second = "[[store]]\nid = \"second\"\n";
    assert_eq!(access(COMPLETE), [true]);
    assert_eq!(access(&format!("{COMPLETE}{second}")), [false, false]);
    let named = format!("{COMPLETE}{second}gateway_access = true\n");
    assert_eq!(access(&named), [false, true]);
    let only = COMPLETE.replace("id = \"demo\"", "id = \"demo\"\ngateway_access = false");
    assert_eq!(access(&only), [false]);
}

#[test]
fn a_merchant_of_a_platform_is_named_as_the_gateway_names_it() {
    let named = |id: &str| {
        COMPLETE.replace(
            "id = \"demo\"",
            &format!("id = \"demo\"\nmerchant_id = \"{id}\""),
        )
    };
    let store = &loaded(&named("m-1"), &[]).unwrap().stores[0];
    assert_eq!(store.merchant_id.as_deref(), Some("m-1"));
    for odd in ["", "m 1", "é"] {
        assert_eq!(keys(&named(odd)), ["store.demo.merchant_id"], "{odd}");
    }
}

#[test]
fn a_store_has_one_token_key_or_two_while_one_replaces_the_other() {
    let with = |keys: &str| {
        let one = "{ kid = \"k1\", secret = \"tk_0123456789abcdef0123456789abcdef\" }";
        assert!(COMPLETE.contains(one));
        COMPLETE.replace(one, keys)
    };
    let key = |kid: &str, start: &str| {
        format!("{{ kid = \"{kid}\", secret = \"{start}0123456789abcdef0123456789abcdef\" }}")
    };
    let two = loaded(&with(&[key("k1", "a"), key("k2", "b")].join(",")), &[]).unwrap();
    assert_eq!(two.stores[0].token_keys.len(), 2);
    assert!(
        loaded(&with(""), &[]).unwrap().stores[0]
            .token_keys
            .is_empty()
    );
    let keys_of_three = [key("k1", "a"), key("k2", "b"), key("k3", "c")].join(",");
    for (written, complaint) in [
        (keys_of_three, "store.demo.token_keys"),
        (
            [key("k1", "a"), key("k1", "b")].join(","),
            "store.demo.token_keys.k1",
        ),
        (
            [key("k1", "a"), key("k2", "a")].join(","),
            "store.demo.token_keys.k2",
        ),
        (key("k1", "sk_"), "store.demo.token_keys.k1"),
        (key("k 1", "a"), "store.demo.token_keys"),
        (
            "{ kid = \"k1\", secret = \"short\" }".to_owned(),
            "store.demo.token_keys.k1",
        ),
        ("{ kid = \"k1\" }".to_owned(), "store.demo.token_keys.k1"),
    ] {
        assert_eq!(keys(&with(&written)), [complaint], "{written}");
    }
}

#[test]
fn a_token_key_signs_for_one_store() {
    let other = "[[store]]\nid = \"other\"\n\
                 token_keys = [{ kid = \"k1\", secret = \"tk_0123456789abcdef0123456789abcdef\" }]\n";
    let text = format!("{COMPLETE}{other}");
    assert_eq!(keys(&text), ["store.other.token_keys.k1"]);
    assert!(loaded(&text.replacen("tk_0", "uk_0", 1), &[]).is_ok());
}

#[test]
fn a_donation_has_bounds_that_make_sense() {
    let store = &loaded(COMPLETE, &[]).unwrap().stores[0];
    let coffee = store.donation("coffee").unwrap();
    assert_eq!(
        (coffee.min.to_string(), coffee.max.to_string()),
        ("2.00".into(), "500.00".into())
    );
    assert_eq!(coffee.suggested[1].to_string(), "5.50");
    for (from, to) in [
        ("min = \"2\"", "min = \"0\""),
        ("min = \"2\"", "min = \"501\""),
        ("min = \"2\"", "min = \"2.001\""),
        ("min = \"2\"", "min = \"-2\""),
        ("min = \"2\"\n", ""),
        ("max = \"500\"\n", ""),
        ("\"5.50\"", "\"501\""),
        ("\"5.50\"", "\"1.99\""),
        ("A coffee", ""),
    ] {
        assert_eq!(
            keys(&COMPLETE.replacen(from, to, 1)),
            ["store.demo.donation.coffee"],
            "{to}"
        );
    }
    let again = "[[store.donation]]\nid = \"coffee\"\nmin = \"1\"\nmax = \"2\"\n";
    assert_eq!(
        keys(&format!("{COMPLETE}{again}")),
        ["store.demo.donation.coffee"]
    );
}

#[test]
fn a_theme_has_a_name_and_values_that_are_what_they_should_be() {
    let dressed =
        |theme: &str| COMPLETE.replacen("[store.webhook]", &format!("{theme}\n[store.webhook]"), 1);
    let theme = "theme = { preset = \"paper\", accent = \"#8C2\", on_accent = \"#ffffff\", \
                 text = \"light-dark(#14201b, #edf1ee)\", radius = \"0px\", \
                 font = \"'Iowan Old Style', Georgia, serif\", density = \"0.8\" }";
    let store = &loaded(&dressed(theme), &[]).unwrap().stores[0];
    assert_eq!(store.theme, "paper");
    let tokens: Vec<&str> = store.theme_tokens.iter().map(|(name, _)| *name).collect();
    assert_eq!(
        tokens,
        ["accent", "on-accent", "text", "radius", "font", "density"]
    );
    for (key, value) in [
        ("preset", "solarized"),
        ("accent", "red"),
        ("accent", "#12345"),
        ("accent", "light-dark(#fff, red)"),
        ("background", "url(https://elsewhere.example)"),
        ("on_accent", "var(--text)"),
        ("radius", "12"),
        ("radius", "41px"),
        ("radius", "-1px"),
        ("font", "a;b"),
        ("font", "'a"),
        ("font", ""),
        ("density", "0.7"),
        ("density", "1.51"),
        ("density", "compact"),
    ] {
        let text = dressed(&format!("theme = {{ {key} = \"{value}\" }}"));
        assert_eq!(keys(&text), [format!("store.demo.theme.{key}")], "{value}");
    }
    // What the checkout knows can be configured, and what is configured is known to it.
    for token in florin_checkout_api::TOKENS {
        let key = token.replace('-', "_");
        let text = dressed(&format!("theme = {{ {key} = \"?\" }}"));
        assert_eq!(keys(&text), [format!("store.demo.theme.{key}")]);
        assert!(reference().contains(&format!("theme.{key}")), "{key}");
    }
}

#[test]
fn the_address_of_the_gateways_page_is_checked_and_may_be_absent() {
    let with =
        |line: &str| COMPLETE.replace("api_key = \"key\"", &format!("api_key = \"key\"\n{line}"));
    assert_eq!(loaded(COMPLETE, &[]).unwrap().gateway.checkout_url, None);
    let given = with("checkout_url = \"https://checkout.example/pay\"");
    let url = loaded(&given, &[]).unwrap().gateway.checkout_url.unwrap();
    assert_eq!(url.as_str(), "https://checkout.example/pay");
    for wrong in [
        "http://checkout.example",
        "https://checkout.example/?id=1",
        "checkout.example",
    ] {
        let text = with(&format!("checkout_url = \"{wrong}\""));
        assert_eq!(keys(&text), ["gateway.checkout_url"], "{wrong}");
    }
}

/// [`COMPLETE`] with these lines of the store, and these of its product.
fn with_pictures(store: &str, product: &str) -> String {
    COMPLETE
        .replace(
            "name = \"Demo shop\"",
            &format!("name = \"Demo shop\"\n{store}"),
        )
        .replace("sku = \"ebook\"", &format!("sku = \"ebook\"\n{product}"))
}

#[test]
fn pictures_are_on_the_hosts_that_the_operator_names() {
    let origins = "image_origins = [\"https://cdn.example\", \"http://127.0.0.1:8081\"]";
    let logo = "logo_url = \"https://shop.example/logo.svg\"";
    let text = with_pictures(
        &format!("{origins}\n{logo}"),
        "image_url = \"https://cdn.example/ebook.jpg\"",
    );
    let store = loaded(&text, &[]).unwrap().stores.remove(0);
    let origins: Vec<String> = store
        .picture_origins()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        origins,
        [
            "https://cdn.example",
            "http://127.0.0.1:8081",
            "https://shop.example"
        ]
    );
    assert_eq!(
        store.product("ebook").unwrap().image_url.as_deref(),
        Some("https://cdn.example/ebook.jpg")
    );
    store
        .check_image_url("http://127.0.0.1:8081/a.png")
        .unwrap();
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
    let refused = store
        .check_image_url("https://evil.example/a.png")
        .unwrap_err();
    assert!(refused.contains("https://evil.example") && refused.contains("image_origins"));
}

#[test]
fn a_picture_that_could_not_be_loaded_or_trusted_is_found_by_the_check() {
    for (store, product, key) in [
        (
            "logo_url = \"http://shop.example/logo.svg\"",
            "",
            "store.demo.logo_url",
        ),
        ("logo_url = \"logo.svg\"", "", "store.demo.logo_url"),
        (
            "logo_url = \"https://a;script-src.example/\"",
            "",
            "store.demo.logo_url",
        ),
        (
            "image_origins = [\"https://cdn.example/\"]",
            "",
            "store.demo.image_origins",
        ),
        ("image_origins = [\"*\"]", "", "store.demo.image_origins"),
        (
            "",
            "image_url = \"https://cdn.example/a.png\"",
            "store.demo.product.ebook",
        ),
    ] {
        assert_eq!(
            keys(&with_pictures(store, product)),
            [key],
            "{store}{product}"
        );
    }
    let loopback = with_pictures("logo_url = \"http://127.0.0.1:8081/logo.svg\"", "");
    assert!(loaded(&loopback, &[]).is_ok());
    let problems = loaded(&loopback, &[("FLORIN_ENVIRONMENT", "production")]).unwrap_err();
    assert!(
        problems
            .0
            .iter()
            .any(|problem| problem.key == "store.demo.logo_url")
    );
}

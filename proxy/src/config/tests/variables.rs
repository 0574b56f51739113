//! Keys by `FLORIN_` variables.

use super::*;

#[test]
fn every_key_can_be_a_variable_and_wins_over_the_file() {
    let variables = r#"
        FLORIN_GATEWAY__URL = http://127.0.0.1:8090/api
        FLORIN_GATEWAY__API_KEY = 918273645
        FLORIN_GATEWAY__API_SECRET = true
        FLORIN_GATEWAY__CALLBACK_TOKEN = 0123456789abcdef0123456789abcdef
        FLORIN_GATEWAY__SIGN_PUT_BODY = true
        FLORIN_RATE_LIMIT__ORDERS_PER_MINUTE_PER_IP = 7
        FLORIN_TRUSTED_PROXIES = 10.0.0.0/8, 127.0.0.1
        FLORIN_STORE__0__ID = demo
        FLORIN_STORE__0__ORIGINS = ["https://a.example", "https://b.example"]
        FLORIN_STORE__0__ORIGINS__2 = https://c.example
        FLORIN_STORE__0__TOKEN_KEYS__0__KID = k1
        FLORIN_STORE__0__TOKEN_KEYS__0__SECRET = tk_0123456789abcdef0123456789abcdef
        FLORIN_STORE__0__THEME__TEXT_MUTED = #555555
        FLORIN_STORE__0__WEBHOOK__0__URL = https://shop.example/florin
        FLORIN_STORE__0__WEBHOOK__0__SECRET = ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]
        FLORIN_STORE__0__PRODUCT__0__SKU = ebook
        FLORIN_STORE__0__PRODUCT__0__PRICE = 19.90
        FLORIN_STORE__1__ID = other
    "#;
    let variables = variables
        .lines()
        .filter_map(|line| line.trim().split_once(" = "));
    let variables: Vec<(&str, &str)> = variables.collect();
    for file in ["", EXAMPLE] {
        let config = loaded(file, &variables).unwrap();
        let gateway = &config.gateway.client;
        let key = gateway.credentials.api_key.expose_secret();
        assert_eq!(key, "918273645");
        assert!(gateway.sign_put_body);
        assert_eq!(config.rate_limit.orders_per_minute_per_ip, 7);
        assert_eq!(config.trusted_proxies.len(), 2);
        assert_eq!(config.stores.len(), 2);
        let store = &config.stores[0];
        assert!(store.lists_origin("https://b.example") && store.lists_origin("https://c.example"));
        assert_eq!(store.token_keys[0].kid.to_string(), "k1");
        assert_eq!(store.theme_tokens, [("text-muted", "#555555".to_owned())]);
        assert!(!store.webhooks.is_empty() && store.product("ebook").is_some());
    }
}

#[test]
fn elements_of_variables_are_added_in_their_order() {
    let ids: Vec<String> = (0..11).map(|n| format!("s{n}")).collect();
    let names: Vec<String> = (1..12).map(|n| format!("FLORIN_STORE__{n}__ID")).collect();
    let pairs = names.iter().zip(&ids);
    let variables: Vec<(&str, &str)> = pairs.map(|(name, id)| (&**name, &**id)).collect();
    let config = loaded(EXAMPLE, &variables).unwrap();
    let stores = config.stores.iter();
    let found: Vec<String> = stores.map(|store| store.id.to_string()).collect();
    assert_eq!(found[0], "demo");
    assert_eq!(found[1..], ids);
}

#[test]
fn a_variable_without_a_place_or_of_another_kind_is_refused_without_its_value() {
    const UNKNOWN: &str = "is no variable of Florin's: see florin-proxy config-reference";
    let another = |kind: &str| format!("a value of another kind was expected: {kind}");
    for (variable, complaint) in [
        ("STORE__2__ID", "there are 1 before it: write 1".to_owned()),
        ("GATEWAY", another("a table")),
        ("PORT", UNKNOWN.to_owned()),
        ("LISTENS", UNKNOWN.to_owned()),
        ("GATEWAY__URL__0", UNKNOWN.to_owned()),
        ("GATEWAY__API_SECERT", UNKNOWN.to_owned()),
        ("gateway__url", UNKNOWN.to_owned()),
        ("GATEWAY__REQUESTS_PER_SECOND", another("a whole number")),
        ("GATEWAY__SIGN_PUT_BODY", another("true or false")),
    ] {
        let variable = format!("FLORIN_{variable}");
        let problems = loaded(EXAMPLE, &[(&variable, "canary")]).unwrap_err();
        assert_eq!(problems.to_string(), format!("{variable}: {complaint}\n"));
    }
}

#[test]
fn a_variable_replaces_both_forms_of_a_secret_in_the_file() {
    let text = EXAMPLE.replacen("api_secret = ", "api_secret_file = ", 1);
    let secret = ("FLORIN_GATEWAY__API_SECRET", "a");
    let config = loaded(&text, &[secret]).unwrap();
    let credentials = &config.gateway.client.credentials;
    assert_eq!(credentials.api_secret.expose_secret(), "a");
    let problems = loaded(EXAMPLE, &[("FLORIN_STORE__0__SECRET_KEY_FILE", "/nowhere")]);
    let problem = &problems.unwrap_err().0[0];
    assert_eq!(problem.key, "store.demo.secret_key");
    assert!(problem.message.contains("/nowhere"), "{}", problem.message);
    let twice = [secret, ("FLORIN_GATEWAY__API_SECRET_FILE", "/b")];
    let problems = loaded(EXAMPLE, &twice).unwrap_err();
    assert_eq!(problems.0[0].key, "gateway.api_secret");
}

#[test]
fn what_kubernetes_sets_for_a_service_is_ignored() {
    let variables = [
        ("FLORIN_PORT", "tcp://10.96.0.12:8080"),
        ("FLORIN_SERVICE_HOST", "10.96.0.12"),
        ("FLORIN_SERVICE_PORT", "8080"),
        ("FLORIN_SERVICE_PORT_HTTP", "8080"),
        ("FLORIN_PORT_8080_TCP", "tcp://10.96.0.12:8080"),
        ("FLORIN_PORT_8080_TCP_PROTO", "tcp"),
        ("FLORIN_PORT_8080_TCP_ADDR", "10.96.0.12"),
        ("FLORIN_ADMIN_SERVICE_HOST", "10.96.0.13"),
    ];
    loaded(EXAMPLE, &variables).unwrap();
}

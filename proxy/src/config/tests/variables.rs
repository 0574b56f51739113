//! Keys by `FLORIN_` variables.

use super::*;

#[test]
fn a_variable_wins_over_the_file() {
    let variables = [
        ("FLORIN_LISTEN", "127.0.0.1:9999"),
        ("FLORIN_GATEWAY__API_KEY", "other"),
    ];
    let config = loaded(COMPLETE, &variables).unwrap();
    assert_eq!(config.listen.port(), 9999);
    assert_eq!(config.gateway.api_key.newest().expose_secret(), "other");
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
    assert_eq!(config.gateway.api_key.newest().expose_secret(), "918273645");
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
fn a_variable_replaces_both_forms_of_a_secret_in_the_file() {
    let text = COMPLETE.replacen("api_secret = ", "api_secret_file = ", 1);
    let config = loaded(&text, &[("FLORIN_GATEWAY__API_SECRET", "a")]).unwrap();
    assert_eq!(config.gateway.api_secret.newest().expose_secret(), "a");
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

//! The gateway's and the stores' sections.

use super::*;

#[test]
fn a_webhook_has_one_secret_or_two_while_it_is_exchanged() {
    let with = |secrets: &str| {
        let one = "\"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\"";
        EXAMPLE.replace(one, &secrets.replace("ONE", one))
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
        let text = EXAMPLE.replace("https://shop.example/florin", refused);
        assert_eq!(keys(&text), ["store.demo.webhook"], "{refused}");
    }
}

#[test]
fn how_the_gateway_is_asked_can_be_set_and_is_checked() {
    let set =
        |lines: &str| EXAMPLE.replace("api_key = \"key\"", &format!("api_key = \"key\"\n{lines}"));
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
fn the_gateways_key_and_secret_are_one_each() {
    let set = |key: &str, secret: &str| {
        let text = EXAMPLE.replace("api_key = \"key\"", &format!("api_key = {key}"));
        text.replace("api_secret = \"secret\"", &format!("api_secret = {secret}"))
    };
    let settings = loaded(&set(r#""new""#, r#""secret-new""#), &[]).unwrap();
    let credentials = settings.gateway.client_settings().credentials;
    assert_eq!(credentials.api_key.expose_secret(), "new");
    assert_eq!(credentials.api_secret.expose_secret(), "secret-new");
    for (key, secret, problem) in [
        (r#"["new", "old"]"#, r#""secret""#, "gateway.api_key"),
        (r#""key""#, r#"["new", "old"]"#, "gateway.api_secret"),
        (r#""kéy""#, r#""secret""#, "gateway.api_key"),
    ] {
        assert_eq!(keys(&set(key, secret)), [problem], "{key} {secret}");
    }
}

#[test]
fn the_account_at_the_gateway_is_a_single_stores_own_and_else_for_those_that_are_named() {
    let access = |text: &str| -> Vec<bool> {
        let stores = loaded(text, &[]).unwrap().stores;
        stores.iter().map(|store| store.gateway_access).collect()
    };
    let second = "[[store]]\nid = \"second\"\n";
    assert_eq!(access(EXAMPLE), [true]);
    assert_eq!(access(&format!("{EXAMPLE}{second}")), [false, false]);
    let named = format!("{EXAMPLE}{second}gateway_access = true\n");
    assert_eq!(access(&named), [false, true]);
    let only = EXAMPLE.replace("id = \"demo\"", "id = \"demo\"\ngateway_access = false");
    assert_eq!(access(&only), [false]);
}

#[test]
fn a_merchant_of_a_platform_is_named_as_the_gateway_names_it() {
    let named = |id: &str| {
        let line = format!("id = \"demo\"\nmerchant_id = \"{id}\"");
        EXAMPLE.replace("id = \"demo\"", &line)
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
        assert!(EXAMPLE.contains(one));
        EXAMPLE.replace(one, keys)
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
    let list = |keys: &[(&str, &str)]| {
        let keys = keys.iter().map(|(kid, start)| key(kid, start));
        keys.collect::<Vec<_>>().join(",")
    };
    for (written, complaint) in [
        (list(&[("k1", "a"), ("k2", "b"), ("k3", "c")]), ""),
        (list(&[("k1", "a"), ("k1", "b")]), ".k1"),
        (list(&[("k1", "a"), ("k2", "a")]), ".k2"),
        (list(&[("k1", "sk_")]), ".k1"),
        (list(&[("k 1", "a")]), ""),
        ("{ kid = \"k1\", secret = \"short\" }".to_owned(), ".k1"),
        ("{ kid = \"k1\" }".to_owned(), ".k1"),
    ] {
        let complaint = format!("store.demo.token_keys{complaint}");
        assert_eq!(keys(&with(&written)), [complaint], "{written}");
    }
}

#[test]
fn a_token_key_signs_for_one_store() {
    let other = "[[store]]\nid = \"other\"\n\
                 token_keys = [{ kid = \"k1\", secret = \"tk_0123456789abcdef0123456789abcdef\" }]\n";
    let text = format!("{EXAMPLE}{other}");
    assert_eq!(keys(&text), ["store.other.token_keys.k1"]);
    assert!(loaded(&text.replacen("tk_0", "uk_0", 1), &[]).is_ok());
}

#[test]
fn a_donation_has_bounds_that_make_sense() {
    let store = &loaded(EXAMPLE, &[]).unwrap().stores[0];
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
            keys(&EXAMPLE.replacen(from, to, 1)),
            ["store.demo.donation.coffee"],
            "{to}"
        );
    }
    let again = "[[store.donation]]\nid = \"coffee\"\nmin = \"1\"\nmax = \"2\"\n";
    assert_eq!(
        keys(&format!("{EXAMPLE}{again}")),
        ["store.demo.donation.coffee"]
    );
}

#[test]
fn a_theme_has_a_name_and_values_that_are_what_they_should_be() {
    let dressed =
        |theme: &str| EXAMPLE.replacen("[store.webhook]", &format!("{theme}\n[store.webhook]"), 1);
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
        |line: &str| EXAMPLE.replace("api_key = \"key\"", &format!("api_key = \"key\"\n{line}"));
    assert_eq!(loaded(EXAMPLE, &[]).unwrap().gateway.checkout_url, None);
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

/// [`EXAMPLE`] with these lines of the store, and these of its product.
fn with_pictures(store: &str, product: &str) -> String {
    EXAMPLE
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
    for (line, key) in [
        ("logo_url = \"http://shop.example/logo.svg\"", "logo_url"),
        ("logo_url = \"logo.svg\"", "logo_url"),
        ("logo_url = \"https://a;script-src.example/\"", "logo_url"),
        (
            "image_origins = [\"https://cdn.example/\"]",
            "image_origins",
        ),
        ("image_origins = [\"*\"]", "image_origins"),
    ] {
        let key = format!("store.demo.{key}");
        assert_eq!(keys(&with_pictures(line, "")), [key], "{line}");
    }
    let elsewhere = with_pictures("", "image_url = \"https://cdn.example/a.png\"");
    assert_eq!(keys(&elsewhere), ["store.demo.product.ebook"]);
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

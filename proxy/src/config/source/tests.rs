//! Keys by `FLORIN_` variables, who may read and write the files of settings and secrets, and where the operator's token comes from.

use std::fs::{create_dir, set_permissions, write};
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use secrecy::ExposeSecret as _;
use tempfile::TempDir;

use super::*;
use crate::config::tests::{EXAMPLE, loaded};

/// A configuration without a secret, which [`SECRETS`] complete.
const BARE: &str = "[[store]]\nid = \"demo\"\n";
const SECRETS: [(&str, &str); 4] = [
    ("FLORIN_GATEWAY__URL", "http://127.0.0.1:8090/api"),
    ("FLORIN_GATEWAY__API_KEY", "key"),
    ("FLORIN_GATEWAY__API_SECRET", "secret"),
    (
        "FLORIN_GATEWAY__CALLBACK_TOKEN",
        "0123456789abcdef0123456789abcdef",
    ),
];

fn map(variables: &[(&str, &str)]) -> BTreeMap<String, String> {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    variables.iter().map(owned).collect()
}

fn file_in(folder: &TempDir, name: &str, text: &str, mode: u32) -> PathBuf {
    let path = folder.path().join(name);
    write(&path, text).unwrap();
    set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path
}

/// Checks that the configuration is refused with this sentence alone. An empty sentence: it is accepted.
#[track_caller]
fn is_refused(config: &Path, variables: &[(&str, &str)], sentence: &str) {
    let refusal = load(Some(config), &map(variables)).err();
    let refusal = refusal.map_or(String::new(), |problems| problems.to_string());
    assert!(refusal.starts_with(sentence), "{sentence}: {refusal}");
    let count = usize::from(!sentence.is_empty());
    assert_eq!(refusal.lines().count(), count, "{sentence}: {refusal}");
    assert!(!refusal.contains("canary"), "{refusal}");
}

#[test]
fn a_file_with_a_secret_is_private_and_no_file_may_be_written_by_others() {
    let folder = TempDir::new().unwrap();
    for (mode, holds_secrets, shared) in [
        (0o600, true, ""),
        (0o644, true, "read"),
        (0o666, true, "written"),
        (0o644, false, ""),
        (0o664, false, "written"),
    ] {
        let file = file_in(&folder, "file", "", mode);
        let mut errors = Errors::default();
        refuse_shared(&mut errors, &file, holds_secrets);
        let refusal = errors
            .finish(Some(()))
            .map_err(|problems| problems.to_string());
        let sentence =
            format!("can be {shared} by group or others (mode {mode:04o}): run chmod 600");
        let is_right = match &refusal {
            Ok(()) => shared.is_empty(),
            Err(refusal) => refusal.contains(&sentence),
        };
        assert!(is_right, "{mode:o}: {refusal:?}");
    }
}

#[test]
fn files_are_checked_by_what_they_hold_unless_the_operator_shares_them() {
    let folder = TempDir::new().unwrap();
    let [url, config] = ["database_url", "florin.toml"].map(|name| folder.path().join(name));
    let named = format!("database_url_file = {url:?}\n");
    let bare = "database_url = \"sqlite://florin.db\"\n";
    let server = "database_url = \"postgres://florin:canary@127.0.0.1:9/florin\"\n";
    let [shared_url, shared] = [url, config].map(|file| format!("{}: can be read", file.display()));
    let switch = [("FLORIN_DANGEROUS_ALLOW_SHARED_FILES", "true")];
    for (content, mode, line, config_mode, sentence) in [
        ("sqlite://florin.db", 0o600, &*named, 0o644, ""),
        ("sqlite://florin.db", 0o644, &named, 0o644, &*shared_url),
        (
            "mysql://canary",
            0o600,
            &named,
            0o644,
            "database_url: write ",
        ),
        // A database's address can have a password. A path has none.
        ("", 0o600, bare, 0o644, ""),
        ("", 0o600, server, 0o644, &shared),
    ] {
        file_in(&folder, "database_url", content, mode);
        let config = file_in(&folder, "florin.toml", &[line, BARE].concat(), config_mode);
        is_refused(&config, &SECRETS, sentence);
        if sentence.contains("can be read") {
            is_refused(&config, &[&SECRETS[..], &switch].concat(), "");
        }
    }
    let both = file_in(
        &folder,
        "florin.toml",
        &[&*named, bare, BARE].concat(),
        0o600,
    );
    is_refused(
        &both,
        &SECRETS,
        "database_url: is given as value and as file",
    );
}

/// Source: systemd.exec(5): since version 254 the mode is 0440. That the group may read them is in `tests/api/deployment.rs`.
#[test]
fn only_a_file_of_the_services_own_is_a_credential() {
    let folder = TempDir::new().unwrap();
    let credentials = folder.path().join("credentials");
    create_dir(&credentials).unwrap();
    let (inside, link) = (credentials.join("api_secret"), credentials.join("link"));
    let outside = file_in(&folder, "api_secret", "from-a-file", 0o440);
    write(&inside, "from-a-file").unwrap();
    symlink(&outside, &link).unwrap();
    let named = Some(credentials.as_os_str());
    assert!(is_credential(&inside, named));
    assert!(!is_credential(&inside, None));
    let around = credentials.join("../api_secret");
    for file in [&outside, &link, &around, &credentials] {
        assert!(!is_credential(file, named), "{}", file.display());
    }
}

#[test]
fn the_operators_token_comes_from_a_file_or_the_environment() {
    const TOKEN: &str = "0123456789abcdef-0123456789abcdef";
    let folder = TempDir::new().unwrap();
    let file = file_in(&folder, "token", &format!("{TOKEN}\n"), 0o600);
    let path = file.display().to_string();
    let [value, in_file] = [(OPERATOR_TOKEN[0], TOKEN), (OPERATOR_TOKEN[1], &*path)];
    let token = |named: Option<&Path>, variables: &[(&str, &str)]| {
        let token = operator_token(named, None, &map(variables));
        token.map_err(|problems| problems.to_string())
    };
    // The file that is named wins.
    for (named, variable) in [
        (Some(&*file), (OPERATOR_TOKEN[0], "another")),
        (None, in_file),
        (None, value),
    ] {
        let token = token(named, &[variable]).unwrap();
        assert_eq!(token.expose_secret(), TOKEN);
    }
    // The variables are no keys of the configuration, and no mistake in it.
    let config = file_in(&folder, "florin.toml", EXAMPLE, 0o600);
    is_refused(&config, &[in_file], "");
    let short = (OPERATOR_TOKEN[0], "canary-short");
    set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    for (named, variables, sentence) in [
        (None, &[][..], "--token-file: names no file, and neither"),
        (Some(&*file), &[], "can be read by group or others"),
        (
            None,
            &[value, in_file],
            "FLORIN_OPERATOR_TOKEN: is given as value and as file",
        ),
        (None, &[short], "FLORIN_OPERATOR_TOKEN: has 12 characters"),
    ] {
        let refusal = token(named, variables).unwrap_err();
        assert!(refusal.contains(sentence), "{sentence}: {refusal}");
        assert!(!refusal.contains("canary"), "{refusal}");
    }
    // A container's platform sets the rights of its files.
    token(
        Some(&file),
        &[("FLORIN_DANGEROUS_ALLOW_SHARED_FILES", "true")],
    )
    .unwrap();
}

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

//! The permissions of the configuration and of files with secrets.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};

use support::{Folder, Program};

use crate::program::{check, complete_environment, run};

#[test]
fn secrets_that_others_can_read_are_refused_unless_the_operator_accepts_it() {
    let folder = Folder::new();
    let good = folder.file("florin.db").display().to_string();
    let (config, secret) = (folder.file("florin.toml"), folder.file("secret"));
    std::fs::write(&secret, "from-a-file").unwrap();
    let in_file = format!("api_secret_file = {:?}", secret.display().to_string());
    let set =
        |file: &std::path::Path, mode| set_permissions(file, Permissions::from_mode(mode)).unwrap();
    let shared = |file, sentence| Some((file, sentence));
    let read = "can be read by group or others (mode 0644)";
    let written = "can be written by group or others (mode 0666)";
    let with_file = [("api_secret = \"secret\"", in_file.as_str())];
    for (changes, config_mode, secret_mode, refused) in [
        (&[][..], 0o600, 0o600, None),
        (&[], 0o644, 0o600, shared(&config, read)),
        (&[], 0o666, 0o600, shared(&config, written)),
        (&with_file, 0o600, 0o400, None),
        (&with_file, 0o600, 0o644, shared(&secret, read)),
    ] {
        for is_accepted in [false, true] {
            check(&folder, &good, changes, &[]);
            set(&config, config_mode);
            set(&secret, secret_mode);
            let words = ["--config", &config.display().to_string(), "check-config"];
            let switch = [("FLORIN_DANGEROUS_ALLOW_SHARED_FILES", "true")];
            let variables = if is_accepted { &switch[..] } else { &[] };
            let ended = Program::run(&words, variables);
            match refused {
                Some((file, sentence)) if !is_accepted => {
                    assert_eq!(ended.code, Some(2), "{}", ended.printed);
                    let sentence = format!("{}: {sentence}: run chmod 600", file.display());
                    assert!(ended.printed.contains(&sentence), "{}", ended.printed);
                }
                _ => assert_eq!(ended.code, Some(0), "{}", ended.printed),
            }
            set(&secret, 0o600);
        }
    }
}

#[test]
fn the_credentials_of_systemd_may_be_readable_by_the_group_and_no_other_file() {
    let folder = Folder::new();
    let credentials = folder.file("credentials");
    std::fs::create_dir(&credentials).unwrap();
    let (inside, outside) = (credentials.join("api_secret"), folder.file("api_secret"));
    for file in [&inside, &outside] {
        std::fs::write(file, "from-a-file").unwrap();
    }
    let link = credentials.join("link");
    symlink(&outside, &link).unwrap();
    let around = credentials.join("../api_secret");
    let checked = |file: &std::path::Path, mode, is_service: bool| {
        set_permissions(&inside, Permissions::from_mode(mode)).unwrap();
        set_permissions(&outside, Permissions::from_mode(mode)).unwrap();
        let (file, credentials) = (
            file.display().to_string(),
            credentials.display().to_string(),
        );
        let mut variables = complete_environment(&folder.file("florin.db").display().to_string());
        variables.retain(|(name, _)| *name != "FLORIN_GATEWAY__API_SECRET");
        variables.push(("FLORIN_GATEWAY__API_SECRET_FILE", file));
        variables.push(("FLORIN_STORE__0__ID", "demo".to_owned()));
        if is_service {
            variables.push(("CREDENTIALS_DIRECTORY", credentials));
        }
        let variables = variables
            .iter()
            .map(|(name, value)| (*name, value.as_str()));
        let ended = Program::run(&["check-config"], &variables.collect::<Vec<_>>());
        assert!(
            ended.code == Some(0) || ended.printed.contains("by group or others"),
            "{}",
            ended.printed
        );
        ended.code == Some(0)
    };
    // Source: systemd.exec(5): since version 254 the mode is 0440.
    assert!(checked(&inside, 0o440, true));
    assert!(!checked(&inside, 0o440, false));
    for file in [&outside, &link, &around] {
        assert!(!checked(file, 0o440, true), "{}", file.display());
    }
    for mode in [0o444, 0o460, 0o404] {
        assert!(!checked(&inside, mode, true), "{mode:o}");
    }
}

#[test]
fn a_configuration_without_a_secret_may_be_read_and_not_written_by_others() {
    let folder = Folder::new();
    let config = folder.file("florin.toml");
    for (mode, code) in [(0o644, Some(0)), (0o664, Some(2))] {
        std::fs::write(&config, "[[store]]\nid = \"demo\"\n").unwrap();
        set_permissions(&config, Permissions::from_mode(mode)).unwrap();
        let (found, printed) = run(&folder, &["check-config"], &[]);
        assert_eq!(found, code, "{printed}");
    }
}

#[test]
fn the_address_of_the_database_may_come_from_a_file_that_is_checked_like_a_secret() {
    let folder = Folder::new();
    let (config, file) = (folder.file("florin.toml"), folder.file("database_url"));
    let good = format!("sqlite://{}", folder.file("florin.db").display());
    let path = file.display().to_string();
    let checked = |content: &str, mode, line: &str, config_mode| {
        std::fs::write(&file, content).unwrap();
        set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        std::fs::write(&config, format!("{line}\n[[store]]\nid = \"demo\"\n")).unwrap();
        set_permissions(&config, Permissions::from_mode(config_mode)).unwrap();
        let mut variables = complete_environment("");
        variables.retain(|(name, _)| *name != "FLORIN_DATABASE_URL");
        let variables = variables
            .iter()
            .map(|(name, value)| (*name, value.as_str()));
        let config = config.display().to_string();
        let words = ["--config", &config, "check-config"];
        Program::run(&words, &variables.collect::<Vec<_>>()).printed
    };
    let complete = "The configuration is complete: 1 store(s).\n";
    let named = format!("database_url_file = {path:?}");
    assert_eq!(
        checked(&format!("{good}\n"), 0o600, &named, 0o644),
        complete
    );
    let shared = checked(&good, 0o644, &named, 0o644);
    assert!(
        shared.contains(&format!("{path}: can be read by group or others")),
        "{shared}"
    );
    let both = checked(
        &good,
        0o600,
        &format!("{named}\ndatabase_url = {good:?}"),
        0o600,
    );
    assert!(
        both.contains("database_url: is given as value and as file"),
        "{both}"
    );
    let other = checked("mysql://canary", 0o600, &named, 0o644);
    assert!(other.contains("database_url: write sqlite://"), "{other}");
    assert!(!other.contains("canary"), "{other}");
    // An address with a password is a secret of the configuration file, and a path is none.
    let path = checked("", 0o600, &format!("database_url = {good:?}"), 0o644);
    assert_eq!(path, complete);
    let server = "database_url = \"postgres://florin:canary@127.0.0.1:9/florin\"";
    let server = checked("", 0o600, server, 0o644);
    assert!(
        server.contains("can be read by group or others (mode 0644)"),
        "{server}"
    );
}

#[test]
fn a_secret_has_one_use_also_while_it_is_replaced() {
    let folder = Folder::new();
    let good = folder.file("florin.db").display().to_string();
    let token = "callback_token = \"0123456789abcdef0123456789abcdef\"";
    let (next, key) = (
        "fedcba9876543210fedcba9876543210",
        "sk_0123456789abcdef0123456789abcdef",
    );
    let pair = |one: &str, other: &str| format!("callback_token = [\"{one}\", \"{other}\"]");
    let checked = |pair: &str| check(&folder, &good, &[(token, pair)], &[]);
    let complete = "The configuration is complete: 1 store(s).\n";
    assert_eq!(
        checked(&pair(next, "0123456789abcdef0123456789abcdef")),
        complete
    );
    for (wrong, sentence) in [
        (
            pair(next, key),
            "store.demo.secret_key: is the same as gateway.callback_token.1",
        ),
        (
            pair(next, next),
            "gateway.callback_token.1: is the same as gateway.callback_token",
        ),
        (
            pair(next, "canary"),
            "gateway.callback_token: has 6 characters",
        ),
        (
            format!("callback_token = [\"{next}\", \"a{next}\", \"b{next}\"]"),
            "gateway.callback_token: write one, or two while you exchange it",
        ),
        (
            "callback_token = []".to_owned(),
            "gateway.callback_token: write one, or two while you exchange it",
        ),
    ] {
        let printed = checked(&wrong);
        assert!(printed.contains(sentence), "{printed}");
        assert!(!printed.contains("canary"), "{printed}");
    }
}

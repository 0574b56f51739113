//! The permissions of the configuration and of files with secrets.

use std::fs::{Permissions, set_permissions, write};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use support::{Folder, Program};

use crate::program::{
    IS_COMPLETE, assert_ended, check, complete_environment, database_in, run, run_with,
};

fn set_mode(file: &Path, mode: u32) {
    set_permissions(file, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn secrets_that_others_can_read_are_refused_unless_the_operator_accepts_it() {
    let folder = Folder::new();
    let good = folder.file("florin.db").display().to_string();
    let (config, secret) = (folder.file("florin.toml"), folder.file("secret"));
    write(&secret, "from-a-file").unwrap();
    let in_file = format!("api_secret_file = {:?}", secret.display().to_string());
    let read = "can be read by group or others (mode 0644)";
    let written = "can be written by group or others (mode 0666)";
    let with_file = [("api_secret = \"secret\"", in_file.as_str())];
    for (changes, config_mode, secret_mode, refused) in [
        (&[][..], 0o600, 0o600, None),
        (&[], 0o644, 0o600, Some((&config, read))),
        (&[], 0o666, 0o600, Some((&config, written))),
        (&with_file, 0o600, 0o400, None),
        (&with_file, 0o600, 0o644, Some((&secret, read))),
    ] {
        check(&folder, &good, changes, &[]);
        set_mode(&config, config_mode);
        set_mode(&secret, secret_mode);
        let words = ["--config", &config.display().to_string(), "check-config"];
        let accepted = Program::run(&words, &[("FLORIN_DANGEROUS_ALLOW_SHARED_FILES", "true")]);
        assert_ended(&accepted, 0, &[]);
        let ended = Program::run(&words, &[]);
        if let Some((file, sentence)) = refused {
            let sentence = format!("{}: {sentence}: run chmod 600", file.display());
            assert_ended(&ended, 2, &[&sentence]);
        } else {
            assert_ended(&ended, 0, &[]);
        }
        set_mode(&secret, 0o600);
    }
    // Without a secret it may be read, not written.
    for (mode, code) in [(0o644, 0), (0o664, 2)] {
        write(&config, "[[store]]\nid = \"demo\"\n").unwrap();
        set_mode(&config, mode);
        assert_ended(&run(&folder, &["check-config"], &[]), code, &[]);
    }
}

#[test]
fn the_credentials_of_systemd_may_be_readable_by_the_group_and_no_other_file() {
    let folder = Folder::new();
    let credentials = folder.file("credentials");
    std::fs::create_dir(&credentials).unwrap();
    let (inside, outside) = (credentials.join("api_secret"), folder.file("api_secret"));
    for file in [&inside, &outside] {
        write(file, "from-a-file").unwrap();
    }
    let link = credentials.join("link");
    symlink(&outside, &link).unwrap();
    let around = credentials.join("../api_secret");
    let is_accepted = |file: &Path, mode, is_service: bool| {
        set_mode(&inside, mode);
        set_mode(&outside, mode);
        let mut variables = complete_environment(&database_in(&folder));
        variables.retain(|(name, _)| *name != "FLORIN_GATEWAY__API_SECRET");
        variables.extend([
            (
                "FLORIN_GATEWAY__API_SECRET_FILE",
                file.display().to_string(),
            ),
            ("FLORIN_STORE__0__ID", "demo".to_owned()),
        ]);
        if is_service {
            variables.push(("CREDENTIALS_DIRECTORY", credentials.display().to_string()));
        }
        let ended = run_with(&["check-config"], &variables);
        if ended.code != Some(0) {
            assert_ended(&ended, 2, &["by group or others"]);
        }
        ended.code == Some(0)
    };
    // Source: systemd.exec(5): since version 254 the mode is 0440.
    assert!(is_accepted(&inside, 0o440, true));
    assert!(!is_accepted(&inside, 0o440, false));
    for file in [&outside, &link, &around] {
        assert!(!is_accepted(file, 0o440, true), "{}", file.display());
    }
    for mode in [0o444, 0o460, 0o404] {
        assert!(!is_accepted(&inside, mode, true), "{mode:o}");
    }
}

#[test]
fn the_address_of_the_database_may_come_from_a_file_that_is_checked_like_a_secret() {
    let folder = Folder::new();
    let (config, file) = (folder.file("florin.toml"), folder.file("database_url"));
    let good = database_in(&folder);
    let path = file.display().to_string();
    let named = format!("database_url_file = {path:?}");
    let both = format!("{named}\ndatabase_url = {good:?}");
    let server = "database_url = \"postgres://florin:canary@127.0.0.1:9/florin\"";
    let is_shared = format!("{path}: can be read by group or others");
    for (content, mode, line, config_mode, sentence) in [
        (&*good, 0o600, &*named, 0o644, IS_COMPLETE),
        (&good, 0o644, &named, 0o644, &is_shared),
        (
            &good,
            0o600,
            &both,
            0o600,
            "database_url: is given as value and as file",
        ),
        (
            "mysql://canary",
            0o600,
            &named,
            0o644,
            "database_url: write sqlite://",
        ),
        // A database's address can have a password, which the configuration file must hide. A path has none.
        (
            "",
            0o600,
            &format!("database_url = {good:?}"),
            0o644,
            IS_COMPLETE,
        ),
        (
            "",
            0o600,
            server,
            0o644,
            "can be read by group or others (mode 0644)",
        ),
    ] {
        write(&file, format!("{content}\n")).unwrap();
        set_mode(&file, mode);
        write(&config, format!("{line}\n[[store]]\nid = \"demo\"\n")).unwrap();
        set_mode(&config, config_mode);
        let mut variables = complete_environment("");
        variables.retain(|(_, value)| !value.is_empty());
        let config = config.display().to_string();
        let ended = run_with(&["--config", &config, "check-config"], &variables);
        let code = if sentence == IS_COMPLETE { 0 } else { 2 };
        assert_ended(&ended, code, &[sentence]);
        assert!(!ended.printed.contains("canary"), "{}", ended.printed);
    }
}

#[test]
fn a_secret_has_one_use_also_while_it_is_replaced() {
    let folder = Folder::new();
    let good = folder.file("florin.db").display().to_string();
    let old = "0123456789abcdef0123456789abcdef";
    let next = "fedcba9876543210fedcba9876543210";
    let token = format!("callback_token = \"{old}\"");
    let one_or_two = "gateway.callback_token: write one, or two while you exchange it";
    for (tokens, sentence) in [
        (&[next, old][..], IS_COMPLETE),
        (
            &[next, "sk_0123456789abcdef0123456789abcdef"],
            "store.demo.secret_key: is the same as gateway.callback_token.1",
        ),
        (
            &[next, next],
            "gateway.callback_token.1: is the same as gateway.callback_token",
        ),
        (
            &[next, "canary"],
            "gateway.callback_token: has 6 characters",
        ),
        (&[next, old, &"ab".repeat(16)], one_or_two),
        (&[], one_or_two),
    ] {
        let pair = format!("callback_token = {tokens:?}");
        let printed = check(&folder, &good, &[(&token, &pair)], &[]);
        assert!(printed.contains(sentence), "{printed}");
        assert!(!printed.contains("canary"), "{printed}");
    }
}

//! The vocabulary of the repository: words that code, comments and documentation avoid, because a plain standard term
//! exists.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Words and phrases in lower case, with the plain words instead. A word is found in prose and as a part of a
/// `snake_case` name.
const PHRASES: [(&str, &str); 19] = [
    ("whoever", "the subject: the client, the customer"),
    ("whomever", "the subject: the client, the customer"),
    ("nobody", "no client, no process, unknown"),
    ("somebody", "a customer, a person"),
    ("told", "notified, reported, delivered, announced"),
    ("said", "reported, stated, responded"),
    ("looked at", "checked, polled"),
    ("of its own", "its own, separate"),
    ("of their own", "their own, separate"),
    ("of one's own", "its own, separate"),
    ("as good", "the same"),
    ("merely", "only"),
    ("comes to", "is"),
    ("manners", "limits, behaviour"),
    ("is had", "is available"),
    ("wish", "request"),
    ("wishes", "requests"),
    ("teller", "dispatcher"),
    ("tidied", "deleted, cleaned up"),
];

/// Names of types that once stood for a standard term.
const TYPES: [(&str, &str); 16] = [
    ("Holder", "CheckoutSession"),
    ("Shelf", "BoundedStore"),
    ("Warp", "VirtualClock"),
    ("Ear", "WebhookReceiver"),
    ("Mood", "Reply"),
    ("Mint", "TokenSigner"),
    ("Blow", "KillPlan"),
    ("Victim", "ProxyProcess"),
    ("Street", "Customers"),
    ("Shaky", "FaultyStorage"),
    ("Postman", "SimulatedSender"),
    ("Belongings", "StoreFixture"),
    ("Mishap", "EndpointFault"),
    ("Misfit", "AmountMismatch"),
    ("Passage", "RawRequest"),
    ("Said", "ServiceMessage"),
];

/// Files with another vocabulary: translations, migrations with checksums and their test, databases of releases, licences, generated files, recorded test
/// cases, the history of releases, and this list.
const EXEMPT: [&str; 12] = [
    "widget/locales/",
    "/migrations/",
    "tests/databases/",
    "crates/storage/src/sqlite/tests/migrations.rs",
    "/proptest-regressions/",
    "LICENSE",
    "Cargo.lock",
    "package-lock.json",
    "requirements.txt",
    ".svg",
    "CHANGELOG.md",
    "tests/api/banned_words.rs",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Returns every file that git tracks and that is not exempt, with its path from the root.
fn files() -> Vec<(String, PathBuf)> {
    let mut git = Command::new("git");
    let output = git.args(["ls-files", "-z"]).current_dir(root()).output();
    let output = output.expect("git is installed");
    assert!(output.status.success(), "git ls-files failed");
    let names = String::from_utf8(output.stdout).expect("paths are UTF-8");
    let names = names.split('\0').filter(|name| !name.is_empty());
    let names = names.filter(|name| !EXEMPT.iter().any(|exempt| name.contains(exempt)));
    names
        .map(|name| (name.to_owned(), root().join(name)))
        .collect()
}

/// Returns the section "Unreleased" of the changelog; released sections are history.
fn unreleased() -> String {
    let changelog = fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
    let (_, section) = changelog.split_once("\n## Unreleased\n").unwrap();
    section.split("\n## ").next().unwrap().to_owned()
}

/// Returns every banned word of a text with its line number.
fn banned_in(text: &str) -> Vec<(usize, &'static str, &'static str)> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let prose = line.to_lowercase();
        for (phrase, instead) in PHRASES {
            if contains(&prose, phrase) {
                found.push((number + 1, phrase, instead));
            }
        }
        for (name, instead) in TYPES {
            if contains(line, name) {
                found.push((number + 1, name, instead));
            }
        }
    }
    found
}

/// Returns `true` if a line contains a phrase that is not part of a longer word.
fn contains(line: &str, phrase: &str) -> bool {
    line.match_indices(phrase).any(|(start, _)| {
        let before = line[..start].chars().next_back();
        let after = line[start + phrase.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

#[test]
fn banned_words_are_found_in_prose_and_names() {
    let words = |text| {
        let found = banned_in(text).into_iter();
        found
            .map(|(line, word, _)| (line, word))
            .collect::<Vec<_>>()
    };
    assert_eq!(words("// the page is told"), [(1, "told")]);
    assert_eq!(words("ok\nfn is_told_once() {"), [(2, "told")]);
    assert_eq!(words("// A file of its own."), [(1, "of its own")]);
    assert_eq!(words("struct Ear;"), [(1, "Ear")]);
    assert_eq!(words("A stolid bear, an Earlier day, a wished-for end"), []);
}

#[test]
fn code_comments_and_documentation_use_plain_words() {
    let mut complaints = Vec::new();
    let mut count = 0;
    for (name, path) in files() {
        // A link to a folder, or a file that is no text.
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        count += 1;
        let found = banned_in(&text);
        for (line, word, instead) in found {
            complaints.push(format!("{name}:{line}: `{word}`; rather: {instead}"));
        }
    }
    for (line, word, instead) in banned_in(&unreleased()) {
        complaints.push(format!(
            "CHANGELOG.md, line {line} of Unreleased: `{word}`; rather: {instead}"
        ));
    }
    assert!(count > 500, "only {count} files were found");
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

//! The vocabulary of the repository: words that code, comments and documentation avoid, because a plain standard term
//! exists.

use std::fs;

use crate::repository::{root, tracked_files};

/// Words and phrases in lower case, with the plain words instead. A word is found in prose, and as a part of a name in
/// `snake_case` or `CamelCase`.
const PHRASES: [(&str, &str); 34] = [
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
    ("anybody", "any client, any page, any process"),
    ("door", "source, way, entry point"),
    ("doors", "sources, ways, entry points"),
    ("everybody", "every client, all customers"),
    ("goes on", "continues, stays open"),
    ("hear", "receive"),
    ("heard", "received"),
    ("hears", "receives"),
    ("keeper", "supervisor, cleanup"),
    ("passage", "request"),
    ("tell", "report, show, distinguish"),
    ("telling", "delivery, report"),
    ("tells", "reports, shows, distinguishes"),
    ("twist", "fault"),
    ("whom", "the customer, the store"),
];

/// Files with another vocabulary: translations, migrations with checksums, databases of releases, licences, generated files,
/// recorded test cases, and this list.
const EXEMPT: [&str; 10] = [
    "widget/locales/",
    "/migrations/",
    "tests/databases/",
    "/proptest-regressions/",
    "LICENSE",
    "Cargo.lock",
    "package-lock.json",
    "requirements.txt",
    ".svg",
    "tests/api/banned_words.rs",
];

fn banned_in(text: &str) -> Vec<(usize, &'static str, &'static str)> {
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let prose = split_names(line).to_lowercase();
        let banned = PHRASES
            .into_iter()
            .filter(|(phrase, _)| contains(&prose, phrase));
        found.extend(banned.map(|(phrase, instead)| (number, phrase, instead)));
    }
    found
}

/// Returns a line with a space where a `CamelCase` name begins a new word.
fn split_names(line: &str) -> String {
    let mut split = String::with_capacity(line.len());
    let mut before = ' ';
    for letter in line.chars() {
        if letter.is_uppercase() && (before.is_lowercase() || before.is_numeric()) {
            split.push(' ');
        }
        split.push(letter);
        before = letter;
    }
    split
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
fn code_comments_and_documentation_use_plain_words() {
    for (text, count) in [
        ("// the page is told", 1),
        ("ok\nfn is_told_once() {", 1),
        ("type FlorinDoor = isTold;", 2),
        ("A stolid bear, a wished-for end", 0),
    ] {
        assert_eq!(banned_in(text).len(), count, "{text}");
    }
    let (mut count, mut complaints) = (0, Vec::new());
    let is_exempt = |name: &String| EXEMPT.iter().any(|exempt| name.contains(exempt));
    for name in tracked_files().into_iter().filter(|name| !is_exempt(name)) {
        // A link to a folder, or a file that is no text.
        let Ok(text) = fs::read_to_string(root().join(&name)) else {
            continue;
        };
        count += 1;
        for (line, word, instead) in banned_in(&format!("{name}\n{text}")) {
            let line = line - 1;
            complaints.push(format!("{name}:{line}: `{word}`; rather: {instead}"));
        }
    }
    assert!(count > 500, "only {count} files were found");
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

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
/// cases, and this list.
const EXEMPT: [&str; 11] = [
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
    "tests/api/banned_words.rs",
];

/// Returns every banned word of a text with its line number.
fn banned_in(text: &str) -> Vec<(usize, &'static str, &'static str)> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let prose = split_names(line).to_lowercase();
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
    assert_eq!(
        words("type FlorinDoor = isTold;"),
        [(1, "told"), (1, "door")]
    );
    assert_eq!(words("an-overpaid-order-is-told.md"), [(1, "told")]);
    assert_eq!(words("A stolid bear, an Earlier day, a wished-for end"), []);
}

#[test]
fn code_comments_and_documentation_use_plain_words() {
    let mut complaints = Vec::new();
    let mut count = 0;
    let is_exempt = |name: &String| EXEMPT.iter().any(|exempt| name.contains(exempt));
    for name in tracked_files().into_iter().filter(|name| !is_exempt(name)) {
        for (_, word, instead) in banned_in(&name) {
            complaints.push(format!("{name}: the name has `{word}`; rather: {instead}"));
        }
        // A link to a folder, or a file that is no text.
        let Ok(text) = fs::read_to_string(root().join(&name)) else {
            continue;
        };
        count += 1;
        let found = banned_in(&text);
        for (line, word, instead) in found {
            complaints.push(format!("{name}:{line}: `{word}`; rather: {instead}"));
        }
    }
    assert!(count > 500, "only {count} files were found");
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

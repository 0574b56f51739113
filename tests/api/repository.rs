//! The files of the repository: words that code, comments and documentation avoid, because a plain standard term exists; every link
//! of the documentation has a target, and every page that code or tests name exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

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
    "tests/api/repository.rs",
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

fn prose(text: &str) -> Vec<&str> {
    let blocks = text.split("```").step_by(2);
    blocks.flat_map(str::lines).collect()
}

/// Returns the anchors that GitHub makes of the headings.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).into_iter().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let letters = heading.trim_start_matches('#').trim().to_lowercase();
        let letters = letters.chars().filter_map(|letter| match letter {
            ' ' => Some('-'),
            '-' | '_' => Some(letter),
            _ => letter.is_alphanumeric().then_some(letter),
        });
        letters.collect()
    };
    headings.map(anchor).collect()
}

/// Returns the targets of `[text](target)`, except in code spans.
fn links(text: &str) -> Vec<String> {
    let prose = prose(text).join(" ");
    let plain = prose.split('`').step_by(2).collect::<Vec<_>>().join("…");
    let targets = plain.split("](").skip(1);
    let targets = targets.filter_map(|rest| rest.split_once(')'));
    targets.map(|(target, _)| target.to_owned()).collect()
}

#[test]
fn every_link_has_a_file_and_a_heading() {
    let (mut count, mut broken) = (0, Vec::new());
    let files = tracked_files();
    let is_page = |name: &&String| Path::new(name).extension().is_some_and(|end| end == "md");
    for name in files.iter().filter(is_page) {
        let page = root().join(name);
        let text = fs::read_to_string(&page).unwrap();
        let links = links(&text).into_iter();
        for link in links.filter(|link| !link.contains("://") && !link.starts_with("mailto:")) {
            count += 1;
            let (path, heading) = link.split_once('#').unwrap_or((&link, ""));
            let target = match path {
                "" => page.clone(),
                _ => page.parent().unwrap().join(path),
            };
            let has_heading = |target: &Path| {
                heading.is_empty()
                    || anchors(&fs::read_to_string(target).unwrap()).contains(heading)
            };
            if !(target.exists() && has_heading(&target)) {
                broken.push(format!("{name}: {link}"));
            }
        }
    }
    assert!(count > 100, "the links were not found");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_site_has_every_page_once() {
    let mut listed = links(&text_of("docs/SUMMARY.md"));
    let files = tracked_files().into_iter();
    let pages = files.filter(|name| Path::new(name).extension().is_some_and(|end| end == "md"));
    let pages = pages.filter_map(|name| Some(name.strip_prefix("docs/")?.to_owned()));
    let mut pages: Vec<_> = pages.filter(|name| name != "SUMMARY.md").collect();
    listed.sort();
    pages.sort();
    assert_eq!(listed, pages);
}

#[test]
fn the_page_of_the_configuration_has_what_the_program_prints() {
    let page = text_of("docs/reference/configuration.md");
    let (_, keys) = page.split_once("\n## Keys\n\n").unwrap();
    let reference = florin_proxy::config::reference();
    assert!(
        keys == reference,
        "below `## Keys`, write what florin-proxy config-reference prints:\n{reference}"
    );
}

#[test]
fn every_page_named_in_code_exists() {
    let (mut count, mut missing) = (0, Vec::new());
    for name in tracked_files() {
        // A link to a folder, or a file that is no text.
        let Ok(text) = fs::read_to_string(root().join(&name)) else {
            continue;
        };
        for rest in text.split("docs/").skip(1) {
            let is_of_a_path =
                |letter: char| letter.is_ascii_alphanumeric() || "-_/.".contains(letter);
            let path = rest.split(|letter| !is_of_a_path(letter)).next().unwrap();
            let Some((path, "")) = path.trim_end_matches('.').rsplit_once(".md") else {
                continue;
            };
            count += 1;
            if !root().join(format!("docs/{path}.md")).exists() {
                missing.push(format!("{name}: docs/{path}.md"));
            }
        }
    }
    assert!(count > 20, "the names were not found");
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn every_part_of_the_checkout_is_in_the_documentation() {
    let page = text_of("docs/reference/element.md");
    let (_, docs) = page.split_once("\n## Parts\n").unwrap();
    let (docs, _) = docs.split_once("\n## ").unwrap();
    let mut parts = BTreeSet::new();
    let files = tracked_files().into_iter();
    let is_source = |file: &String| {
        ["widget/src/", "widget/js/"]
            .iter()
            .any(|at| file.starts_with(at))
    };
    for file in files.filter(is_source) {
        let text = text_of(&file).replace('\'', "\"");
        let text = text.replace(" part: \"", " part=\"");
        let attributes = text.split(" part=\"").skip(1);
        let methods = text.split("\"button ").skip(1);
        for part in attributes.chain(methods) {
            let names = part.split_once('"').unwrap().0;
            parts.extend(names.split(' ').map(str::to_owned));
        }
    }
    assert!(parts.len() > 15, "the parts were not found");
    for part in parts {
        assert!(docs.contains(&format!("`{part}`")), "{part}");
    }
}

pub(crate) fn tracked_files() -> Vec<String> {
    let mut git = Command::new("git");
    let output = git.args(["ls-files", "-z"]).current_dir(root()).output();
    let output = output.expect("git is installed");
    assert!(output.status.success(), "git ls-files failed");
    let names = String::from_utf8(output.stdout).expect("paths are UTF-8");
    let names = names.split('\0').filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}

pub(crate) fn root() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests
        .parent()
        .expect("tests is a folder of the repository")
        .to_owned()
}

pub(crate) fn text_of(path: &str) -> String {
    let text = fs::read_to_string(root().join(path));
    text.unwrap_or_else(|error| panic!("{path}: {error}"))
}

//! Every link of the documentation has a target, and every page that code or tests name exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::repository::{root, text_of, tracked_files};

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

fn is_page(name: &str) -> bool {
    Path::new(name)
        .extension()
        .is_some_and(|ending| ending == "md")
}

#[test]
fn every_link_has_a_file_and_a_heading() {
    let (mut count, mut broken) = (0, Vec::new());
    for name in tracked_files().iter().filter(|name| is_page(name)) {
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

//! Every link of the documentation has a target, and every page that code or tests name exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
const FOLDERS_OF_OTHERS: [&str; 5] = [".git", "target", "node_modules", "dist", ".mirror"];

/// Finds every file below a folder with one of these endings.
fn files(folder: &Path, ends: &[&str], found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if !FOLDERS_OF_OTHERS.contains(&name) {
                files(&path, ends, found);
            }
        } else if ends.iter().any(|end| name.ends_with(end)) {
            found.push(path);
        }
    }
}

/// Returns the lines outside code blocks.
fn prose(text: &str) -> Vec<&str> {
    let mut is_code = false;
    let outside = |line: &&str| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    };
    text.lines().filter(outside).collect()
}

/// Returns GitHub's anchor of a heading.
fn anchor(heading: &str) -> String {
    let letters = heading.trim().to_lowercase();
    let letters = letters.chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        _ => letter.is_alphanumeric().then_some(letter),
    });
    letters.collect()
}

fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).into_iter().filter(|line| line.starts_with('#'));
    headings
        .map(|line| anchor(line.trim_start_matches('#')))
        .collect()
}

/// Returns the targets of `[text](target)`, except in code spans.
fn links(text: &str) -> Vec<String> {
    let prose = prose(text).join(" ");
    let plain = prose.split('`').step_by(2).collect::<Vec<_>>().join("…");
    let targets = plain
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'));
    targets.map(|(target, _)| target.to_owned()).collect()
}

/// Resolves `..` without reading the file system, because a link may pass through missing folders.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir if normal.file_name().is_some() => drop(normal.pop()),
            Component::CurDir => {}
            _ => normal.push(part),
        }
    }
    normal
}

#[test]
fn every_link_has_a_file_and_a_heading() {
    let root = fs::canonicalize(ROOT).unwrap();
    let mut pages = Vec::new();
    files(&root, &[".md"], &mut pages);
    let (mut count, mut broken) = (0, Vec::new());
    for page in &pages {
        let text = fs::read_to_string(page).unwrap();
        for link in links(&text) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            count += 1;
            let (path, heading) = link.split_once('#').unwrap_or((&link, ""));
            let target = match path {
                "" => page.clone(),
                _ => normal(&page.parent().unwrap().join(path)),
            };
            let leads = target.exists()
                && (heading.is_empty()
                    || anchors(&fs::read_to_string(&target).unwrap()).contains(heading));
            if !leads {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(count > 100, "the links were not found");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_page_of_the_configuration_has_what_the_program_prints() {
    let root = fs::canonicalize(ROOT).unwrap();
    let page = fs::read_to_string(root.join("docs/reference/configuration.md")).unwrap();
    let (_, keys) = page.split_once("\n## Keys\n\n").unwrap();
    let reference = florin_proxy::config::reference();
    assert!(
        keys == reference,
        "below `## Keys`, write what florin-proxy config-reference prints:\n{reference}"
    );
}

#[test]
fn every_page_named_in_code_exists() {
    let root = fs::canonicalize(ROOT).unwrap();
    let mut sources = Vec::new();
    let ends = [".rs", ".js", ".ts", ".tsx", ".toml", ".html", ".md", ".sh"];
    files(&root, &ends, &mut sources);
    let (mut count, mut missing) = (0, Vec::new());
    for source in &sources {
        let text = fs::read_to_string(source).unwrap();
        for rest in text.split("docs/").skip(1) {
            let is_of_a_path =
                |letter: char| letter.is_ascii_alphanumeric() || "-_/.".contains(letter);
            let path = rest.split(|letter| !is_of_a_path(letter)).next().unwrap();
            let Some((path, "")) = path.trim_end_matches('.').rsplit_once(".md") else {
                continue;
            };
            count += 1;
            if !root.join(format!("docs/{path}.md")).exists() {
                missing.push(format!("{}: docs/{path}.md", source.display()));
            }
        }
    }
    assert!(count > 20, "the names were not found");
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

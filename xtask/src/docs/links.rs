//! Links: of the pages' Markdown, and of the built site.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The targets of `[text](target)`.
pub(super) fn targets(text: &str) -> Vec<&str> {
    let links = text.split("](").skip(1);
    links
        .filter_map(|rest| Some(rest.split_once(')')?.0))
        .collect()
}

/// A page `depth` folders below the repository, whose links to files outside `docs/` lead to their copies in `files/`. The
/// paths of these files are added to `files`.
pub(super) fn inside(page: &str, depth: usize, files: &mut Vec<String>) -> String {
    let out = "../".repeat(depth);
    let to_site = "../".repeat(depth - 1);
    let mut changed = page.to_owned();
    for target in targets(page) {
        if let Some(path) = target.strip_prefix(&out) {
            let (file, _) = path.split_once('#').unwrap_or((path, ""));
            files.push(file.to_owned());
            let copy = format!("]({to_site}{})", copy_of(file));
            changed = changed.replace(&format!("]({target})"), &copy);
        } else if target.contains("README.md") && !target.contains(':') {
            // mdBook names the page so, and not what leads to it.
            let page = target.replace("README.md", "index.md");
            changed = changed.replace(&format!("]({target})"), &format!("]({page})"));
        }
    }
    changed
}

/// Where the site has a file from outside `docs/`. mdBook takes an `.md` anywhere in a name for a page.
pub(super) fn copy_of(file: &str) -> String {
    format!("files/{}.txt", file.trim_end_matches(".md"))
}

/// The links of the site's pages to a file or a heading that is missing. All pages are files of mdBook or ours: attributes are
/// in double quotes.
pub(super) fn broken(site: &Path) -> anyhow::Result<Vec<String>> {
    let mut pages = BTreeMap::new();
    read_pages(site, &mut pages)?;
    let mut broken = Vec::new();
    for (page, text) in &pages {
        // The page of a missing page has the address of the site.
        if page.ends_with("404.html") {
            continue;
        }
        let links = ["href=\"", "src=\""].map(|attribute| text.split(attribute).skip(1));
        for link in links.into_iter().flatten() {
            let link = link.split('"').next().unwrap_or_default();
            if link.contains(':') {
                continue;
            }
            let (path, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = match path {
                "" => page.clone(),
                _ => normal(&page.with_file_name(path)),
            };
            let has_heading = heading.is_empty()
                || path.contains("pay.html")
                || pages
                    .get(&target)
                    .is_some_and(|text| text.contains(&format!("id=\"{heading}\"")));
            if !(target.is_file() && has_heading) {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    Ok(broken)
}

fn read_pages(folder: &Path, pages: &mut BTreeMap<PathBuf, String>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            read_pages(&path, pages)?;
        } else if path.extension().is_some_and(|end| end == "html") {
            let text = fs::read_to_string(&path)?;
            pages.insert(path, text);
        }
    }
    Ok(())
}

/// The path without its `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        if part.as_os_str() == ".." {
            normal.pop();
        } else {
            normal.push(part);
        }
    }
    normal
}

//! What a release says of its components: `LICENSES.txt`, under which terms they are linked into the programs, and the software
//! bill of materials, in CycloneDX.
//!
//! cargo-about (117 libraries to compile) knows crates alone: not the C code that they bring, and not the standard library.
//! cargo-cyclonedx (120 libraries) writes one file for each package of a workspace, beside its manifest. A release has one file for
//! its programs, of which one contains the widget, and for the C code that is linked into them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xshell::{Shell, cmd};

use super::PROGRAMS;
use super::components::{BLESSING, Component};

/// Shorter texts are notices of a copyright, or point to a licence.
const SHORTEST_LICENCE: usize = 500;

/// The list and the texts. A text that several components share is written once.
pub(crate) fn licences(root: &Path, components: &[Component]) -> anyhow::Result<String> {
    let mut list =
        "Florin is MIT or Apache-2.0: LICENSE-MIT, LICENSE-APACHE. Its programs contain:\n\n"
            .to_owned();
    let known = known_texts(root)?;
    let mut texts: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for component in components {
        let Component {
            name,
            version,
            licence,
            repository,
            ..
        } = component;
        let repository = repository.as_deref().unwrap_or("crates.io");
        let _ = writeln!(list, "{name} {version} · {licence} · {repository}");
        for text in texts_of(component, components, &known)? {
            let users = texts.entry(text).or_default();
            users.push(format!("{name} {version}"));
        }
    }
    for (text, users) in texts {
        let _ = write!(
            list,
            "\n{}\n{}\n\n{text}\n",
            "=".repeat(80),
            users.join(", ")
        );
    }
    Ok(list)
}

/// The texts of our own two licences, by their names and without our copyright.
fn known_texts(root: &Path) -> anyhow::Result<BTreeMap<&'static str, String>> {
    let files = [("MIT", "LICENSE-MIT"), ("Apache-2.0", "LICENSE-APACHE")];
    let texts = files.into_iter().map(|(name, file)| {
        let text = fs::read_to_string(root.join(file))?;
        let lines = text.lines().filter(|line| !line.starts_with("Copyright"));
        Ok((name, lines.collect::<Vec<_>>().join("\n")))
    });
    let mut texts: BTreeMap<_, String> = texts.collect::<anyhow::Result<_>>()?;
    let (before, after) = texts["MIT"]
        .split_once(DISCLAIMER)
        .context("LICENSE-MIT has its disclaimer")?;
    texts.insert(
        "MITNFA",
        format!("{before}{NO_FALSE_ATTRIBUTION}{DISCLAIMER}{after}"),
    );
    Ok(texts)
}

const DISCLAIMER: &str = "THE SOFTWARE IS PROVIDED";
/// What MITNFA adds to MIT. Source: SPDX, "MIT +no-false-attribs license".
const NO_FALSE_ATTRIBUTION: &str = "\
Distributions of all or part of the Software intended to be used by the
recipients as they would use the unmodified Software, containing modifications
that substantially alter, remove, or disable functionality of the Software,
outside of the documented configuration mechanisms provided by the Software,
shall be modified such that the Original Author's bug reporting email addresses
and urls are either replaced with the contact information of the parties
responsible for the changes, or removed entirely.

";

fn is_licence(text: &str) -> bool {
    text.len() > SHORTEST_LICENCE
}

/// CC0, whose text names no holder: any component's will do.
const DEDICATION: &str = "CC0-1.0";

/// The texts that come with a component. When none of them has the terms, these are added: as a component of the same
/// repository has them, or as we have them.
fn texts_of<'a>(
    component: &'a Component,
    all: &'a [Component],
    known: &'a BTreeMap<&str, String>,
) -> anyhow::Result<Vec<&'a str>> {
    let own = component.texts.iter().map(|text| text.trim());
    let mut texts: Vec<&str> = own.filter(|text| !text.is_empty()).collect();
    let is_complete = component.licence == BLESSING;
    if is_complete || texts.iter().any(|text| is_licence(text)) {
        return Ok(texts);
    }
    let siblings = all.iter().filter(|other| {
        let is_near = other.repository == component.repository || component.licence == DEDICATION;
        is_near && other.licence == component.licence
    });
    let mut theirs = siblings.flat_map(|sibling| &sibling.texts);
    if let Some(text) = theirs.find(|text| is_licence(text)) {
        texts.push(text.trim());
        return Ok(texts);
    }
    let names = component.licence.split(" OR ");
    let terms: Vec<&str> = names
        .filter_map(|name| Some(known.get(name)?.trim()))
        .collect();
    ensure!(
        !terms.is_empty(),
        "{} has a licence without a text: {}",
        component.name,
        component.licence
    );
    texts.extend(terms);
    Ok(texts)
}

/// The bill of a release as a JSON document of CycloneDX 1.5. `time` is in Unix seconds.
pub(crate) fn bill_of_materials(
    sh: &Shell,
    components: &[Component],
    target: &str,
    time: &str,
) -> anyhow::Result<String> {
    let time = cmd!(sh, "date --utc --date=@{time} +%FT%TZ").quiet().read();
    let time = time.context("SOURCE_DATE_EPOCH is no time")?;
    let version = env!("CARGO_PKG_VERSION");
    let own = format!("pkg:generic/florin@{version}");
    let mut dependencies = vec![json!({
        "ref": own,
        "dependsOn": components.iter().map(reference).collect::<Vec<_>>(),
    })];
    for component in components {
        let used = components.iter().filter(|other| {
            let key = (other.name.clone(), other.version.clone());
            component.uses.contains(&key)
        });
        dependencies.push(json!({
            "ref": reference(component),
            "dependsOn": used.map(reference).collect::<Vec<_>>(),
        }));
    }
    let bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": time,
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": "florin",
                "version": version,
                "description": format!("{} for {}", PROGRAMS.join(", "), target),
                "licenses": [{ "expression": env!("CARGO_PKG_LICENSE") }],
                "purl": own,
            },
        },
        "components": components.iter().map(component).collect::<Vec<_>>(),
        "dependencies": dependencies,
    });
    Ok(format!("{bill:#}\n"))
}

/// The package URL, which is unique in a bill.
fn reference(component: &Component) -> String {
    let (name, version) = (&component.name, &component.version);
    if component.is_crate {
        return format!("pkg:cargo/{name}@{version}");
    }
    let name = name.to_lowercase().replace(' ', "-");
    format!("pkg:generic/{name}@{version}")
}

fn component(component: &Component) -> Value {
    let mut entry = json!({
        "type": "library",
        "bom-ref": reference(component),
        "name": component.name,
        "version": component.version,
        "scope": "required",
        "licenses": [{ "expression": component.licence }],
        "purl": reference(component),
    });
    if component.licence == BLESSING {
        entry["licenses"] = json!([{ "license": { "id": BLESSING } }]);
    }
    if let Some(checksum) = &component.checksum {
        entry["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
    }
    if let Some(repository) = &component.repository {
        entry["externalReferences"] = json!([{ "type": "vcs", "url": repository }]);
    }
    entry
}

#[cfg(test)]
mod tests {
    use super::*;

    fn component(licence: &str, texts: &[&str]) -> Component {
        Component {
            name: "a".to_owned(),
            version: "1.0.0".to_owned(),
            licence: licence.to_owned(),
            repository: Some("here".to_owned()),
            checksum: None,
            texts: texts.iter().map(|text| (*text).to_owned()).collect(),
            uses: Vec::new(),
            is_crate: true,
        }
    }

    #[test]
    fn a_crate_without_a_text_gets_those_of_its_licences() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let licences = |components: &[Component]| licences(&root, components);
        let list = licences(&[component("MIT OR Apache-2.0", &[])]).unwrap();
        assert!(list.contains("Permission is hereby granted"), "{list}");
        assert!(list.contains("TERMS AND CONDITIONS FOR USE"), "{list}");
        let own = "own terms ".repeat(60);
        let list = licences(&[component("MIT", &[&own])]).unwrap();
        assert!(list.contains(own.trim()) && !list.contains("Permission is"));
        let siblings = [component("ISC", &[]), component("ISC", &[&own])];
        assert!(licences(&siblings).unwrap().contains("a 1.0.0, a 1.0.0"));
        assert!(licences(&[component("Fantasy-1.0", &[])]).is_err());
    }
}

//! `LICENSES.txt`: what is linked into the programs, and under which terms.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::Context as _;
use spdx::Expression;

use crate::components::Component;

/// The list and the texts. A text that several components share is written once.
///
/// # Errors
/// An expression is not SPDX, or a licence has no text.
pub(crate) fn licences(components: &[Component]) -> anyhow::Result<String> {
    let mut list =
        "Florin is MIT or Apache-2.0: LICENSE-MIT, LICENSE-APACHE. Its programs contain:\n\n"
            .to_owned();
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
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
        for text in texts_of(component)? {
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

/// The texts that come with it. The terms themselves are added when none of its texts has them.
fn texts_of(component: &Component) -> anyhow::Result<Vec<String>> {
    let trimmed = component.texts.iter().map(|text| text.trim().to_owned());
    let mut texts: Vec<String> = trimmed.filter(|text| !text.is_empty()).collect();
    // Shorter than any licence: a notice of the copyright.
    if texts.iter().any(|text| text.len() > 500) {
        return Ok(texts);
    }
    let name = &component.name;
    let expression = Expression::parse(&component.licence)
        .map_err(|error| anyhow::anyhow!("the licence of {name}: {error}"))?;
    for requirement in expression.requirements() {
        let id = requirement.req.license.id();
        let id = id.with_context(|| format!("{name} has a licence without a text"))?;
        texts.push(id.text().trim().to_owned());
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn component(licence: &str, texts: &[&str]) -> Component {
        Component {
            name: "a".to_owned(),
            version: "1.0.0".to_owned(),
            licence: licence.to_owned(),
            repository: None,
            checksum: None,
            texts: texts.iter().map(|text| (*text).to_owned()).collect(),
            uses: Vec::new(),
            is_crate: true,
        }
    }

    #[test]
    fn a_crate_without_a_text_gets_those_of_its_licences() {
        let list = licences(&[component("MIT OR Apache-2.0", &[])]).unwrap();
        assert!(list.contains("Permission is hereby granted"), "{list}");
        assert!(list.contains("TERMS AND CONDITIONS FOR USE"), "{list}");
        let own = "own terms ".repeat(60);
        let list = licences(&[component("MIT", &[&own])]).unwrap();
        assert!(list.contains(own.trim()) && !list.contains("Permission is"));
    }

    #[test]
    fn an_unknown_licence_is_refused() {
        assert!(licences(&[component("Fantasy-1.0", &[])]).is_err());
    }
}

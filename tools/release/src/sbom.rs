//! The software bill of materials, in CycloneDX.
//!
//! cargo-cyclonedx writes one file for each package of a workspace, beside its manifest. A release has one file for two
//! programs, of which one contains the widget, and for the C code that is linked into them.

use anyhow::Context as _;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::Release;
use crate::components::Component;
use crate::programs::PROGRAMS;

/// The bill of a release as a JSON document of CycloneDX 1.5.
///
/// # Errors
/// The time is no time.
pub fn bill_of_materials(release: &Release) -> anyhow::Result<String> {
    let version = env!("CARGO_PKG_VERSION");
    let own = format!("pkg:generic/florin@{version}");
    let mut dependencies = vec![json!({
        "ref": own,
        "dependsOn": release.components.iter().map(reference).collect::<Vec<_>>(),
    })];
    for component in &release.components {
        let used = release.components.iter().filter(|other| {
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
            "timestamp": rfc3339(release.time)?,
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": "florin",
                "version": version,
                "description": format!("{} for {}", PROGRAMS.join(" and "), release.target),
                "licenses": [{ "expression": env!("CARGO_PKG_LICENSE") }],
                "purl": own,
            },
        },
        "components": release.components.iter().map(component).collect::<Vec<_>>(),
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
    if component.licence == "blessing" {
        entry["licenses"] = json!([{ "license": { "id": "blessing" } }]);
    }
    if let Some(checksum) = &component.checksum {
        entry["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
    }
    if let Some(repository) = &component.repository {
        entry["externalReferences"] = json!([{ "type": "vcs", "url": repository }]);
    }
    entry
}

/// A time in Unix seconds as RFC 3339.
fn rfc3339(time: u64) -> anyhow::Result<String> {
    let time = Timestamp::from_second(i64::try_from(time)?);
    Ok(time.context("SOURCE_DATE_EPOCH is no time")?.to_string())
}

//! The software bill of materials, in CycloneDX.
//!
//! cargo-cyclonedx (120 libraries to compile) writes one file for each package of a workspace, beside its manifest. A release has
//! one file for two programs, of which one contains the widget, and for the C code that is linked into them.

use anyhow::Context as _;
use serde_json::{Value, json};
use xshell::{Shell, cmd};

use super::PROGRAMS;
use super::components::{BLESSING, Component};

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
                "description": format!("{} for {}", PROGRAMS.join(" and "), target),
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

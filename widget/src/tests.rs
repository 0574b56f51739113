//! The order of the layers, held by reading the source.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The layers from the bottom up; those of one line stand beside each other.
const LAYERS: [&[&str]; 9] = [
    &["format"],
    &["browser", "host"],
    &["i18n"],
    &["state"],
    &["net"],
    &["components"],
    &["screens"],
    &["app"],
    &["element", "lib", "main"],
];

fn source_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Every file of product code: its module path (`net::polling::stream`) and its text.
fn modules() -> BTreeMap<String, String> {
    fn collect(folder: &Path, prefix: &str, modules: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let name = format!("{prefix}{stem}");
            if path.is_dir() {
                collect(&path, &format!("{name}::"), modules);
            } else if stem != "tests" {
                let text = fs::read_to_string(&path).unwrap();
                let product = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
                modules.insert(name, product.to_owned());
            }
        }
    }
    let mut found = BTreeMap::new();
    collect(&source_folder(), "", &mut found);
    assert!(found.len() > 40, "the source was not found");
    found
}

fn layer(module: &str) -> usize {
    let name = module.split("::").next().unwrap();
    let place = LAYERS.iter().position(|layer| layer.contains(&name));
    place.unwrap_or_else(|| panic!("{name} is in no layer: add it to LAYERS"))
}

/// The modules that a module imports by `use crate::…`, each the longest that names a file.
fn imports(name: &str, text: &str, modules: &BTreeMap<String, String>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for path in text.split("crate::").skip(1) {
        let path: String = path
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ':'))
            .collect();
        let mut path = path.trim_end_matches(':');
        while !modules.contains_key(path) {
            let Some((shorter, _)) = path.rsplit_once("::") else {
                break;
            };
            path = shorter;
        }
        if modules.contains_key(path) && path != name {
            found.insert(path.to_owned());
        }
    }
    found
}

#[test]
fn a_layer_imports_only_layers_below_it() {
    let modules = modules();
    for (name, text) in &modules {
        for import in imports(name, text, &modules) {
            let is_same_folder = import.split("::").next() == name.split("::").next();
            assert!(
                is_same_folder || layer(&import) < layer(name),
                "{name} imports {import}, which is not below it"
            );
        }
    }
}

#[test]
fn every_part_is_in_the_documentation() {
    let page = include_str!("../../docs/reference/element.md");
    let (_, docs) = page.split_once("\n## Parts\n").unwrap();
    let (docs, _) = docs.split_once("\n## ").unwrap();
    let mut parts = BTreeSet::new();
    for text in modules().values() {
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

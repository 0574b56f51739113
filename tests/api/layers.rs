//! The files of a crate import each other without circles, and layers import only those below them. Tests are left out: they
//! name what they like. A path counts as the file that it leads to, without following re-exports. A module and the modules
//! around it belong together: what a file names of those is no import.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};
use syn::{Attribute, ItemMod, ItemUse, UseTree, Visibility};

use crate::repository::{text_of, tracked_files};

/// Layers of the widget, the lowest first, as in `widget/src/lib.rs`.
const WIDGET: [&[&str]; 9] = [
    &["format"],
    &["browser", "host"],
    &["i18n"],
    &["state"],
    &["net"],
    &["components"],
    &["screens"],
    &["app"],
    &["element"],
];

/// Modules of the proxy that import neither the endpoints nor their framework.
const BELOW_HTTP: [&str; 11] = [
    "auth",
    "clock",
    "config",
    "connection_slots",
    "orders",
    "payments",
    "rate_limit",
    "request_ids",
    "state",
    "webhooks",
    "workers",
];

type Module = Vec<String>;

/// The files of a crate as modules, with the paths that they name. Those of the crate begin with `crate`.
struct Crate(BTreeMap<Module, BTreeSet<Vec<String>>>);

impl Crate {
    /// Reads the tracked files of a folder.
    fn read(folder: &str) -> Self {
        let tracked = tracked_files();
        let has_library = tracked.contains(&format!("{folder}/lib.rs"));
        let mut files = BTreeMap::new();
        for name in &tracked {
            let below = name
                .strip_prefix(folder)
                .and_then(|name| name.strip_prefix('/'));
            let Some(below) = below.and_then(|name| name.strip_suffix(".rs")) else {
                continue;
            };
            let module: Module = match below {
                "lib" => Vec::new(),
                "main" if !has_library => Vec::new(),
                _ => below.split('/').map(str::to_owned).collect(),
            };
            if !module.contains(&"tests".to_owned()) {
                let text = text_of(name);
                let paths = paths_in(&module, &text);
                files.insert(module, paths);
            }
        }
        Self(files)
    }

    /// Returns the other file of the crate that a path leads to.
    fn file_of(&self, module: &Module, path: &[String]) -> Option<Module> {
        let path = match path.split_first()? {
            (first, rest) if first == "crate" => rest.to_vec(),
            _ => [module, path].concat(),
        };
        let mut beginnings = (0..=path.len()).rev().map(|length| &path[..length]);
        let file = beginnings.find(|beginning| self.0.contains_key(*beginning))?;
        (!module.starts_with(file)).then(|| file.to_vec())
    }

    fn imports(&self, module: &Module) -> BTreeSet<Module> {
        let paths = self.0[module].iter();
        paths
            .filter_map(|path| self.file_of(module, path))
            .collect()
    }

    /// Returns every file that imports itself through others.
    fn circles(&self) -> Vec<String> {
        let imports: BTreeMap<_, _> = self
            .0
            .keys()
            .map(|file| (file, self.imports(file)))
            .collect();
        let is_in_circle = |file: &&Module| {
            let mut reached = BTreeSet::new();
            let mut next: Vec<&Module> = imports[*file].iter().collect();
            while let Some(module) = next.pop() {
                if reached.insert(module) {
                    next.extend(&imports[module]);
                }
            }
            reached.contains(file)
        };
        let files = self.0.keys().filter(is_in_circle);
        files.map(|file| file.join("::")).collect()
    }

    /// Returns the imports from modules to others, each by its first name, as sentences.
    fn edges(&self, from: &[&str], to: &[&str]) -> Vec<String> {
        let is_in = |module: &Module, names: &[&str]| {
            module
                .first()
                .is_some_and(|first| names.contains(&first.as_str()))
        };
        let files = self.0.keys().filter(|file| is_in(file, from));
        let edges = files.flat_map(|file| {
            let imported = self
                .imports(file)
                .into_iter()
                .filter(|other| is_in(other, to));
            imported.map(|other| format!("{} imports {}", file.join("::"), other.join("::")))
        });
        edges.collect()
    }
}

/// Returns the paths that a file names, in imports and code.
fn paths_in(module: &Module, text: &str) -> BTreeSet<Vec<String>> {
    let mut reader = Reader {
        module: module.clone(),
        paths: BTreeSet::new(),
    };
    reader.visit_file(&syn::parse_file(text).expect("a source is Rust"));
    reader.paths
}

struct Reader {
    /// The module of the file, or one inside the file.
    module: Module,
    paths: BTreeSet<Vec<String>>,
}

impl Reader {
    fn absolute(&self, path: Vec<String>) -> Vec<String> {
        let ups = path.iter().take_while(|part| *part == "super").count();
        if ups == 0 && path.first().is_none_or(|first| first != "self") {
            return path;
        }
        let above = &self.module[..self.module.len().saturating_sub(ups)];
        let rest = &path[ups.max(1)..];
        [&["crate".to_owned()], above, rest].concat()
    }

    fn is_for_tests(attributes: &[Attribute]) -> bool {
        let mut lists = attributes
            .iter()
            .filter_map(|one| one.meta.require_list().ok());
        lists.any(|list| list.path.is_ident("cfg") && list.tokens.to_string().contains("test"))
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !Self::is_for_tests(&item.attrs) {
            self.module.push(item.ident.to_string());
            visit::visit_item_mod(self, item);
            self.module.pop();
        }
    }

    /// A module that re-exports its own child is an index, and does not depend on it.
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if Self::is_for_tests(&item.attrs) {
            return;
        }
        let own = [&["crate".to_owned()], self.module.as_slice()].concat();
        let is_public = !matches!(item.vis, Visibility::Inherited);
        let paths = leaves(&item.tree, &[])
            .into_iter()
            .map(|path| self.absolute(path));
        let paths: Vec<_> = paths
            .filter(|path| !(is_public && path.starts_with(&own)))
            .collect();
        self.paths.extend(paths);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let parts = path.segments.iter().map(|part| part.ident.to_string());
        let parts: Vec<_> = parts.collect();
        if parts.len() > 1 {
            self.paths.insert(self.absolute(parts));
        }
        visit::visit_path(self, path);
    }

    /// `pub(in crate::client)` imports nothing.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}
}

fn leaves(tree: &UseTree, before: &[String]) -> Vec<Vec<String>> {
    let with = |part: String| [before, &[part]].concat();
    match tree {
        UseTree::Path(path) => leaves(&path.tree, &with(path.ident.to_string())),
        UseTree::Name(name) => vec![with(name.ident.to_string())],
        UseTree::Rename(renamed) => vec![with(renamed.ident.to_string())],
        UseTree::Glob(_) => vec![before.to_vec()],
        UseTree::Group(group) => group
            .items
            .iter()
            .flat_map(|tree| leaves(tree, before))
            .collect(),
    }
}

#[test]
fn files_import_each_other_without_circles() {
    let tracked = tracked_files();
    let folder_of = |name: &'static str| {
        tracked
            .iter()
            .filter_map(move |file| file.strip_suffix(name))
    };
    let crates: BTreeSet<&str> = folder_of("/lib.rs").chain(folder_of("/main.rs")).collect();
    assert!(crates.contains("crates/storage/src"), "{crates:?}");
    for folder in crates {
        assert_eq!(Crate::read(folder).circles(), [""; 0], "{folder}");
    }
}

#[test]
fn a_circle_is_found_however_it_is_written() {
    let in_test = "#[cfg(test)] mod tests { use crate::a::A; }";
    for (a, b, count) in [
        ("use crate::b::B;", "use super::{x, a::A};", 2),
        ("fn f() -> super::b::B {}", "impl crate::a::A {}", 2),
        ("mod b { use crate::b::B; }", "use crate::a::*;", 2),
        ("use crate::b::B;", in_test, 0),
        ("pub(in crate::b) struct A;", "use crate::a::A;", 0),
    ] {
        let files = [("a", a), ("b", b)].map(|(name, text)| {
            let module = vec![name.to_owned()];
            let paths = paths_in(&module, text);
            (module, paths)
        });
        let circles = Crate(files.into()).circles();
        assert_eq!(circles.len(), count, "{a} and {b}: {circles:?}");
    }
}

#[test]
fn lower_layers_import_no_higher_ones() {
    let nothing: [&str; 0] = [];
    let widget = Crate::read("widget/src");
    for (number, layer) in WIDGET.iter().enumerate() {
        let above = WIDGET[number + 1..].concat();
        assert_eq!(widget.edges(layer, &above), nothing);
    }
    let proxy = Crate::read("proxy/src");
    for (from, above) in [
        (&BELOW_HTTP[..], &["http", "admin", "staff"][..]),
        (
            &["auth", "config", "webhooks"],
            &["workers", "server", "state"],
        ),
        (&["http"], &["admin", "staff", "workers", "server"]),
    ] {
        assert_eq!(proxy.edges(from, above), nothing);
    }
    let uses_axum = |file: &Module| proxy.0[file].iter().any(|path| path[0] == "axum");
    let users: Vec<_> = proxy.0.keys().filter(|file| uses_axum(file)).collect();
    let wrong = users
        .iter()
        .filter(|file| BELOW_HTTP.contains(&file[0].as_str()));
    assert_eq!(wrong.count(), 0, "{users:?}");
    // A search that finds no import would accept every one.
    assert_ne!(proxy.edges(&["http"], &["payments"]), nothing);
    assert_ne!(users.len(), 0);
}

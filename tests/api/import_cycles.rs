//! The files of a crate import each other without circles: each can be read and changed without all others of its circle.
//!
//! A file depends on the file that defines what it names; `pub use` of a module's own child is an index and no dependency.
//! Tests are left out: they name what they like.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, ItemUse, UseTree, Visibility};

use crate::dependency_rules::{files, root};

/// A module's path below its crate: empty for the root.
type Module = Vec<String>;

/// What a file names: imports and paths, and what it re-exports under another name.
#[derive(Default)]
struct Names {
    /// Paths that the code uses, from the crate's root.
    uses: BTreeSet<Module>,
    /// Name to path: `pub use` of a module's own child is an index, not a dependency.
    reexports: BTreeMap<String, Module>,
    children: BTreeSet<String>,
}

/// The modules of a crate, one per file.
struct Crate(BTreeMap<Module, Names>);

impl Crate {
    fn read(source: &Path) -> Self {
        let mut found = Self(BTreeMap::new());
        for file in files(source) {
            let text = fs::read_to_string(&file).expect("a source is text");
            let mut module: Module = file
                .strip_prefix(source)
                .expect("the file is below its folder")
                .with_extension("")
                .iter()
                .map(|part| part.to_str().expect("a name of a module").to_owned())
                .collect();
            if module.iter().any(|part| part == "tests") {
                continue;
            }
            if matches!(module.last().map(String::as_str), Some("lib" | "main")) {
                module.pop();
            }
            found.add(&module, &text);
        }
        found
    }

    fn add(&mut self, module: &Module, text: &str) {
        let names = self.0.entry(module.clone()).or_default();
        names.read(module, text);
    }

    /// The file that defines what a path names, through re-exports.
    fn file_of(&self, path: &[String]) -> Option<Module> {
        let mut module = Module::new();
        for (depth, part) in path.iter().enumerate() {
            let names = self.0.get(&module)?;
            let mut child = module.clone();
            child.push(part.clone());
            if self.0.contains_key(&child) {
                module = child;
            } else if let Some(target) = names.reexports.get(part) {
                let target: Module = target.iter().chain(&path[depth + 1..]).cloned().collect();
                return if target == path {
                    Some(module)
                } else {
                    self.file_of(&target)
                };
            } else {
                break;
            }
        }
        Some(module)
    }

    /// The imports of each file.
    fn edges(&self) -> BTreeMap<Module, BTreeSet<Module>> {
        let imports = self.0.iter().map(|(module, names)| {
            let imported = names.uses.iter().filter_map(|path| self.file_of(path));
            let imported = imported.filter(|other| other != module).collect();
            (module.clone(), imported)
        });
        imports.collect()
    }

    /// Groups of files each of which imports all others, directly or not.
    fn circles(&self) -> Vec<BTreeSet<String>> {
        let edges = self.edges();
        let reach: BTreeMap<&Module, BTreeSet<&Module>> = edges
            .keys()
            .map(|module| (module, reachable(&edges, module)))
            .collect();
        let mut circles = BTreeSet::new();
        for (module, reached) in &reach {
            if reached.contains(module) {
                let mutual = reached
                    .iter()
                    .filter(|other| reach[*other].contains(module));
                circles.insert(
                    mutual
                        .map(|module| module.join("::"))
                        .collect::<BTreeSet<_>>(),
                );
            }
        }
        circles.into_iter().collect()
    }
}

fn reachable<'a>(
    edges: &'a BTreeMap<Module, BTreeSet<Module>>,
    from: &'a Module,
) -> BTreeSet<&'a Module> {
    let mut found = BTreeSet::new();
    let mut next: Vec<&Module> = edges[from].iter().collect();
    while let Some(module) = next.pop() {
        if found.insert(module) {
            next.extend(&edges[module]);
        }
    }
    found
}

impl Names {
    fn read(&mut self, module: &Module, text: &str) {
        let file = syn::parse_file(text).expect("a source is Rust");
        let declared = file.items.iter().filter_map(|item| match item {
            Item::Mod(declared) => Some(declared.ident.to_string()),
            _ => None,
        });
        self.children.extend(declared);
        Reader {
            module,
            names: self,
        }
        .visit_file(&file);
    }
}

struct Reader<'a> {
    module: &'a Module,
    names: &'a mut Names,
}

impl Reader<'_> {
    /// A path from the crate's root, if it names something of the crate.
    fn absolute(&self, path: &[String]) -> Option<Module> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some(self.module.iter().chain(rest).cloned().collect()),
            "super" => {
                let (_, mut parent) = self.module.split_last()?;
                let mut rest = rest;
                while rest.first().is_some_and(|part| part == "super") {
                    (_, parent) = parent.split_last()?;
                    rest = &rest[1..];
                }
                Some(parent.iter().chain(rest).cloned().collect())
            }
            child if self.names.children.contains(child) => {
                Some(self.module.iter().chain(path).cloned().collect())
            }
            _ => None,
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if is_for_tests(&item.attrs) {
            return;
        }
        let is_private = matches!(item.vis, Visibility::Inherited);
        for (name, path) in leaves(&item.tree, &[]) {
            let Some(path) = self.absolute(&path) else {
                continue;
            };
            let is_index = !is_private && path.starts_with(self.module);
            if !is_index {
                self.names.uses.insert(path.clone());
            }
            if !is_private {
                self.names.reexports.insert(name, path);
            }
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let parts: Vec<String> = path
            .segments
            .iter()
            .map(|part| part.ident.to_string())
            .collect();
        if parts.len() > 1 {
            self.names.uses.extend(self.absolute(&parts));
        }
        visit::visit_path(self, path);
    }

    /// `pub(in crate::client)` imports nothing.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}
}

fn leaves(tree: &UseTree, before: &[String]) -> Vec<(String, Module)> {
    let with = |part: String| [before, &[part]].concat();
    match tree {
        UseTree::Path(path) => leaves(&path.tree, &with(path.ident.to_string())),
        UseTree::Name(name) if name.ident == "self" => {
            vec![(before.last().cloned().unwrap_or_default(), before.to_vec())]
        }
        UseTree::Name(name) => vec![(name.ident.to_string(), with(name.ident.to_string()))],
        UseTree::Rename(renamed) => {
            vec![(renamed.rename.to_string(), with(renamed.ident.to_string()))]
        }
        UseTree::Glob(_) => vec![("*".to_owned(), before.to_vec())],
        UseTree::Group(group) => group
            .items
            .iter()
            .flat_map(|tree| leaves(tree, before))
            .collect(),
    }
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .meta
                .require_list()
                .is_ok_and(|list| list.tokens.to_string().contains("test"))
    })
}

/// The folders with the files of one crate each.
const SOURCES: [&str; 22] = [
    "crates/address/src",
    "crates/checkout-api/src",
    "crates/gateway/src",
    "crates/gateway/tests/it",
    "crates/invariants/src",
    "crates/money/src",
    "crates/orders/src",
    "crates/sandbox/src",
    "crates/sandbox/tests/it",
    "crates/storage/src",
    "examples/shop/src",
    "examples/shop/tests/it",
    "proxy/src",
    "tests/api",
    "tests/browser",
    "tests/simulation",
    "tests/src",
    "tools/auditor/src",
    "tools/bundle-js/src",
    "tools/demo/src",
    "widget/src",
    "xtask/src",
];

#[test]
fn files_import_each_other_without_circles() {
    let found: Vec<_> = SOURCES
        .into_iter()
        .flat_map(|source| {
            let found = Crate::read(&root().join(source));
            assert!(found.0.len() > 1, "{source} has files");
            let circles = found.circles().into_iter();
            circles.map(move |circle| (source, circle.into_iter().collect::<Vec<_>>()))
        })
        .collect();
    assert_eq!(found, []);
}

fn circles(modules: &[(&str, &str)]) -> Vec<BTreeSet<String>> {
    let mut found = Crate(BTreeMap::new());
    for (path, text) in modules {
        let module = path.split("::").filter(|part| !part.is_empty());
        found.add(&module.map(ToOwned::to_owned).collect(), text);
    }
    found.circles()
}

/// A reader that finds no import would let every circle pass.
#[test]
fn a_circle_is_found_however_it_is_written() {
    let root = "mod a; mod b; mod c; pub use a::A; pub use b::{B as Renamed, inner};";
    for (a, b) in [
        ("use crate::b::B;", "use crate::a::A;"),
        ("use crate::{Renamed, x};", "fn f() -> crate::A { todo!() }"),
        ("use super::b::{self, x};", "use super::{c::C, a};"),
        ("use crate::c::C;", "use crate::A;"),
        ("impl crate::b::B {}", "type T = Vec<super::a::A>;"),
    ] {
        let found = circles(&[("", root), ("a", a), ("b", b), ("c", "use crate::b::B;")]);
        let [circle] = found.as_slice() else {
            panic!("{a} and {b}: {found:?}");
        };
        assert!(circle.contains("a") && circle.contains("b"), "{circle:?}");
    }
}

#[test]
fn a_file_and_its_own_child_are_two_files() {
    let parent = "mod child; use self::child::f; pub struct P;";
    let found = circles(&[("", "mod a;"), ("a", parent), ("a::child", "use super::P;")]);
    assert_eq!(found.len(), 1);
    let parent = "mod child; fn f() { child::g() }";
    let found = circles(&[
        ("", "mod a;"),
        ("a", parent),
        ("a::child", "type P = super::P;"),
    ]);
    assert_eq!(found.len(), 1);
}

#[test]
fn an_index_and_tests_make_no_circle() {
    let a = "mod child; pub use self::child::C; pub struct A;";
    let b = "use crate::C; #[cfg(test)] mod tests { use crate::a::A; }";
    let child = "use super::A; pub(in crate::a) struct C; #[cfg(test)] use crate::b::B;";
    let modules = [
        ("", "mod a; mod b; pub use a::{A, C};"),
        ("a", a),
        ("a::child", child),
    ];
    assert_eq!(circles(&modules), Vec::<BTreeSet<String>>::new());
    let with_b = [modules[0], modules[1], modules[2], ("b", b)];
    assert_eq!(circles(&with_b), Vec::<BTreeSet<String>>::new());
}

//! The imports between the files of a crate, read from their text.
//!
//! A file depends on the file that defines what it names: through imports, paths and the tokens of macros, and through
//! re-exports. `pub use` of a module's own child is an index and no dependency. Tests are left out: they name what they
//! like.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use syn::buffer::{Cursor, TokenBuffer};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, ItemUse, Macro, UseTree, Visibility};

use crate::dependency_rules::files;

/// A module's path below its crate: empty for the root.
pub(crate) type Module = Vec<String>;

/// What a file names: imports and paths, and what it re-exports under another name.
#[derive(Default)]
struct Names {
    /// Paths from the crate's root that the file imports.
    imports: BTreeSet<Module>,
    /// Paths of the code and of the tokens of macros, as they are written.
    paths: BTreeSet<Vec<String>>,
    /// Name to path, of every import: a child may name what its parent imports.
    imported: BTreeMap<String, Module>,
    /// Modules of which everything is imported by a `*`.
    globs: BTreeSet<Module>,
    /// Crates that the file imports from.
    externals: BTreeSet<String>,
    /// The items that the file defines.
    items: BTreeSet<String>,
    children: BTreeSet<String>,
}

/// The modules of a crate, one per file.
pub(crate) struct Crate(BTreeMap<Module, Names>);

impl Crate {
    /// Reads the files of a folder.
    pub(crate) fn read(source: &Path) -> Self {
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

    /// A crate of texts, each with the path of its module: `a::b`.
    pub(crate) fn of(modules: &[(&str, &str)]) -> Self {
        let mut found = Self(BTreeMap::new());
        for (path, text) in modules {
            let module = path.split("::").filter(|part| !part.is_empty());
            found.add(&module.map(ToOwned::to_owned).collect(), text);
        }
        found
    }

    /// The number of files.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The files that name something of another crate.
    pub(crate) fn users_of(&self, name: &str) -> BTreeSet<Module> {
        let users = self.0.iter().filter(|(_, names)| {
            names.externals.contains(name) || names.paths.iter().any(|path| path[0] == name)
        });
        users.map(|(module, _)| module.clone()).collect()
    }

    fn add(&mut self, module: &Module, text: &str) {
        let names = self.0.entry(module.clone()).or_default();
        names.read(module, text);
    }

    /// The file that defines what a path names, through re-exports. A module and a function may have one name: an import
    /// is then of the module, and a path in the code of the function.
    fn file_of(&self, path: &[String], is_import: bool) -> Option<Module> {
        self.resolve(path, is_import, &mut BTreeSet::new())
    }

    /// `tried` ends a circle of re-exports.
    fn resolve(
        &self,
        path: &[String],
        is_import: bool,
        tried: &mut BTreeSet<Module>,
    ) -> Option<Module> {
        if !tried.insert(path.to_vec()) {
            return None;
        }
        let mut module = Module::new();
        for (depth, part) in path.iter().enumerate() {
            let names = self.0.get(&module)?;
            let mut child = module.clone();
            child.push(part.clone());
            let rest = &path[depth + 1..];
            let is_function = rest.is_empty() && !is_import && names.imported.contains_key(part);
            if self.0.contains_key(&child) && !is_function {
                module = child;
            } else if names.items.contains(part) {
                break;
            } else if let Some(target) = names.imported.get(part) {
                let target = [target, rest].concat();
                return self.resolve(&target, is_import, tried).or(Some(module));
            } else {
                let through = names.globs.iter().find_map(|glob| {
                    let target = [glob, &path[depth..]].concat();
                    let found = self.resolve(&target, is_import, tried)?;
                    self.defines(&found, part).then_some(found)
                });
                return through.or(Some(module));
            }
        }
        Some(module)
    }

    fn defines(&self, module: &Module, item: &str) -> bool {
        self.0
            .get(module)
            .is_some_and(|names| names.items.contains(item))
    }

    /// The imports of each file.
    pub(crate) fn edges(&self) -> BTreeMap<Module, BTreeSet<Module>> {
        let edges = self.0.iter().map(|(module, names)| {
            let imports = names
                .imports
                .iter()
                .filter_map(|path| self.file_of(path, true));
            let paths = names
                .paths
                .iter()
                .filter_map(|path| self.file_of(&names.absolute(module, path)?, false));
            let files = imports.chain(paths);
            let imported = files.filter(|other| other != module).collect();
            (module.clone(), imported)
        });
        edges.collect()
    }
}

impl Names {
    fn read(&mut self, module: &Module, text: &str) {
        let file = syn::parse_file(text).expect("a source is Rust");
        for item in &file.items {
            if let Item::Mod(declared) = item {
                self.children.insert(declared.ident.to_string());
            }
            self.items.extend(name_of(item));
        }
        Reader {
            module: module.clone(),
            names: self,
        }
        .visit_file(&file);
    }

    /// A path from the crate's root, if it names something of the crate.
    fn absolute(&self, module: &Module, path: &[String]) -> Option<Module> {
        let (first, rest) = path.split_first()?;
        let below = |module: &[String], rest: &[String]| Some([module, rest].concat());
        match first.as_str() {
            "crate" => below(&[], rest),
            "self" => below(module, rest),
            "super" => {
                let (_, mut parent) = module.split_last()?;
                let mut rest = rest;
                while rest.first().is_some_and(|part| part == "super") {
                    (_, parent) = parent.split_last()?;
                    rest = &rest[1..];
                }
                below(parent, rest)
            }
            name => match self.imported.get(name) {
                Some(target) => below(target, rest),
                None if self.children.contains(name) => below(module, path),
                None => None,
            },
        }
    }
}

fn name_of(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::TraitAlias(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

struct Reader<'a> {
    /// The module of the file, or one inside the file.
    module: Module,
    names: &'a mut Names,
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !is_for_tests(&item.attrs) {
            self.module.push(item.ident.to_string());
            visit::visit_item_mod(self, item);
            self.module.pop();
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if is_for_tests(&item.attrs) {
            return;
        }
        let is_private = matches!(item.vis, Visibility::Inherited);
        for (name, path) in leaves(&item.tree, &[]) {
            let Some(path) = self.names.absolute(&self.module, &path) else {
                self.names.externals.extend(path.first().cloned());
                continue;
            };
            let is_index = !is_private && path.starts_with(&self.module);
            if !is_index {
                self.names.imports.insert(path.clone());
            }
            if name == "*" {
                self.names.globs.insert(path);
            } else if name != "_" {
                self.names.imported.insert(name, path);
            }
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let parts = path.segments.iter();
        let parts = parts.map(|part| part.ident.to_string()).collect();
        self.add_path(parts);
        visit::visit_path(self, path);
    }

    /// The tokens of a macro are no syntax that is visited: a path is what has `::` between names.
    fn visit_macro(&mut self, item: &'ast Macro) {
        let tokens = TokenBuffer::new2(item.tokens.clone());
        self.read_tokens(tokens.begin());
        visit::visit_macro(self, item);
    }

    /// `pub(in crate::client)` imports nothing.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}
}

impl Reader<'_> {
    fn add_path(&mut self, path: Vec<String>) {
        if path.len() < 2 {
            return;
        }
        // What a module inside the file names with `super` is resolved here; a name that is imported, at the end.
        let is_relative = matches!(path[0].as_str(), "crate" | "self" | "super");
        let path = if is_relative {
            let path = self.names.absolute(&self.module, &path);
            path.map(|path| [vec!["crate".to_owned()], path].concat())
        } else {
            Some(path)
        };
        self.names.paths.extend(path);
    }

    fn read_tokens(&mut self, mut cursor: Cursor<'_>) {
        let mut path = Vec::new();
        while !cursor.eof() {
            if let Some((name, next)) = cursor.ident() {
                path.push(name.to_string());
                if let Some(next) = after_colons(next) {
                    cursor = next;
                    continue;
                }
                cursor = next;
            } else if let Some((inner, _, _, next)) = cursor.any_group() {
                self.read_tokens(inner);
                cursor = next;
            } else if let Some((_, next)) = cursor.token_tree() {
                cursor = next;
            }
            self.add_path(std::mem::take(&mut path));
        }
    }
}

fn after_colons(cursor: Cursor<'_>) -> Option<Cursor<'_>> {
    let (first, next) = cursor.punct()?;
    let (second, next) = next.punct()?;
    (first.as_char() == ':' && second.as_char() == ':').then_some(next)
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

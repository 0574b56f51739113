//! The files of a crate import each other without circles: each can be read and changed without all others of its circle.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::dependency_rules::{files, root};
use crate::source_imports::{Crate, Module};

/// Groups of files each of which imports all others, directly or not.
fn circles_of(found: &Crate) -> Vec<BTreeSet<String>> {
    let edges = found.edges();
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

/// The folders with the files of one crate each: those with a `lib.rs` or a `main.rs`.
fn sources() -> BTreeSet<PathBuf> {
    let folders = [
        "crates", "examples", "proxy", "tests", "tools", "widget", "xtask",
    ];
    let files = folders
        .into_iter()
        .flat_map(|folder| files(&root().join(folder)));
    let roots = files.filter(|file| file.ends_with("lib.rs") || file.ends_with("main.rs"));
    roots
        .filter_map(|file| Some(file.parent()?.to_owned()))
        .collect()
}

#[test]
fn files_import_each_other_without_circles() {
    let sources = sources();
    for expected in [
        "crates/storage/src",
        "proxy/examples/bench",
        "tests/campaign",
        "tools/postgres/src",
        "xtask/src",
    ] {
        assert!(sources.contains(&root().join(expected)), "{expected}");
    }
    let found: Vec<_> = sources
        .into_iter()
        .flat_map(|source| {
            let found = circles_of(&Crate::read(&source)).into_iter();
            found.map(move |circle| (source.clone(), circle.into_iter().collect::<Vec<_>>()))
        })
        .collect();
    assert_eq!(found, []);
}

fn circles(modules: &[(&str, &str)]) -> Vec<BTreeSet<String>> {
    circles_of(&Crate::of(modules))
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

/// A function may have the name of the module that defines it: `pub use self::run::run`.
#[test]
fn a_function_and_a_module_with_one_name_are_two() {
    let root = "mod a; mod index;";
    let index = "mod run; mod other; pub use self::other::run;";
    let other = "use crate::a::A; pub fn run() {}";
    let run = "pub const X: u8 = 1;";
    for (a, count) in [
        ("use crate::index::run; pub struct A; fn f() { run::X }", 0),
        ("use crate::index; pub struct A; fn f() { index::run() }", 1),
    ] {
        let found = circles(&[
            ("", root),
            ("a", a),
            ("index", index),
            ("index::other", other),
            ("index::run", run),
        ]);
        assert_eq!(found.len(), count, "{a}: {found:?}");
    }
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

/// The path of a macro's tokens, a name that a parent imports, and a re-export of a child count as what they name.
#[test]
fn a_circle_through_a_macro_or_a_reexport_is_found() {
    let in_macro = "pub struct A; fn f() { read!(self, |reader| (b::f(reader))) } mod b;";
    let child = "use super::A; pub fn f() {}";
    let found = circles(&[("", "mod a;"), ("a", in_macro), ("a::b", child)]);
    assert_eq!(found.len(), 1, "{found:?}");
    let index = "mod child; pub use self::child::run;";
    let through_index = "use crate::index; pub struct A; fn f() { index::run() }";
    let found = circles(&[
        ("", "mod a; mod index;"),
        ("a", through_index),
        ("index", index),
        ("index::child", "use crate::a::A; pub fn run() {}"),
    ]);
    assert_eq!(found.len(), 1, "{found:?}");
    let of_parent = "use crate::b::B; mod child;";
    let found = circles(&[
        ("", "mod a; mod b;"),
        ("a", of_parent),
        ("a::child", "fn f(b: super::B) {}"),
        ("b", "pub struct B; fn f() { crate::a::child::f() }"),
    ]);
    assert_eq!(found.len(), 1, "{found:?}");
    let everything = "mod child; pub use self::child::*;";
    let found = circles(&[
        ("", "mod a; mod index;"),
        ("a", "use crate::index::C; pub struct A;"),
        ("index", everything),
        ("index::child", "use crate::a::A; pub struct C;"),
    ]);
    assert_eq!(found.len(), 1, "{found:?}");
}

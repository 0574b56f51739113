//! The statements of a store, read from its source.

use std::fs;
use std::path::Path;

use syn::visit::Visit;

/// The string literals of a file that are SQL.
struct Statements(Vec<String>);

impl<'ast> Visit<'ast> for Statements {
    fn visit_lit_str(&mut self, literal: &'ast syn::LitStr) {
        let text = literal.value();
        let verbs = ["SELECT ", "INSERT ", "UPDATE ", "DELETE ", "WITH "];
        if verbs.iter().any(|verb| text.trim_start().starts_with(verb)) {
            self.0.push(text);
        }
    }
}

/// Every statement of the store whose module has this name (`sqlite`, `postgres`), except those of some files and of its
/// tests.
pub(crate) fn statements(module: &str, except: &[&str]) -> Vec<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let modules = [module, "queries"]
        .into_iter()
        .flat_map(|folder| fs::read_dir(source.join(folder)).unwrap())
        .map(|entry| entry.unwrap().path());
    let mut found = Statements(Vec::new());
    for file in modules.chain([source.join(format!("{module}.rs"))]) {
        let is_left_out = [&["tests.rs"], except]
            .concat()
            .iter()
            .any(|name| file.ends_with(name));
        if file.extension().is_some_and(|ending| ending == "rs") && !is_left_out {
            let text = fs::read_to_string(&file).unwrap();
            found.visit_file(&syn::parse_file(&text).unwrap());
        }
    }
    found.0
}

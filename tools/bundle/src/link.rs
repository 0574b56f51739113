//! Linking: an entry and all that it imports, in one scope.
//!
//! Each module's text stands once, after the modules that it imports; imports vanish, and only the entry's exports stay.
//! Nothing is renamed. Names that would meet in the one scope are refused: declared twice, or used as the page's by one
//! module and declared by another. After `import { section } from './file.json'`, `section.key` becomes that text; a section
//! that is used as a whole becomes a constant.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use oxc_span::SourceType;

use crate::module::{Module, Read, normal};

/// The entry with its imports, as one script: of modules a module, else a function that is called once.
pub(crate) fn link(entry: &Path, kind: SourceType, read: Read<'_>) -> Result<String, String> {
    let entry = normal(entry);
    let mut linker = Linker {
        read,
        files: BTreeMap::new(),
        order: Vec::new(),
        open: Vec::new(),
        sections: BTreeMap::new(),
    };
    linker.add(&entry)?;
    linker.check_imports()?;
    linker.check_names()?;
    let exports = &linker.files[&entry].exports;
    if let (true, Some(name)) = (kind.is_script(), exports.first()) {
        let entry = entry.display();
        return Err(format!(
            "{entry}: a script exports nothing, not even `{name}`"
        ));
    }
    let mut out = String::new();
    for ((_, name), value) in &linker.sections {
        out.extend(["const ", name, " = ", value, ";\n"]);
    }
    for path in &linker.order {
        let module = &linker.files[path];
        let is_entry = *path == entry;
        out.push_str(if is_entry {
            &module.body_with_exports
        } else {
            &module.body
        });
        out.push('\n');
    }
    if kind.is_script() {
        // Modules are strict; a script is not by itself.
        out = format!("(() => {{\n'use strict';\n{out}}})();\n");
    }
    Ok(out)
}

struct Linker<'a> {
    read: Read<'a>,
    files: BTreeMap<PathBuf, Module>,
    /// Each after its imports.
    order: Vec<PathBuf>,
    /// From the entry to the module that is being read.
    open: Vec<PathBuf>,
    /// Sections of JSON files, by file and name, as JSON, which is JavaScript as well.
    sections: BTreeMap<(PathBuf, String), String>,
}

impl Linker<'_> {
    fn add(&mut self, path: &Path) -> Result<(), String> {
        if self.files.contains_key(path) {
            return Ok(());
        }
        if self.open.iter().any(|open| open == path) {
            let way = self.open.iter().map(|open| open.display().to_string());
            let way: Vec<String> = way.chain([path.display().to_string()]).collect();
            return Err(format!("imports in a circle: {}", way.join(" → ")));
        }
        self.open.push(path.to_owned());
        let module = Module::parse(path, self.read)?;
        for (file, name, value) in &module.sections {
            self.sections
                .insert((file.clone(), name.clone()), value.clone());
        }
        for import in &module.imports {
            if import.from.extension().is_none_or(|end| end != "json") {
                self.add(&import.from)?;
            }
        }
        self.open.pop();
        self.order.push(path.to_owned());
        self.files.insert(path.to_owned(), module);
        Ok(())
    }

    fn check_imports(&self) -> Result<(), String> {
        for (path, module) in &self.files {
            for import in &module.imports {
                let Some(source) = self.files.get(&import.from) else {
                    continue;
                };
                if let Some(name) = import
                    .names
                    .iter()
                    .find(|name| !source.exports.contains(*name))
                {
                    let (path, from) = (path.display(), import.from.display());
                    return Err(format!(
                        "{path} imports `{name}`, which {from} does not export"
                    ));
                }
            }
        }
        Ok(())
    }

    fn check_names(&self) -> Result<(), String> {
        let mut owners: BTreeMap<&str, &Path> = BTreeMap::new();
        let sections = self.sections.keys().map(|(path, name)| (name, path));
        let declared = self.files.iter();
        let declared =
            declared.flat_map(|(path, one)| one.declared.iter().map(move |name| (name, path)));
        for (name, path) in sections.chain(declared) {
            if let Some(other) = owners.insert(name, path) {
                let (path, other) = (path.display(), other.display());
                return Err(format!(
                    "`{name}` is a name of {other} and of {path}: rename one"
                ));
            }
        }
        for (path, module) in &self.files {
            let globals: BTreeSet<&str> = module.globals.iter().map(String::as_str).collect();
            for name in globals {
                if let Some(owner) = owners.get(name) {
                    let (path, owner) = (path.display(), owner.display());
                    return Err(format!(
                        "{path} uses `{name}` without an import, and {owner} has a name like it: import or rename it"
                    ));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linked(kind: SourceType, files: &[(&str, &str)]) -> Result<String, String> {
        let read = |path: &Path| {
            let found = files.iter().find(|(name, _)| Path::new(name) == path);
            let missing = || format!("{} is missing", path.display());
            found
                .map(|(_, text)| (*text).to_owned())
                .ok_or_else(missing)
        };
        link(Path::new(files[0].0), kind, &read)
    }

    fn module(files: &[(&str, &str)]) -> Result<String, String> {
        linked(SourceType::mjs(), files)
    }

    #[test]
    fn each_module_stands_once_and_after_what_it_imports() {
        let a = "import { b } from './b.js';\nimport { c } from './x/../c.js';\nexport const a = b + c;";
        let b = "import { c } from './c.js';\nexport const b = c;";
        let c = "export const c = 1, d = 2;";
        let files = [("js/a.js", a), ("js/b.js", b), ("js/c.js", c)];
        assert_eq!(
            module(&files).unwrap(),
            "const c = 1, d = 2;\n\nconst b = c;\n\n\nexport const a = b + c;\n"
        );
    }

    #[test]
    fn a_script_is_one_strict_function_and_exports_nothing() {
        let files = [
            ("a.js", "import { b } from './b.js';\nb();"),
            ("b.js", "export function b() {}"),
        ];
        assert_eq!(
            linked(SourceType::script(), &files).unwrap(),
            "(() => {\n'use strict';\nfunction b() {}\n\nb();\n})();\n"
        );
        let exports = [("a.js", "export const a = 1;")];
        assert_eq!(
            linked(SourceType::script(), &exports).unwrap_err(),
            "a.js: a script exports nothing, not even `a`"
        );
    }

    #[test]
    fn a_text_of_a_json_file_stands_where_it_is_used_and_a_whole_section_is_a_constant() {
        let linked = |export: &str, json| {
            let a = format!("import {{ texts }} from '../en.json';\nexport const a = {export};");
            module(&[("js/a.js", &a), ("en.json", json)])
        };
        let json = r#"{ "texts": { "b": "It’s \"b\"" } }"#;
        for (export, text) in [
            (
                "[texts.b, texts.b.length]",
                "\nexport const a = [\"It’s \\\"b\\\"\", \"It’s \\\"b\\\"\".length];\n",
            ),
            (
                "texts",
                "const texts = {\"b\":\"It’s \\\"b\\\"\"};\n\nexport const a = texts;\n",
            ),
        ] {
            assert_eq!(linked(export, json).unwrap(), text);
        }
        for (json, error) in [
            ("{}", "js/a.js:1: en.json: there is no `texts`"),
            (
                r#"{ "texts": {} }"#,
                "js/a.js:1: en.json: `texts` has no `b`",
            ),
        ] {
            assert_eq!(linked("texts.b", json).unwrap_err(), error);
        }
    }

    #[test]
    fn forms_that_are_not_known_are_refused_by_file_and_line() {
        for (source, end) in [
            ("\nimport b from './b.js';", "and no other import"),
            ("\nimport * as b from './b.js';", "and no other import"),
            ("\nimport './b.js';", "and no other import"),
            (
                "\nimport { b } from './b.json' with { type: 'json' };",
                "and no other import",
            ),
            (
                "\nimport { b as c } from './b.js';",
                "a name is the same in all modules of a bundle",
            ),
            ("\nimport { b } from 'b';", "'b' is no relative address"),
            ("\nexport default 1;", "and no other export"),
            ("\nexport * from './b.js';", "and no other export"),
            ("\nexport { b } from './b.js';", "and no other export"),
            ("\nconst b = 1; export { b };", "and no other export"),
            (
                "\nexport const { b } = window;",
                "exports of constants, functions and classes",
            ),
            ("\nimport('./b.js');", "import its asset's address"),
        ] {
            let error = module(&[("a.js", source), ("b.js", "export const b = 1;")]).unwrap_err();
            assert!(
                error.starts_with("a.js:2: ") && error.ends_with(end),
                "{source}: {error}"
            );
        }
    }

    #[test]
    fn names_and_imports_that_would_not_work_in_one_scope_are_refused() {
        for (a, b, error) in [
            (
                "import { b } from './b.js';\nexport const a = b;",
                "import { a } from './a.js';\nexport const b = a;",
                "imports in a circle: a.js → b.js → a.js",
            ),
            (
                "import { b } from './b.js';\nb();",
                "const b = 1;",
                "a.js imports `b`, which b.js does not export",
            ),
            (
                "import { b } from './b.js';\nconst c = b;",
                "const c = 1;\nexport const b = c;",
                "`c` is a name of a.js and of b.js: rename one",
            ),
            // `print` is the page's here, and would be b.js's in the bundle.
            (
                "import { b } from './b.js';\nb();\nprint();",
                "const print = 1;\nexport const b = () => print;",
                "a.js uses `print` without an import, and b.js has a name like it: import or rename it",
            ),
        ] {
            assert_eq!(module(&[("a.js", a), ("b.js", b)]).unwrap_err(), error);
        }
        // Names of an inner scope meet nothing.
        let apart = [
            (
                "a.js",
                "import { b } from './b.js';\nexport const a = (print) => print + b;",
            ),
            ("b.js", "const print = 1;\nexport const b = print;"),
        ];
        assert!(module(&apart).is_ok());
    }
}

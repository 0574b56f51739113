//! One ES module: its imports, its exports, and the names that it declares and uses.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use oxc_allocator::Allocator;
use oxc_ast::AstKind;
use oxc_ast::ast::{
    BindingPattern, Declaration, ExportDeclaration, ImportDeclaration, ImportDeclarationSpecifier,
    Statement,
};
use oxc_parser::Parser;
use oxc_semantic::{Semantic, SemanticBuilder};
use oxc_span::{GetSpan as _, SourceType};
use serde_json::Value;

/// Reads a file.
pub(crate) type Read<'a> = &'a dyn Fn(&Path) -> Result<String, String>;

/// A module in the forms that the linker knows.
#[derive(Debug)]
pub(crate) struct Module {
    /// Source text without its imports and without the keyword `export`.
    pub(crate) body: String,
    /// Source text without its imports.
    pub(crate) body_with_exports: String,
    pub(crate) imports: Vec<Import>,
    /// Sections of JSON files that are used as a whole, with their values.
    pub(crate) sections: Vec<(PathBuf, String, String)>,
    pub(crate) exports: BTreeSet<String>,
    /// Names of its outermost scope, imports left out.
    pub(crate) declared: BTreeSet<String>,
    /// Names that it uses and neither declares nor imports: those of the page.
    pub(crate) globals: BTreeSet<String>,
}

/// `import { names } from './from';`
#[derive(Debug)]
pub(crate) struct Import {
    pub(crate) names: Vec<String>,
    pub(crate) from: PathBuf,
}

impl Module {
    /// Reads the module at `path`, and the JSON files that it imports.
    pub(crate) fn parse(path: &Path, read: Read<'_>) -> Result<Self, String> {
        let source = &*read(path)?;
        let at = |start: u32| {
            let before = &source[..start as usize];
            format!("{}:{}", path.display(), before.matches('\n').count() + 1)
        };
        let allocator = Allocator::default();
        let parsed = Parser::new(&allocator, source, SourceType::mjs()).parse();
        if let Some(mistake) = parsed.diagnostics.first() {
            return Err(format!("{}: {mistake}", path.display()));
        }
        let semantic = SemanticBuilder::new()
            .with_build_nodes(true)
            .with_check_syntax_error(true)
            .build(&parsed.program);
        if let Some(mistake) = semantic.diagnostics.first() {
            return Err(format!("{}: {mistake}", path.display()));
        }
        for import in &parsed.module_record.dynamic_imports {
            let request = import.module_request;
            if source[request.start as usize..request.end as usize].starts_with(['\'', '"']) {
                let place = at(import.span.start);
                return Err(format!(
                    "{place}: `import('…')` of a fixed file is not linked: import its asset's address"
                ));
            }
        }
        let mut imports = Vec::new();
        let mut exports = BTreeSet::new();
        let mut sections = Vec::new();
        let (mut edits, mut export_keywords) = (Vec::new(), Vec::new());
        for statement in &parsed.program.body {
            let place = at(statement.span().start);
            match statement {
                Statement::ImportDeclaration(import) => {
                    let import_span = import.span;
                    let import =
                        read_import(path, import).map_err(|why| format!("{place}: {why}"))?;
                    edits.push((import_span.start, import_span.end, String::new()));
                    if import.from.extension().is_some_and(|end| end == "json") {
                        let file = read(&import.from)?;
                        let file: Value = serde_json::from_str(&file)
                            .map_err(|error| format!("{}: {error}", import.from.display()))?;
                        for name in &import.names {
                            let texts = inline(&semantic.semantic, &file, name).map_err(|why| {
                                format!("{place}: {}: {why}", import.from.display())
                            })?;
                            if let Some(texts) = texts {
                                edits.extend(texts);
                            } else {
                                let value = file[name].to_string();
                                sections.push((import.from.clone(), name.clone(), value));
                            }
                        }
                    }
                    imports.push(import);
                }
                Statement::ExportDeclaration(export) => {
                    exports.extend(exported(export).map_err(|why| format!("{place}: {why}"))?);
                    let end = export.declaration.span().start;
                    export_keywords.push((export.span.start, end, String::new()));
                }
                other if other.is_module_declaration() => {
                    return Err(format!(
                        "{place}: the linker knows `export` before a declaration, and no other export"
                    ));
                }
                _ => {}
            }
        }
        let scoping = semantic.semantic.scoping();
        let imported: BTreeSet<&str> = imports
            .iter()
            .flat_map(|import: &Import| import.names.iter().map(String::as_str))
            .collect();
        let bindings = scoping.get_bindings(scoping.root_scope_id()).keys();
        let declared = bindings
            .map(ToString::to_string)
            .filter(|name| !imported.contains(name.as_str()))
            .collect();
        let globals = scoping.root_unresolved_references().keys();
        let globals = globals.map(ToString::to_string).collect();
        let body_with_exports = edited(source, &mut edits);
        edits.extend(export_keywords);
        Ok(Self {
            body: edited(source, &mut edits),
            body_with_exports,
            imports,
            sections,
            exports,
            declared,
            globals,
        })
    }
}

/// From, to, and what stands there instead.
type Edit = (u32, u32, String);

/// `source` after these edits, none of which overlap.
fn edited(source: &str, edits: &mut [Edit]) -> String {
    edits.sort_unstable();
    let mut out = String::with_capacity(source.len());
    let mut from = 0;
    for (start, end, text) in edits {
        out.push_str(&source[from..*start as usize]);
        out.push_str(text);
        from = *end as usize;
    }
    out.push_str(&source[from..]);
    out
}

/// The texts for `section.key`, each in its place; `None` where the section is used as a whole.
fn inline(semantic: &Semantic<'_>, file: &Value, name: &str) -> Result<Option<Vec<Edit>>, String> {
    let section = file
        .get(name)
        .ok_or_else(|| format!("there is no `{name}`"))?;
    let scoping = semantic.scoping();
    let symbol = scoping.get_root_binding(name.into());
    let symbol = symbol.expect("an imported name is bound in its module");
    let mut texts = Vec::new();
    for reference in scoping.get_resolved_references(symbol) {
        let parent = semantic.nodes().parent_kind(reference.node_id());
        let AstKind::StaticMemberExpression(member) = parent else {
            return Ok(None);
        };
        let key = member.property.name.as_str();
        let text = section.get(key);
        let text = text.ok_or_else(|| format!("`{name}` has no `{key}`"))?;
        texts.push((member.span.start, member.span.end, text.to_string()));
    }
    Ok(Some(texts))
}

fn read_import(path: &Path, import: &ImportDeclaration<'_>) -> Result<Import, String> {
    const KNOWN: &str = "the linker knows `import { name } from './file.js'`, and no other import";
    if import.with_clause.is_some() || import.phase.is_some() {
        return Err(KNOWN.to_owned());
    }
    let mut names = Vec::new();
    for specifier in import.specifiers.as_ref().ok_or(KNOWN)? {
        let ImportDeclarationSpecifier::ImportSpecifier(specifier) = specifier else {
            return Err(KNOWN.to_owned());
        };
        if specifier.imported.name() != specifier.local.name {
            return Err(format!(
                "`{} as {}`: a name is the same in all modules of a bundle",
                specifier.imported.name(),
                specifier.local.name
            ));
        }
        names.push(specifier.local.name.to_string());
    }
    let from = import.source.value.as_str();
    if !from.starts_with("./") && !from.starts_with("../") {
        return Err(format!("'{from}' is no relative address"));
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let from = normal(&folder.join(from));
    Ok(Import { names, from })
}

/// The names that an `export` before a declaration exports.
fn exported(export: &ExportDeclaration<'_>) -> Result<Vec<String>, String> {
    let refused = || "the linker knows exports of constants, functions and classes".to_owned();
    let name = |id: &BindingPattern<'_>| match id {
        BindingPattern::BindingIdentifier(id) => Ok(id.name.to_string()),
        _ => Err(refused()),
    };
    match &export.declaration {
        Declaration::VariableDeclaration(variables) => {
            let names = variables.declarations.iter();
            names.map(|declarator| name(&declarator.id)).collect()
        }
        Declaration::FunctionDeclaration(function) => {
            let id = function.id.as_ref().ok_or_else(refused)?;
            Ok(vec![id.name.to_string()])
        }
        Declaration::ClassDeclaration(class) => {
            let id = class.id.as_ref().ok_or_else(refused)?;
            Ok(vec![id.name.to_string()])
        }
        _ => Err(refused()),
    }
}

/// `a/./b/../c` as `a/c`: two imports of one file have one path.
pub(crate) fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if out.file_name().is_some() => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

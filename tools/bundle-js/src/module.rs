//! One ES module: its imports, its exports, and the names that it declares and uses.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    BindingPattern, Declaration, ExportDeclaration, ImportDeclaration, ImportDeclarationSpecifier,
    Statement,
};
use oxc_parser::Parser;
use oxc_semantic::SemanticBuilder;
use oxc_span::{GetSpan as _, SourceType};

/// A module in the forms that the linker knows.
#[derive(Debug)]
pub(crate) struct Module {
    /// Source text without its imports and without the keyword `export`.
    pub(crate) body: String,
    /// Source text without its imports.
    pub(crate) body_with_exports: String,
    pub(crate) imports: Vec<Import>,
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
    /// Reads the module at `path`.
    ///
    /// # Errors
    /// It is not JavaScript, or has an import or export in a form that the linker does not know.
    pub(crate) fn parse(path: &Path, source: &str) -> Result<Self, String> {
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
        let (mut import_spans, mut export_keywords) = (Vec::new(), Vec::new());
        for statement in &parsed.program.body {
            match statement {
                Statement::ImportDeclaration(import) => {
                    let place = at(import.span.start);
                    imports
                        .push(read_import(path, import).map_err(|why| format!("{place}: {why}"))?);
                    import_spans.push((import.span.start, import.span.end));
                }
                Statement::ExportDeclaration(export) => {
                    let place = at(export.span.start);
                    exports.extend(exported(export).map_err(|why| format!("{place}: {why}"))?);
                    export_keywords.push((export.span.start, export.declaration.span().start));
                }
                other if other.is_module_declaration() => {
                    let place = at(other.span().start);
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
        let body_with_exports = without(source, &import_spans);
        import_spans.extend(export_keywords);
        import_spans.sort_unstable();
        Ok(Self {
            body: without(source, &import_spans),
            body_with_exports,
            imports,
            exports,
            declared,
            globals,
        })
    }
}

/// `source` without these ranges, which are in order.
fn without(source: &str, ranges: &[(u32, u32)]) -> String {
    let mut kept = String::with_capacity(source.len());
    let mut from = 0;
    for (start, end) in ranges {
        kept.push_str(&source[from..*start as usize]);
        from = *end as usize;
    }
    kept.push_str(&source[from..]);
    kept
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

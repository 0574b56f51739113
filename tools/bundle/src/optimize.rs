//! Between compiler and package: Binaryen makes the module small, and the names by which the module and its glue know
//! each other become short.
//!
//! wasm-bindgen names each function after what it does, with a hash that nothing can compress, and each name stands in
//! both files. No other program reads them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail, ensure};

use crate::files::PAYMENT;

/// Each round leaves something for the next; nested expressions taken apart in between leave a percent more. What a
/// module says of its compiler, and of the features that Binaryen has to know, is for tools alone.
const PASSES: [&str; 7] = [
    "-Oz",
    "--flatten",
    "--rereloop",
    "-Oz",
    "-Oz",
    "--strip-producers",
    "--strip-target-features",
];

/// For the first module. The second one imports by the names that the glue writes out.
const MINIFY_NAMES: &str = "--minify-imports-and-exports-and-modules";

/// The module that the program imports from, as Binaryen names it, and as wasm-bindgen did.
const GLUE_NAMES: [&str; 2] = ["\"a\"", "\"./widget_bg.js\""];

/// The module of the functions that load the payment module: Binaryen gives it the name of the other.
const LOADERS: &str = "\"./__wasm_split.js\": ";

/// What a function's name begins with that the program imports.
const IMPORTS: [&str; 2] = ["__wbg_", "__wasm_split_load_"];

/// Makes the modules and `widget.js` in the folder `built` smaller, by the program `wasm_opt`.
pub(crate) fn optimize(wasm_opt: &Path, built: &Path) -> anyhow::Result<()> {
    let second = built.join(PAYMENT);
    if second.exists() {
        run(wasm_opt, &second, &[])?;
    }
    let names = run(wasm_opt, &built.join("widget_bg.wasm"), &[MINIFY_NAMES])?;
    let names = names.lines().filter_map(|line| line.split_once(" => "));
    let glue = built.join("widget.js");
    let long = fs::read_to_string(&glue).context("widget.js cannot be read")?;
    let short = rename(&long, &names.collect())?;
    fs::write(&glue, short).context("widget.js cannot be written")
}

fn run(wasm_opt: &Path, module: &Path, more: &[&str]) -> anyhow::Result<String> {
    let mut command = Command::new(wasm_opt);
    command
        .args(PASSES)
        .args(more)
        .arg(module)
        .arg("--output")
        .arg(module);
    let output = command.output().context("wasm-opt cannot be started")?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "wasm-opt refuses {}: {complaint}",
        module.display()
    );
    String::from_utf8(output.stdout).context("wasm-opt prints text")
}

/// The glue with the short `names` for the long ones. What the module imports is a member `long: function` of one
/// object; what it exports is `wasm.long`.
fn rename(glue: &str, names: &BTreeMap<&str, &str>) -> anyhow::Result<String> {
    let [short, long] = GLUE_NAMES;
    let is_of_a_name = |letter: char| letter.is_alphanumeric() || "_$".contains(letter);
    let (mut out, mut rest) = (String::with_capacity(glue.len()), glue);
    let mut renamed = BTreeSet::new();
    while let Some(start) = rest.find(is_of_a_name) {
        let (between, tail) = rest.split_at(start);
        let end = tail.find(|letter| !is_of_a_name(letter));
        let (name, tail) = tail.split_at(end.unwrap_or(tail.len()));
        out.push_str(between);
        let is_export = out.ends_with("wasm.");
        let short = names
            .get(name)
            .filter(|_| is_export || tail.starts_with(": function"));
        ensure!(
            short.is_some() || !is_export,
            "the glue calls {name}, which the module does not export: wasm-bindgen or wasm-opt has changed"
        );
        renamed.extend(short.map(|_| name));
        out.push_str(short.unwrap_or(&name));
        rest = tail;
    }
    out.push_str(rest);
    let lacking = names.keys().find(|name| {
        IMPORTS.iter().any(|start| name.starts_with(start)) && !renamed.contains(*name)
    });
    if let Some(name) = lacking {
        bail!(
            "the glue has no {name}, which the module imports: wasm-bindgen or wasm-opt has changed"
        );
    }
    ensure!(
        out.contains(long),
        "the glue does not call itself {long}: wasm-bindgen has changed"
    );
    let out = out.replace(long, short);
    Ok(match out.split_once(LOADERS) {
        // The two have no name in common: one object holds both.
        Some((before, after)) => {
            let (loaders, after) = after.split_once(',').context("an import ends in a comma")?;
            let both = format!("...{loaders}, ...import0");
            let before = before.replacen(
                &format!("{short}: import0"),
                &format!("{short}: {{ {both} }}"),
                1,
            );
            ensure!(
                before.contains(&both),
                "the glue does not call its functions import0: wasm-bindgen has changed"
            );
            [before.as_str(), after].concat()
        }
        None => out,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GLUE: &str = r#"const import0 = {
    __proto__: null,
    __wbg_abort_f8d1589eb0c65ee2: function(arg0) { arg0.abort(); },
};
return { "./widget_bg.js": import0 };
export function mount(root) { return wasm.mount(root); }
take(wasm.memory.buffer, wasm.__wbindgen_malloc);
"#;

    fn names() -> BTreeMap<&'static str, &'static str> {
        BTreeMap::from([
            ("__wbg_abort_f8d1589eb0c65ee2", "a"),
            ("__wbindgen_malloc", "b"),
            ("memory", "c"),
            ("mount", "d"),
            ("main", "e"),
        ])
    }

    #[test]
    fn imports_and_exports_become_short_and_nothing_else() {
        let expected = r#"const import0 = {
    __proto__: null,
    a: function(arg0) { arg0.abort(); },
};
return { "a": import0 };
export function mount(root) { return wasm.d(root); }
take(wasm.c.buffer, wasm.b);
"#;
        assert_eq!(rename(GLUE, &names()).unwrap(), expected);
    }

    #[test]
    fn what_loads_the_second_module_is_imported_beside_the_rest() {
        let glue = GLUE.replace(
            "return { \"./widget_bg.js\": import0 };",
            "const import1 = {\n    __wasm_split_load_payment: function(callback, data) {},\n};\n\
             return { \"./widget_bg.js\": import0,\n    \"./__wasm_split.js\": import1, };",
        );
        let mut names = names();
        names.insert("__wasm_split_load_payment", "f");
        let renamed = rename(&glue, &names).unwrap();
        assert!(renamed.contains("f: function(callback"), "{renamed}");
        assert!(
            renamed.contains("return { \"a\": { ...import1, ...import0 },\n     };"),
            "{renamed}"
        );
    }

    #[test]
    fn glue_that_does_not_fit_its_module_is_refused() {
        for (from, to, named) in [
            ("abort_f8", "stop_f8", "__wbg_abort_f8d1589eb0c65ee2"),
            ("wasm.mount", "wasm.begin", "begin"),
            ("widget_bg", "other", "widget_bg"),
        ] {
            let error = rename(&GLUE.replace(from, to), &names()).unwrap_err();
            assert!(error.to_string().contains(named), "{error}");
        }
    }
}

//! The second module of a program.
//!
//! The splitter belongs to Leptos and writes its own loader, which imports the glue. Under a content hash that import would
//! be a second, uninitialised glue, so the loader is written into the glue here.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use wasm_split_cli_support::{Options, transform};

/// What a program with marked functions imports from, until it is split.
const PLACEHOLDER: &[u8] = b"__wasm_split_placeholder__";
/// The module that the split program imports its loader from.
const LINK: &str = "./__wasm_split.js";
/// What the second module imports from.
const SHARED: &str = "__wasm_split";
/// Where `bundle-js` finds the second module, below the folder of the output.
const SECOND: &str = "snippets/split";

/// A program that was split, and what has to be written into its glue.
pub(crate) struct Split {
    glue: PathBuf,
    /// The program's functions that load the second module.
    loaders: Vec<String>,
    /// What the program shares with the second module.
    shared: Vec<String>,
}

impl Split {
    /// Splits a program, whose glue will be in the folder `built`. Returns the first module too. `None`: the program has no
    /// marked function.
    pub(crate) fn of(program: &Path, built: &Path) -> anyhow::Result<Option<(Self, PathBuf)>> {
        let reading = || format!("{} cannot be read", program.display());
        let bytes = fs::read(program).with_context(reading)?;
        if !bytes
            .windows(PLACEHOLDER.len())
            .any(|part| part == PLACEHOLDER)
        {
            return Ok(None);
        }
        let folder = built.join("split-input");
        let first = folder.join(program.file_name().context("the program has a name")?);
        let mut options = Options::new(&bytes);
        options.output_dir = &folder;
        options.main_out_path = &first;
        options.link_name = LINK;
        let modules = match transform(options) {
            Ok(split) => split.split_modules,
            Err(error) => bail!("{} cannot be split: {error:#}", program.display()),
        };
        let second = built.join(SECOND);
        fs::create_dir_all(&second)?;
        for module in &modules {
            let name = module.file_name().context("a module has a name")?;
            fs::copy(module, second.join(name))?;
        }
        let link = fs::read_to_string(folder.join(LINK))?;
        let split = Self {
            glue: built.join("widget.js"),
            loaders: loaders(&link),
            shared: shared(&link)?,
        };
        Ok(Some((split, first)))
    }

    /// Writes the loader into the glue that wasm-bindgen has made.
    pub(crate) fn finish(&self) -> anyhow::Result<()> {
        let glue = fs::read_to_string(&self.glue)
            .with_context(|| format!("{} cannot be read", self.glue.display()))?;
        let glue = self.with_loader(&glue)?;
        fs::write(&self.glue, glue)
            .with_context(|| format!("{} cannot be written", self.glue.display()))?;
        let folder = self.glue.with_file_name("split-input");
        fs::remove_dir_all(&folder)
            .with_context(|| format!("{} cannot be removed", folder.display()))
    }

    /// The glue with an object of loaders in place of the import.
    fn with_loader(&self, glue: &str) -> anyhow::Result<String> {
        let import = |line: &&str| line.starts_with("import ") && line.contains(LINK);
        let line = glue
            .lines()
            .find(import)
            .context("the glue does not import the loader")?;
        let object = line.split_whitespace().nth(3).unwrap_or_default();
        ensure!(
            object.starts_with("import"),
            "the glue imports the loader otherwise: {line}"
        );
        ensure!(!self.loaders.is_empty(), "the program has no loader");
        let shared: Vec<String> = self
            .shared
            .iter()
            .map(|name| format!("{name}: wasm.{name}"))
            .collect();
        let loaders: Vec<String> = self
            .loaders
            .iter()
            .map(|name| {
                format!(
                    "    {name}: function(callback, data) {{ instantiate(callback, data); }},\n"
                )
            })
            .collect();
        let code = format!(
            "/** The second module, compiled. */\n\
             let second;\n\
             /** Takes the second module; the program instantiates it when it needs it. */\n\
             export function provide(module) {{ second = module; }}\n\
             const instantiate = async (callback, data) => {{\n    \
                 let isLoaded = false;\n    \
                 try {{\n        \
                     await WebAssembly.instantiate(second, {{ {SHARED}: {{ {} }} }});\n        \
                     isLoaded = true;\n    \
                 }} catch (error) {{\n        \
                     console.error(error);\n    \
                 }}\n    \
                 wasm.__indirect_function_table.get(callback)(data, isLoaded);\n\
             }};\n\
             const {object} = {{\n    __proto__: null,\n{}}};",
            shared.join(", "),
            loaders.concat(),
        );
        Ok(glue.replacen(line, &code, 1))
    }
}

/// The names that the splitter's loader exports.
fn loaders(link: &str) -> Vec<String> {
    let names = link
        .lines()
        .filter_map(|line| line.strip_prefix("export const "));
    names
        .filter_map(|rest| Some(rest.split_once(" = ")?.0.to_owned()))
        .collect()
}

/// The names that the splitter's loader takes from the program.
fn shared(link: &str) -> anyhow::Result<Vec<String>> {
    let list = link
        .split_once("const { ")
        .and_then(|(_, rest)| rest.split_once(" } = initSync"));
    let (names, _) = list.context("the splitter's loader takes nothing from the program")?;
    let names = names
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty());
    Ok(names.map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK_FILE: &str = r#"import { initSync } from "./main.js";
        const { __indirect_function_table, memory,  } = initSync(undefined, undefined);
export const __wasm_split_load_payment = wrapAsyncCb(makeLoad(() => {
"#;

    fn split() -> Split {
        Split {
            glue: PathBuf::new(),
            loaders: loaders(LINK_FILE),
            shared: shared(LINK_FILE).unwrap(),
        }
    }

    #[test]
    fn the_loader_stands_in_the_glue_in_place_of_its_import() {
        let glue = split()
            .with_loader("import * as import1 from \"./__wasm_split.js\"\nlet wasm;\n")
            .unwrap();
        assert!(!glue.contains("from \""), "{glue}");
        assert!(glue.contains("const import1 = {"), "{glue}");
        assert!(
            glue.contains("__wasm_split_load_payment: function("),
            "{glue}"
        );
        assert!(
            glue.contains(
                "{ __indirect_function_table: wasm.__indirect_function_table, memory: wasm.memory }"
            ),
            "{glue}"
        );
    }

    #[test]
    fn glue_without_the_import_is_refused() {
        assert!(split().with_loader("let wasm;\n").is_err());
    }
}

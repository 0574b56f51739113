//! The peers that are measured beside the checkout: bundled from npm as a shop would, and compressed as our files are.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde_json::Value;

use crate::bundle::brotli;
use crate::program::Program;
use crate::screen::step;
use crate::tools;
use crate::workspace::Workspace;

/// The folders of `tests/peers`.
const PEERS: [&str; 2] = ["bitcoin-connect", "adyen"];
/// The place in `page.html` for the bundle's files.
const FILES: &str = "<!-- FILES -->";
/// A production build for the browser that measures.
const FLAGS: [&str; 10] = [
    "--bundle",
    "--minify",
    "--splitting",
    "--format=esm",
    "--target=es2022",
    "--define:process.env.NODE_ENV=\"production\"",
    "--legal-comments=none",
    "--entry-names=[name]-[hash]",
    // Node's, asked for by code that no browser runs.
    "--external:crypto",
    "--log-level=warning",
];

/// Bundles each peer into the folder that is returned: `<peer>/page.html`, its `answers.json` and `choice.js`, and the
/// files of `<peer>/assets`, each as `<name>.br`.
///
/// # Errors
/// npm cannot install the peers, or esbuild cannot bundle one.
pub(super) fn bundle(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    let packages = tools::peers(workspace)?;
    let folder = workspace.target.join("peers");
    step("Bundling the peers…");
    for peer in PEERS {
        bundle_one(workspace, &packages, peer, &folder.join(peer))
            .with_context(|| format!("the peer {peer} cannot be bundled"))?;
    }
    Ok(folder)
}

fn bundle_one(workspace: &Workspace, packages: &Path, peer: &str, to: &Path) -> anyhow::Result<()> {
    let from = workspace.root.join("tests/peers").join(peer);
    let assets = to.join("assets");
    let report = to.join("report.json");
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    fs::create_dir_all(&assets)?;
    let modules = packages.join("node_modules");
    let is = |flag: &str, path: &Path| format!("--{flag}={}", path.display());
    Program::new("node", workspace)
        .args([modules.join("esbuild/bin/esbuild"), from.join("main.js")])
        .args(FLAGS)
        .args([is("outdir", &assets), is("metafile", &report)])
        .env("NODE_PATH", &modules)
        .env_remove("NODE_OPTIONS")
        .run()?;
    let report = serde_json::from_str(&fs::read_to_string(&report)?)?;
    let page = fs::read_to_string(from.join("page.html"))?;
    anyhow::ensure!(page.contains(FILES), "page.html has no {FILES}");
    fs::write(to.join("page.html"), page.replace(FILES, &links(&report)?))?;
    for name in ["answers.json", "choice.js"] {
        fs::copy(from.join(name), to.join(name))?;
    }
    for entry in fs::read_dir(&assets)? {
        let path = entry?.path();
        let mut compressed = path.clone().into_os_string();
        compressed.push(".br");
        fs::write(compressed, brotli(&fs::read(&path)?))?;
        fs::remove_file(&path)?;
    }
    Ok(())
}

/// The elements that load the bundle: its stylesheet, the modules that `main.js` imports, and itself.
///
/// Source: esbuild's documentation, "Metafile" (0.28).
fn links(report: &Value) -> anyhow::Result<String> {
    let outputs = report["outputs"].as_object();
    let outputs = outputs.context("esbuild reports no outputs")?;
    let is_main = |output: &Value| {
        let entry = output["entryPoint"].as_str();
        entry.is_some_and(|entry| entry.ends_with("/main.js"))
    };
    let main = outputs.iter().find(|(_, output)| is_main(output));
    let (main, _) = main.context("esbuild reports no main.js")?;
    let address = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        format!("/assets/{name}")
    };
    let mut links = Vec::new();
    if let Some(style) = outputs[main]["cssBundle"].as_str() {
        links.push(format!(
            "<link rel=\"stylesheet\" href=\"{}\">",
            address(style)
        ));
    }
    let mut modules = vec![main.as_str()];
    let mut next = 0;
    while let Some(module) = modules.get(next) {
        next += 1;
        for import in outputs[*module]["imports"].as_array().into_iter().flatten() {
            let is_inside = import["external"] != true && import["kind"] == "import-statement";
            let path = import["path"].as_str().filter(|_| is_inside);
            modules.extend(path.filter(|path| !modules.contains(path)));
        }
    }
    for module in &modules[1..] {
        links.push(format!(
            "<link rel=\"modulepreload\" href=\"{}\">",
            address(module)
        ));
    }
    links.push(format!(
        "<script type=\"module\" src=\"{}\"></script>",
        address(main)
    ));
    Ok(links.join("\n"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_module_that_is_needed_at_once_is_announced_and_no_later_one() {
        let import = |path: &str, kind: &str| json!({ "path": path, "kind": kind });
        let report = json!({ "outputs": {
            "target/peers/x/assets/late-4.js": { "entryPoint": "node_modules/late/index.js", "imports": [] },
            "target/peers/x/assets/main-1.js": {
                "entryPoint": "tests/peers/x/main.js",
                "cssBundle": "target/peers/x/assets/main-5.css",
                "imports": [
                    import("target/peers/x/assets/chunk-2.js", "import-statement"),
                    import("target/peers/x/assets/late-4.js", "dynamic-import"),
                    { "path": "crypto", "kind": "import-statement", "external": true },
                ],
            },
            "target/peers/x/assets/chunk-2.js": {
                "imports": [import("target/peers/x/assets/chunk-3.js", "import-statement")],
            },
            "target/peers/x/assets/chunk-3.js": {
                "imports": [import("target/peers/x/assets/chunk-2.js", "import-statement")],
            },
        } });
        assert_eq!(
            links(&report).unwrap(),
            "<link rel=\"stylesheet\" href=\"/assets/main-5.css\">\n\
             <link rel=\"modulepreload\" href=\"/assets/chunk-2.js\">\n\
             <link rel=\"modulepreload\" href=\"/assets/chunk-3.js\">\n\
             <script type=\"module\" src=\"/assets/main-1.js\"></script>"
        );
        let sentence = links(&json!({ "outputs": {} })).unwrap_err().to_string();
        assert_eq!(sentence, "esbuild reports no main.js");
    }
}

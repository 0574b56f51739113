//! `cargo xtask docs`: the pages of `docs/` as a site, in `target/site`.
//!
//! ```text
//! index.html, guide/…    the pages, by mdBook
//! files/                 what pages link to outside docs/, as text
//! http/                  the description of the HTTP interface, in Swagger UI
//! checkout/              the built widget: its gallery and the theme builder
//! ```

mod links;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use xshell::cmd;

use crate::bundle::{self, Variant};
use crate::workspace::{Workspace, put, write};
use crate::{output, setup};

pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<()> {
    let site = build(workspace)?;
    output::passed(format!("The site is in {}", site.display()));
    Ok(())
}

/// Builds the site, checks its links, and returns its folder.
pub(crate) fn build(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    setup::set_up(workspace)?;
    bundle::make(workspace, Variant::Release)?;
    let mdbook = setup::MDBOOK.program(workspace)?;
    let (sh, site) = (&workspace.sh, workspace.target.join("site"));
    let book = sh.create_temp_dir()?;
    let book = book.path();
    let files = write_book(workspace, book)?;
    cmd!(sh, "{mdbook} build {book} --dest-dir {site}")
        .quiet()
        .run()?;
    for file in files {
        let text = site.join(links::copy_of(&file));
        put(&workspace.root.join(&file), &text, 0o644)?;
    }
    add_description(workspace, &site.join("http"))?;
    add_checkout(workspace, &site.join("checkout"))?;
    let broken = links::broken(&site)?;
    ensure!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
    Ok(site)
}

/// Writes mdBook's source to a folder. Returns the files outside `docs/` that the pages link to.
fn write_book(workspace: &Workspace, book: &Path) -> anyhow::Result<Vec<String>> {
    let sh = &workspace.sh;
    let listed = cmd!(
        sh,
        "git ls-files --cached --others --exclude-standard docs/*.md docs/pictures"
    );
    let mut files = Vec::new();
    for name in listed.quiet().read()?.lines() {
        let (from, to) = (workspace.root.join(name), book.join(name));
        if from.extension().is_some_and(|end| end == "md") && name != "docs/SUMMARY.md" {
            let depth = name.matches('/').count();
            let page = links::inside(&fs::read_to_string(&from)?, depth, &mut files);
            write(&to, &page)?;
        } else {
            put(&from, &to, 0o644)?;
        }
    }
    for file in ["book.toml", "site.css"] {
        put(
            &workspace.root.join("docs/site").join(file),
            &book.join(file),
            0o644,
        )?;
    }
    Ok(files)
}

fn add_description(workspace: &Workspace, folder: &Path) -> anyhow::Result<()> {
    let packages = setup::npm(workspace, "docs/site")?;
    let viewer = packages.join("node_modules/swagger-ui-dist");
    for file in [
        "LICENSE",
        "NOTICE",
        "swagger-ui.css",
        "swagger-ui-bundle.js",
        "swagger-ui-bundle.js.LICENSE.txt",
    ] {
        put(&viewer.join(file), &folder.join(file), 0o644)?;
    }
    let print = workspace
        .cargo("run --profile test --locked --quiet --package florin-proxy --example openapi");
    write(&folder.join("openapi.json"), &print.read()?)?;
    let page = workspace.root.join("docs/site/http.html");
    put(&page, &folder.join("index.html"), 0o644)
}

/// A proxy has its files at the root of its address; the site may lie in a folder.
const AT_ROOT: (&str, &str) = (r"https?:\/\/[^\s/@]+\/(?=", r"https?:\/\/[^\s@]+\/(?=");

fn add_checkout(workspace: &Workspace, folder: &Path) -> anyhow::Result<()> {
    let dist = Variant::Release.dist(workspace);
    let mut loaders = 0;
    for part in ["", "assets", "gallery"] {
        for entry in fs::read_dir(dist.join(part))? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_str().context("the name is not UTF-8")?;
            // In the root, the files of the test environment alone.
            let name = match (part, name) {
                ("", "florin.test.js") => "florin.js",
                ("", "pay.test.html") => "pay.html",
                ("", _) => continue,
                _ if [".br", ".gz"].iter().any(|end| name.ends_with(end)) => continue,
                _ => name,
            };
            let to = folder.join(part).join(name);
            put(&entry.path(), &to, 0o644)?;
            if name.starts_with("florin") {
                let loader = fs::read_to_string(&to)?;
                let (from, into) = AT_ROOT;
                ensure!(loader.contains(from), "{name} finds its address otherwise");
                write(&to, &loader.replace(from, into))?;
                loaders += 1;
            }
        }
    }
    ensure!(loaders > 1, "the widget has no loader");
    let shop = workspace.root.join("examples/shop/site");
    for file in ["shop.css", "theme-builder.css", "theme-builder.js"] {
        put(&shop.join(file), &folder.join(file), 0o644)?;
    }
    let builder = fs::read_to_string(shop.join("theme-builder.html"))?;
    let builder = builder.replace("/site/", "").replace("{{store}}", "demo");
    let builder = builder.replace(
        "A real order, to be paid in the sandbox",
        "The element, with canned responses",
    );
    let page = fs::read_to_string(workspace.root.join("docs/site/theme-builder.html"))?;
    write(
        &folder.join("theme-builder.html"),
        &page.replace("{{main}}", &builder),
    )
}

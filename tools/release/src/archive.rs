//! The release archive.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use sha2::{Digest as _, Sha256};
use xshell::{Shell, cmd};

use crate::Release;
use crate::licences::licences;
use crate::programs::PROGRAMS;
use crate::sbom::bill_of_materials;

/// Files of the repository that are in the archive as they are, beside `deploy/` and the pages of `docs/`, to which alerts, log
/// lines and the operator's page lead.
const FILES: [&str; 3] = ["CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// Writes `<name>.tar.gz` and `<name>.tar.gz.sha256` to the folder `out`; returns the path of the archive.
///
/// # Errors
/// A file is missing or cannot be written, or tar fails.
pub fn pack(release: &Release, out: &Path) -> anyhow::Result<PathBuf> {
    let sh = Shell::new()?;
    sh.change_dir(&release.root);
    let (stage, name) = (sh.create_temp_dir()?, release.name());
    let folder = stage.path().join(&name);
    for program in PROGRAMS {
        put(
            &sh,
            &release.programs.join(program),
            &folder.join("bin").join(program),
            0o755,
        )?;
    }
    let deployed = cmd!(
        sh,
        "git ls-files --cached --others --exclude-standard deploy docs/*.md"
    );
    let deployed = deployed
        .quiet()
        .read()
        .context("git lists deploy/ and docs/")?;
    for file in deployed.lines().chain(FILES) {
        put(&sh, &release.root.join(file), &folder.join(file), 0o644)?;
    }
    for (file, text) in [
        ("LICENSES.txt", licences(&release.components)?),
        ("florin.cdx.json", bill_of_materials(release)?),
    ] {
        let path = folder.join(file);
        sh.write_file(&path, text)?;
        fs::set_permissions(&path, Permissions::from_mode(0o644))?;
    }
    sh.create_dir(out)?;
    // The options of reproducible-builds.org/docs/archives.
    let tar = out.join(format!("{name}.tar"));
    let (stage, time) = (stage.path(), format!("--mtime=@{}", release.time));
    let same = [
        "--sort=name",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        "--format=ustar",
    ];
    cmd!(
        sh,
        "tar --create --file {tar} --directory {stage} --mode=u+rw,go=u-w {same...} {time} {name}"
    )
    .quiet()
    .run()
    .context("tar failed; it must be GNU tar")?;
    cmd!(sh, "gzip --force --no-name {tar}").quiet().run()?;
    let archive = out.join(format!("{name}.tar.gz"));
    let digest = hex::encode(Sha256::digest(sh.read_binary_file(&archive)?));
    sh.write_file(
        out.join(format!("{name}.tar.gz.sha256")),
        format!("{digest}  {name}.tar.gz\n"),
    )?;
    Ok(archive)
}

/// Copies a file, and makes the folders above it.
pub(crate) fn put(sh: &Shell, from: &Path, to: &Path, mode: u32) -> anyhow::Result<()> {
    let folder = to.parent().context("it is in a folder")?;
    sh.create_dir(folder)?;
    fs::copy(from, to).with_context(|| format!("{} cannot be copied", from.display()))?;
    Ok(fs::set_permissions(to, Permissions::from_mode(mode))?)
}

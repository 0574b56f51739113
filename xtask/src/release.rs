//! `cargo xtask release`: an archive of the programs with licences, a software bill of materials and the files of `deploy/`, or
//! what the container image contains.
//!
//! The same sources, compiler and tar give the same bytes: names are sorted, the time is that of the commit
//! (`SOURCE_DATE_EPOCH`), owners are 0, and no path of the building machine is in a program.

mod components;
mod notices;

use std::env::consts::ARCH;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use florin_servers::on_path;
use sha2::{Digest as _, Sha256};
use xshell::cmd;

use crate::bundle::{self, Variant};
use crate::docs;
use crate::setup;
use crate::workspace::{Workspace, put, write};

pub(crate) const PROGRAMS: [&str; 4] = [
    "florin-proxy",
    "florin-gateway",
    "florin-sweep",
    "florin-sandbox",
];

/// Those of the container image.
const SERVERS: [&str; 2] = ["florin-proxy", "florin-gateway"];

#[derive(Debug, Args)]
pub(crate) struct ReleaseArgs {
    /// What to compile for [default: this machine, with musl]
    #[arg(long)]
    target: Option<String>,
    /// Pack the programs of this folder instead of compiling them
    #[arg(long, value_name = "FOLDER")]
    programs: Option<PathBuf>,
    /// Where the archive is written [default: target/archives of the repository]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Pack this built site [default: built; none with --programs]
    #[arg(long, value_name = "FOLDER")]
    site: Option<PathBuf>,
    /// Write what the image contains to this folder, and no archive
    #[arg(long, value_name = "FOLDER")]
    image: Option<PathBuf>,
}

pub(crate) fn run(workspace: &Workspace, args: &ReleaseArgs) -> anyhow::Result<()> {
    let target = args.target.clone();
    let target = target.unwrap_or_else(|| format!("{ARCH}-unknown-linux-musl"));
    let programs = match &args.programs {
        Some(programs) => programs.canonicalize()?,
        None => build_programs(workspace, &target)?,
    };
    let sh = &workspace.sh;
    let time = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(set) => set,
        Err(_) => cmd!(sh, "git log -1 --format=%ct")
            .quiet()
            .read()
            .context("the commit has no time: set SOURCE_DATE_EPOCH")?,
    };
    let components = components::linked(workspace, &target)?;
    let notices = [
        (
            "LICENSES.txt",
            notices::licences(&workspace.root, &components)?,
        ),
        (
            "florin.cdx.json",
            notices::bill_of_materials(sh, &components, &target, &time)?,
        ),
    ];
    if let Some(image) = &args.image {
        let image = std::path::absolute(image)?;
        write_image(workspace, &programs, &notices, &image)?;
        println!("{}", image.display());
        return Ok(());
    }
    let site = match (&args.site, &args.programs) {
        (Some(site), _) => Some(site.canonicalize()?),
        (None, Some(_)) => None,
        (None, None) => Some(docs::build(workspace)?),
    };
    let out = match &args.out {
        // The work is done in the repository's folder.
        Some(out) => std::path::absolute(out)?,
        None => workspace.root.join("target/archives"),
    };
    let name = format!("florin-{}-{target}", env!("CARGO_PKG_VERSION"));
    let archive = pack(
        workspace,
        &programs,
        site.as_deref(),
        &notices,
        &time,
        &name,
        &out,
    )?;
    println!("{}", archive.display());
    Ok(())
}

fn build_programs(workspace: &Workspace, target: &str) -> anyhow::Result<PathBuf> {
    setup::set_up(workspace)?;
    bundle::make(workspace, Variant::Release)?;
    bundle::check_sizes(workspace, Variant::Release)?;
    let sh = &workspace.sh;
    let sysroot = PathBuf::from(cmd!(sh, "rustc --print sysroot").quiet().read()?);
    if !sysroot.join("lib/rustlib").join(target).exists() {
        cmd!(sh, "rustup target add {target}").run()?;
    }
    // It compiles SQLite, and the cryptography of ring.
    if target.ends_with("musl") && on_path("musl-gcc").is_none() {
        bail!("musl-gcc is missing: run `sudo apt-get install musl-tools`, then this again");
    }
    let home = std::env::var("CARGO_HOME").or_else(|_| {
        let home = std::env::var("HOME").context("set CARGO_HOME or HOME")?;
        anyhow::Ok(format!("{home}/.cargo"))
    })?;
    let remapped = [
        (workspace.root.display().to_string(), "/florin"),
        (home, "/cargo"),
        (sysroot.display().to_string(), "/rust"),
    ];
    let rust = remapped
        .each_ref()
        .map(|(from, to)| format!("--remap-path-prefix={from}={to}"));
    let c = remapped
        .each_ref()
        .map(|(from, to)| format!("-ffile-prefix-map={from}={to}"));
    let packages = PROGRAMS.map(|program| ["--package", program]).concat();
    let build = format!("build --locked --release --target {target}");
    bundle::cargo_with(workspace, Variant::Release, &build)
        .args(packages)
        .env("RUSTFLAGS", rust.join(" "))
        .env("CFLAGS", c.join(" "))
        .run()?;
    let folder = workspace.target.join(target).join("release");
    for program in PROGRAMS {
        let program = folder.join(program);
        let headers = cmd!(sh, "readelf --program-headers {program}");
        // A program of the image finds no library, and no dynamic linker.
        ensure!(
            !headers.quiet().read()?.contains("INTERP"),
            "{} is not static",
            program.display()
        );
    }
    Ok(folder)
}

type Notices = [(&'static str, String); 2];

/// Files of the repository that are in the archive as they are, beside `deploy/`, the libraries for servers, and the pages of
/// `docs/`, to which alerts, log lines and the operator's page lead.
const FILES: [&str; 3] = ["CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// Writes `<name>.tar.gz` and `<name>.tar.gz.sha256` to the folder `out`; returns the path of the archive.
fn pack(
    workspace: &Workspace,
    programs: &Path,
    site: Option<&Path>,
    notices: &Notices,
    time: &str,
    name: &str,
    out: &Path,
) -> anyhow::Result<PathBuf> {
    let sh = &workspace.sh;
    let stage = sh.create_temp_dir()?;
    let folder = stage.path().join(name);
    for program in PROGRAMS {
        let to = folder.join("bin").join(program);
        put(&programs.join(program), &to, 0o755)?;
    }
    let listed = cmd!(
        sh,
        "git ls-files --cached --others --exclude-standard deploy docs/*.md packages/node packages/python packages/php"
    );
    let listed = listed.quiet().read();
    let listed = listed.context("git lists deploy/, docs/ and packages/")?;
    for file in listed.lines().chain(FILES) {
        put(&workspace.root.join(file), &folder.join(file), 0o644)?;
    }
    if let Some(site) = site {
        put_folder(site, &folder.join("site"))?;
    }
    for (file, text) in notices {
        write(&folder.join(file), text)?;
    }
    sh.create_dir(out)?;
    // The options of reproducible-builds.org/docs/archives.
    let tar = out.join(format!("{name}.tar"));
    let (stage, time) = (stage.path(), format!("--mtime=@{time}"));
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
    let digest = hex::encode(Sha256::digest(fs::read(&archive)?));
    let sum = format!("{digest}  {name}.tar.gz\n");
    write(&out.join(format!("{name}.tar.gz.sha256")), &sum)?;
    Ok(archive)
}

/// Where distributions keep the certificates of authorities: Debian and Alpine, then Fedora.
const CERTIFICATES: [&str; 2] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
];

/// The rules of time zones, which stores' days follow.
const TIME_ZONES: &str = "/usr/share/zoneinfo";

/// Writes what `deploy/Dockerfile` copies into the image: `root`, which belongs to root, and `state`, which belongs to the
/// servers' user.
fn write_image(
    workspace: &Workspace,
    programs: &Path,
    notices: &Notices,
    image: &Path,
) -> anyhow::Result<()> {
    let root = image.join("root");
    for program in SERVERS {
        let to = root.join("bin").join(program);
        put(&programs.join(program), &to, 0o755)?;
    }
    let certificates = CERTIFICATES.map(Path::new);
    let certificates = certificates.into_iter().find(|path| path.is_file());
    let certificates = certificates.context(
        "this machine has no certificates for the image: install ca-certificates, then run this again",
    )?;
    put(certificates, &root.join(&CERTIFICATES[0][1..]), 0o644)?;
    put_folder(Path::new(TIME_ZONES), &root.join(&TIME_ZONES[1..])).context("install tzdata")?;
    let about = root.join("usr/share/doc/florin");
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        put(&workspace.root.join(licence), &about.join(licence), 0o644)?;
    }
    for (file, text) in notices {
        write(&about.join(file), text)?;
    }
    // Files must not be made beside the one folder that the proxy writes to.
    fs::create_dir_all(root.join("var/lib"))?;
    Ok(fs::create_dir_all(image.join("state/florin"))?)
}

fn put_folder(from: &Path, to: &Path) -> anyhow::Result<()> {
    let missing = || format!("{} cannot be read", from.display());
    for entry in fs::read_dir(from).with_context(missing)? {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
        if path.is_file() {
            put(&path, &to.join(name), 0o644)?;
        } else if path.is_dir() && name != "posix" && name != "right" {
            put_folder(&path, &to.join(name))?;
        }
    }
    Ok(())
}

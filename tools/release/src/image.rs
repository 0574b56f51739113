//! The files that `deploy/Dockerfile` copies into the image: `root`, which belongs to root, and `state`, which belongs to the proxy's user.

use std::path::Path;

use anyhow::Context as _;
use xshell::Shell;

use crate::Release;
use crate::archive::put;
use crate::licences::licences;
use crate::sbom::bill_of_materials;

/// Where distributions keep the certificates of authorities: Debian and Alpine, then Fedora.
const CERTIFICATES: [&str; 2] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
];

/// Writes everything that the image contains to the folder `image`.
///
/// # Errors
/// A file is missing or cannot be written.
pub fn write_image(release: &Release, image: &Path) -> anyhow::Result<()> {
    let sh = Shell::new()?;
    let (root, program) = (image.join("root"), "florin-proxy");
    put(
        &sh,
        &release.programs.join(program),
        &root.join("bin").join(program),
        0o755,
    )?;
    let certificates = CERTIFICATES
        .iter()
        .map(Path::new)
        .find(|path| path.is_file());
    let certificates = certificates.context(
        "this machine has no certificates for the image: install ca-certificates, then run this again",
    )?;
    put(
        &sh,
        certificates,
        &root.join("etc/ssl/certs/ca-certificates.crt"),
        0o644,
    )?;
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        let to = root.join("usr/share/doc/florin").join(licence);
        put(&sh, &release.root.join(licence), &to, 0o644)?;
    }
    let about = root.join("usr/share/doc/florin");
    sh.write_file(about.join("LICENSES.txt"), licences(&release.components)?)?;
    sh.write_file(about.join("florin.cdx.json"), bill_of_materials(release)?)?;
    // Files must not be made beside the one folder that the proxy writes to.
    sh.create_dir(root.join("var/lib"))?;
    sh.create_dir(image.join("state/florin"))?;
    Ok(())
}

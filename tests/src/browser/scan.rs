//! Reading QR codes with an independent decoder: zbar.

use std::path::Path;
use std::process::Command;

use super::engine::program;

/// Returns the text of the QR code in a picture. An unreadable picture is kept among the temporary files.
pub(super) fn scan(picture: &[u8], file: &Path) -> Option<String> {
    std::fs::write(file, picture).expect("the folder is writable");
    let mut zbar = Command::new(program("zbarimg", "zbar-tools"));
    zbar.args(["--quiet", "--raw", "-Sdisable", "-Sqrcode.enable"])
        .arg(file);
    let output = zbar.output().expect("zbarimg can be started");
    let text = String::from_utf8_lossy(&output.stdout);
    let text = text.trim_end_matches('\n').to_owned();
    if text.is_empty() {
        let kept = std::env::temp_dir().join("florin-unreadable-code.png");
        let _ = std::fs::copy(file, &kept);
        return None;
    }
    Some(text)
}

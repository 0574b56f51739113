//! Addresses of pictures: only what the operator names is loaded by a checkout.

use url::Url;

use super::Origin;
use super::web_address::web_address;

/// An address longer than this is none of a picture.
const MAX_ADDRESS_CHARS: usize = 2048;

/// An https address of a picture; in the environment test also an http one on loopback.
pub(super) fn picture(text: &str, is_test: bool) -> Result<Url, String> {
    if text.len() > MAX_ADDRESS_CHARS {
        return Err("an address of a picture has 2048 characters at most".into());
    }
    let url = web_address(text)?;
    // It goes into the page's policy, where a `;` would begin another directive.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b":/.-[]".contains(&byte);
    if !Origin::of(&url).as_str().bytes().all(is_plain) {
        return Err(format!(
            "{text:?} is not on a host of letters, digits and hyphens"
        ));
    }
    if url.scheme() == "https" || is_test {
        return Ok(url);
    }
    Err(format!(
        "{text:?} is not encrypted: write https://… (http on loopback is for the environment test alone)"
    ))
}

/// Whether a picture is on one of the origins.
pub(super) fn admitted(origins: &[Origin], address: &str) -> Result<(), String> {
    if address.len() > MAX_ADDRESS_CHARS || !address.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("an address of a picture is 2048 characters of ASCII at most".into());
    }
    let url = web_address(address)?;
    let origin = Origin::of(&url);
    if origins.contains(&origin) {
        return Ok(());
    }
    Err(format!(
        "{origin} is not among the store's image_origins: pictures load from these alone"
    ))
}

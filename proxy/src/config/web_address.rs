//! Addresses of the web: encrypted, or on this machine; origins; addresses of pictures.

use std::fmt;

use url::{Host, Url};

/// Scheme, host and port of a page, as browsers write it in `Origin`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin(String);

impl Origin {
    /// The origin of an address.
    pub fn of(url: &Url) -> Self {
        Self(url.origin().ascii_serialization())
    }

    /// As in the header `Origin`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An `https` address, or an `http` one on this machine.
pub(crate) fn web_address(text: &str) -> Result<Url, String> {
    let url = Url::parse(text)
        .map_err(|error| format!("{text:?} is no address ({error}): write like https://…"))?;
    if url.cannot_be_a_base() || url.host().is_none() {
        return Err(format!(
            "{text:?} is no web address: write like https://pay.shop.example"
        ));
    }
    // It goes into policies of pages, where `*` would admit every host, and a `;` would begin another directive.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b":.-_[]".contains(&byte);
    if !url
        .host_str()
        .is_some_and(|host| host.bytes().all(is_plain))
    {
        return Err(format!(
            "{text:?} names no single host: write each one out, like https://shop.example"
        ));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must carry no user name and no password".into());
    }
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_loopback(&url) => Ok(url),
        "http" => Err(format!(
            "{text:?} is not encrypted: write https://… (http only on loopback)"
        )),
        other => Err(format!("{other}: is no web address: write https://…")),
    }
}

pub(crate) fn is_encrypted_or_loopback(url: &Url) -> bool {
    url.scheme() == "https" || (url.scheme() == "http" && is_loopback(url))
}

pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

pub(crate) fn origin(text: &str) -> Result<Origin, String> {
    let url = web_address(text)?;
    let origin = Origin::of(&url);
    if origin.as_str() == text {
        return Ok(origin);
    }
    Err(format!(
        "{text:?} is no origin: write {:?}",
        origin.as_str()
    ))
}

/// An address longer than this is none of a picture.
const MAX_ADDRESS_CHARS: usize = 2048;

/// An https address of a picture; in the environment test also an http one on loopback.
pub(crate) fn picture(text: &str, is_test: bool) -> Result<Url, String> {
    if text.len() > MAX_ADDRESS_CHARS {
        return Err("an address of a picture has 2048 characters at most".into());
    }
    let url = web_address(text)?;
    if url.scheme() == "https" || is_test {
        return Ok(url);
    }
    Err(format!(
        "{text:?} is not encrypted: write https://… (http on loopback is for the environment test alone)"
    ))
}

pub(crate) fn admitted(origins: &[Origin], address: &str) -> Result<(), String> {
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

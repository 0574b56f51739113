//! Addresses of the web: encrypted, or on this machine.

use url::{Host, Url};

/// An `https` address, or an `http` one on this machine.
pub(super) fn web_address(text: &str) -> Result<Url, String> {
    let url = Url::parse(text)
        .map_err(|error| format!("{text:?} is no address ({error}): write like https://…"))?;
    if url.cannot_be_a_base() || url.host().is_none() {
        return Err(format!(
            "{text:?} is no web address: write like https://pay.shop.example"
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

/// Whether what is sent to an address cannot be read on the way.
pub(crate) fn is_encrypted_or_loopback(url: &Url) -> bool {
    url.scheme() == "https" || (url.scheme() == "http" && is_loopback(url))
}

/// Whether an address is this machine's.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

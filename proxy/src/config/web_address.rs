//! Addresses of the web: encrypted, or on this machine; origins; addresses of pictures; networks.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;
use url::{Host, Url};

use crate::config::Problem;

/// Scheme, host and port of a page, as browsers write it in `Origin`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin(String);

impl Origin {
    pub(crate) fn of(url: &Url) -> Self {
        Self(url.origin().ascii_serialization())
    }

    pub(crate) fn as_str(&self) -> &str {
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

// Networks of addresses: one address, or all of a prefix; private and public ones.

/// Parses `10.0.0.0/8`, `fd00::/8`, or a single address. An IPv4 address in IPv6 notation is an IPv4 address.
pub(crate) fn network(text: &str) -> Result<IpNet, String> {
    let single = text.parse().map(|address: IpAddr| address.to_canonical());
    single
        .map(IpNet::from)
        .or_else(|_| text.parse())
        .map_err(|_| format!("{text:?} is no address: write like 10.0.0.7 or 10.0.0.0/8"))
}

/// Returns `true` for an address that no machine of the internet can have.
pub(crate) fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            address.is_loopback() || address.is_private() || address.is_link_local()
        }
        IpAddr::V6(address) => {
            address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local()
        }
    }
}

/// A warning if the admin listener may be reached from the internet.
pub(crate) fn open_to_all(admin_listen: SocketAddr) -> Option<Problem> {
    let port = admin_listen.port();
    (!is_private(admin_listen.ip().to_canonical())).then(|| Problem::new(
        "admin_listen",
        format!(
            "{admin_listen} can be reached from the internet, unless a firewall or a container's network prevents it: /metrics \
             and /health ask for no password. Write 127.0.0.1:{port} or a private address; of a container, do not publish port {port}"
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_contains_the_addresses_of_its_prefix() {
        for (text, inside, outside) in [
            ("10.0.0.0/8", "10.255.0.1", "11.0.0.1"),
            ("10.0.0.7", "10.0.0.7", "10.0.0.8"),
            ("::ffff:10.0.0.7", "10.0.0.7", "10.0.0.8"),
            ("fd00::/8", "fdff::1", "fe00::1"),
            ("0.0.0.0/0", "192.0.2.1", "2001:db8::1"),
            ("::/0", "2001:db8::1", "192.0.2.1"),
        ] {
            let network = network(text).unwrap();
            let contains = |text: &str| network.contains(&text.parse::<IpAddr>().unwrap());
            assert!(contains(inside) && !contains(outside), "{text}");
        }
    }

    #[test]
    fn an_admin_listener_that_the_internet_may_reach_is_a_warning() {
        for (address, is_open) in [
            ("127.0.0.1:9090", false),
            ("10.0.0.7:9090", false),
            ("[::1]:9090", false),
            ("[fd00::7]:9090", false),
            ("0.0.0.0:9090", true),
            ("203.0.113.7:9090", true),
            ("[::]:9090", true),
            ("[2001:db8::7]:9090", true),
        ] {
            let warned = open_to_all(address.parse().unwrap());
            assert_eq!(warned.is_some(), is_open, "{address}");
        }
    }
}

//! Networks of addresses: one address, or all of a prefix; private and public ones.

use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;

use crate::config::problems::Problem;

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
    (!is_private(admin_listen.ip().to_canonical())).then(|| Problem {
        key: "admin_listen".to_owned(),
        message: format!(
            "{admin_listen} can be reached from the internet, unless a firewall or a container's network prevents it: /metrics \
             and /health ask for no password. Write 127.0.0.1:{port} or a private address; of a container, do not publish port {port}"
        ),
    })
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

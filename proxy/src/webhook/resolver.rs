//! Which addresses a delivery may go to: a store's endpoint is on the public internet, not in the operator's network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Resolves names and keeps public addresses only, at the moment of connecting: a name that first resolves to a public
/// address and then to a private one gets nowhere.
#[derive(Debug)]
pub(super) struct PublicOnly;

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let public: Vec<SocketAddr> = found.filter(|address| is_public(address.ip())).collect();
            if public.is_empty() {
                return Err(format!("{} resolves to no public address", name.as_str()).into());
            }
            Ok(Box::new(public.into_iter()) as Addrs)
        })
    }
}

/// Whether an address is one of the public internet.
///
/// Source: IANA IPv4 and IPv6 Special-Purpose Address Registries; what they mark as not globally reachable is refused.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let shared = a == 100 && (64..128).contains(&b);
    let protocol = a == 192 && b == 0 && c == 0;
    let benchmark = a == 198 && (b == 18 || b == 19);
    let relay = a == 192 && b == 88 && c == 99;
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || address.is_multicast()
        || a == 0
        || a >= 240
        || shared
        || protocol
        || benchmark
        || relay)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(mapped) = address.to_ipv4_mapped() {
        return is_public_v4(mapped);
    }
    let [first, second, ..] = address.segments();
    // 2000::/3 is the only block given out; within it, some is for documentation, tunnels and protocols.
    let global = (0x2000..0x4000).contains(&first);
    let special = (first == 0x2001 && (second < 0x0200 || second == 0x0db8))
        || first == 0x2002
        || first == 0x3fff;
    global && !special
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn public(text: &str) -> bool {
        is_public(text.parse().unwrap())
    }

    #[test]
    fn public_addresses_are_reached() {
        for address in [
            "1.1.1.1",
            "93.184.216.34",
            "2606:4700:4700::1111",
            "::ffff:8.8.8.8",
        ] {
            assert!(public(address), "{address}");
        }
    }

    #[test]
    fn no_delivery_goes_into_the_operators_network() {
        for address in [
            "127.0.0.1",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "192.0.0.8",
            "192.0.2.1",
            "192.88.99.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2001::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
        ] {
            assert!(!public(address), "{address}");
        }
    }
}

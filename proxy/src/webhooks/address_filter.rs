//! Addresses of the public internet: a store's endpoint is one of them, not one in the operator's network.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use ipnet::{Ipv4Net, Ipv6Net};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

const fn v4(a: u8, b: u8, c: u8, d: u8, prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)
}

const fn v6(first: u16, second: u16, prefix: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(first, second, 0, 0, 0, 0, 0, 0), prefix)
}

/// What no delivery goes to.
///
/// Source: IANA IPv4 Special-Purpose Address Registry (2024-10), every block that is not globally reachable, and the
/// whole of `192.0.0.0/24`, of which two addresses are; IANA IPv4 Multicast Address Space Registry.
const SPECIAL_V4: [Ipv4Net; 16] = [
    v4(0, 0, 0, 0, 8),       // RFC 791: "this network"; 0.0.0.0 leads to this machine
    v4(10, 0, 0, 0, 8),      // RFC 1918: private
    v4(100, 64, 0, 0, 10),   // RFC 6598: shared by carriers
    v4(127, 0, 0, 0, 8),     // RFC 1122: loopback
    v4(169, 254, 0, 0, 16),  // RFC 3927: link-local, and the clouds' metadata services
    v4(172, 16, 0, 0, 12),   // RFC 1918: private
    v4(192, 0, 0, 0, 24),    // RFC 6890: protocol assignments
    v4(192, 0, 2, 0, 24),    // RFC 5737: documentation
    v4(192, 88, 99, 0, 24),  // RFC 7526: relays of 6to4, given up
    v4(192, 168, 0, 0, 16),  // RFC 1918: private
    v4(198, 18, 0, 0, 15),   // RFC 2544: benchmarks
    v4(198, 51, 100, 0, 24), // RFC 5737: documentation
    v4(203, 0, 113, 0, 24),  // RFC 5737: documentation
    v4(224, 0, 0, 0, 4),     // RFC 5771: multicast
    v4(240, 0, 0, 0, 4),     // RFC 1112: reserved
    v4(255, 255, 255, 255, 32), // RFC 919: broadcast
];

/// All that IANA gives out for hosts: outside of it are loopback, link-local, site-local, unique local, multicast, and
/// the translations of IPv4 (`64:ff9b::/96`), behind which any address of the table above may stand.
///
/// Source: IANA Internet Protocol Version 6 Address Space.
const GLOBAL_V6: Ipv6Net = v6(0x2000, 0, 3);

/// What no delivery goes to within that.
///
/// Source: IANA IPv6 Special-Purpose Address Registry (2024-10). Of `2001::/23` some blocks are globally reachable:
/// anycast and overlay networks, where no store has a server.
const SPECIAL_V6: [Ipv6Net; 4] = [
    v6(0x2001, 0, 23), // RFC 2928: protocol assignments, Teredo's tunnels among them
    v6(0x2001, 0x0db8, 32), // RFC 3849: documentation
    v6(0x2002, 0, 16), // RFC 3056: 6to4, which leads to any address of IPv4
    v6(0x3fff, 0, 20), // RFC 9637: documentation
];

/// Returns `true` for an address that is written in the URL, and so never resolved, and is not public.
pub(crate) fn names_a_private_address(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => !is_public(address.into()),
        Some(Host::Ipv6(address)) => !is_public(address.into()),
        Some(Host::Domain(_)) => false,
        None => true,
    }
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(mapped) => is_public_v4(mapped),
            None => is_public_v6(address),
        },
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    !SPECIAL_V4.iter().any(|block| block.contains(&address))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let is_special = SPECIAL_V6.iter().any(|block| block.contains(&address));
    GLOBAL_V6.contains(&address) && !is_special
}

pub(crate) type Lookup =
    Arc<dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> + Send + Sync>;

/// Resolves names and keeps public addresses only. It runs at the moment of connecting and its result is what is
/// connected to: a name that first resolves to a public address and then to a private one gets nowhere.
pub(crate) struct PublicOnly(pub(crate) Lookup);

pub(crate) fn system() -> Lookup {
    Arc::new(|name| {
        Box::pin(async move { Ok(tokio::net::lookup_host((name, 0)).await?.collect()) })
    })
}

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        let found = (self.0)(name.as_str().to_owned());
        Box::pin(async move {
            let found = found.await?;
            let public: Vec<SocketAddr> = found
                .into_iter()
                .filter(|address| is_public(address.ip()))
                .collect();
            if public.is_empty() {
                return Err("the name resolves to no public address".into());
            }
            Ok(Box::new(public.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    //! Source of every address: the registries named in the module, first and last address of each block and its neighbours;
    //! well-known public servers.

    use super::*;

    #[test]
    fn deliveries_go_to_public_addresses_and_never_into_the_operators_network() {
        let public = [
            "1.1.1.1 8.8.8.8 93.184.216.34 2606:4700:4700::1111 2620:fe::fe \
             2a00:1450:4001:80b::200e 2400:cb00:2048:1::c629:d7a2 ::ffff:8.8.8.8",
            // Neighbours of special blocks.
            "1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 \
             128.0.0.0 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 \
             191.255.255.255 192.0.1.0 192.0.3.0 192.88.98.255 192.88.100.0 192.167.255.255 \
             192.169.0.0 198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 \
             203.0.114.0 223.255.255.255 2000:: 2001:200:: 2001:db7:ffff::1 2001:db9:: \
             2003:: 3ffe:ffff::1 3fff:1000::",
        ];
        let special = [
            // This machine.
            "0.0.0.0 0.255.255.255 127.0.0.1 127.1.2.3 127.255.255.255 :: ::1",
            // Private networks.
            "10.0.0.0 10.255.255.255 172.16.0.0 172.31.255.255 192.168.0.0 192.168.255.255 \
             100.64.0.0 100.127.255.255 fc00::1 fd12:3456:789a::1 fec0::1",
            // Link-local: the metadata services of clouds.
            "169.254.0.0 169.254.169.254 169.254.255.255 fe80::1 fe80::a9fe:a9fe \
             fd00:ec2::254",
            // Protocols, documentation, benchmarks.
            "192.0.0.1 192.0.0.170 192.0.0.255 192.0.2.0 192.0.2.255 192.88.99.1 198.18.0.0 \
             198.19.255.255 198.51.100.0 198.51.100.255 203.0.113.0 203.0.113.255 2001::1 \
             2001:2::1 2001:10::1 2001:20::1 2001:1ff:ffff::1 2001:db8::1 3fff::1 \
             3fff:fff:ffff::1 5f00::1 100::1",
            // Multicast, reserved and broadcast.
            "224.0.0.1 239.255.255.255 240.0.0.0 255.255.255.254 255.255.255.255 ff02::1 \
             ff0e::1",
            // Mapped, and compatible.
            "::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:0:127.0.0.1 \
             ::127.0.0.1 ::10.0.0.1",
            // NAT64, well known and local.
            "64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b::808:808 64:ff9b:1::7f00:1",
            // 6to4 and Teredo.
            "2002:7f00:1:: 2002:a9fe:a9fe::1 2001:0:7f00:1::",
        ];
        for (addresses, is_reached) in [(&public[..], true), (&special[..], false)] {
            for address in addresses.iter().flat_map(|row| row.split(' ')) {
                let parsed = address.parse().unwrap();
                assert_eq!(is_public(parsed), is_reached, "{address}");
            }
        }
    }

    #[tokio::test]
    async fn a_name_leads_to_its_public_addresses_alone() {
        let found = ["127.0.0.1:0", "192.0.1.1:0", "[::1]:0", "[2620:fe::fe]:0"];
        let found = found.map(|address| address.parse::<SocketAddr>().unwrap());
        let lookup: Lookup = Arc::new(move |_| Box::pin(async move { Ok(found.to_vec()) }));
        let name = "shop.example".parse().unwrap();
        let left = PublicOnly(lookup).resolve(name).await.unwrap();
        assert_eq!(left.collect::<Vec<_>>(), [found[1], found[3]]);
    }
}

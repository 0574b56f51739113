//! A range of addresses: one, or all that begin alike.

use std::net::{IpAddr, Ipv6Addr};

/// `10.0.0.0/8`, `fd00::/8`, or a single address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// IPv4 as IPv6 has it, `::ffff:a.b.c.d`.
    start: u128,
    /// How many bits are fixed, of 128.
    bits: u32,
}

impl Network {
    /// Reads it.
    ///
    /// # Errors
    /// A sentence with the text that is none.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let refused = || format!("{text:?} is no address: write like 10.0.0.7 or 10.0.0.0/8");
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| refused())?;
        let width = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(width), str::parse);
        let bits = bits
            .ok()
            .filter(|bits| *bits <= width)
            .ok_or_else(refused)?;
        Ok(Self {
            start: mapped(address),
            bits: bits + 128 - width,
        })
    }

    /// Whether an address is one of it.
    pub(crate) fn contains(self, address: IpAddr) -> bool {
        let differs = self.start ^ mapped(address);
        self.bits == 0 || differs >> (128 - self.bits) == 0
    }
}

fn mapped(address: IpAddr) -> u128 {
    let mapped = match address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    };
    Ipv6Addr::to_bits(mapped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn contains(network: &str, address: &str) -> bool {
        let network = Network::parse(network).unwrap();
        network.contains(address.parse().unwrap())
    }

    #[test]
    fn a_network_holds_what_begins_like_it() {
        assert!(contains("10.0.0.0/8", "10.255.0.1"));
        assert!(!contains("10.0.0.0/8", "11.0.0.1"));
        assert!(contains("10.0.0.7", "10.0.0.7"));
        assert!(contains("10.0.0.7", "::ffff:10.0.0.7"));
        assert!(!contains("10.0.0.7", "10.0.0.8"));
        assert!(contains("fd00::/8", "fdff::1"));
        assert!(!contains("fd00::/8", "fe00::1"));
        assert!(contains("0.0.0.0/0", "192.0.2.1"));
        assert!(!contains("0.0.0.0/0", "2001:db8::1"));
        assert!(contains("::/0", "2001:db8::1"));
    }

    #[test]
    fn what_is_no_network_is_refused_by_its_text() {
        for text in [
            "",
            "10.0.0",
            "10.0.0.0/33",
            "::/129",
            "10.0.0.0/-1",
            "10.0.0.0/",
            "shop.example",
        ] {
            let refused = Network::parse(text).unwrap_err();
            assert!(
                refused.starts_with(&format!("{text:?} is no address")),
                "{refused}"
            );
        }
    }
}

//! A network of addresses: one, or all of a prefix.

use std::net::IpAddr;

use ipnet::IpNet;

/// Parses `10.0.0.0/8`, `fd00::/8`, or a single address. An IPv4 address in IPv6 notation is an IPv4 address.
///
/// # Errors
/// A sentence with the text that is none.
pub(crate) fn network(text: &str) -> Result<IpNet, String> {
    let single = text.parse().map(|address: IpAddr| address.to_canonical());
    single
        .map(IpNet::from)
        .or_else(|_| text.parse())
        .map_err(|_| format!("{text:?} is no address: write like 10.0.0.7 or 10.0.0.0/8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn contains(text: &str, address: &str) -> bool {
        let address: IpAddr = address.parse().unwrap();
        network(text).unwrap().contains(&address)
    }

    #[test]
    fn a_network_contains_the_addresses_of_its_prefix() {
        assert!(contains("10.0.0.0/8", "10.255.0.1"));
        assert!(!contains("10.0.0.0/8", "11.0.0.1"));
        assert!(contains("10.0.0.7", "10.0.0.7"));
        assert!(contains("::ffff:10.0.0.7", "10.0.0.7"));
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
            let refused = network(text).unwrap_err();
            assert!(
                refused.starts_with(&format!("{text:?} is no address")),
                "{refused}"
            );
        }
    }
}

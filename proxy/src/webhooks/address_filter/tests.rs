//! Source of every address: the registries named in the module, first and last address of each block and its neighbours;
//! well-known public servers.

use super::*;

#[track_caller]
fn all_are(public: bool, addresses: &str) {
    for address in addresses.split_whitespace() {
        let parsed = address.parse();
        assert_eq!(is_public(parsed.unwrap()), public, "{address}");
    }
}

#[test]
fn public_addresses_are_reached() {
    all_are(
        true,
        "1.1.1.1 8.8.8.8 93.184.216.34 2606:4700:4700::1111 2620:fe::fe \
         2a00:1450:4001:80b::200e 2400:cb00:2048:1::c629:d7a2 ::ffff:8.8.8.8",
    );
}

#[test]
fn the_neighbours_of_special_blocks_are_public() {
    all_are(
        true,
        "1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 \
         128.0.0.0 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 \
         191.255.255.255 192.0.1.0 192.0.3.0 192.88.98.255 192.88.100.0 192.167.255.255 \
         192.169.0.0 198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 \
         203.0.114.0 223.255.255.255 2000:: 2001:200:: 2001:db7:ffff::1 2001:db9:: \
         2003:: 3ffe:ffff::1 3fff:1000::",
    );
}

#[test]
fn no_delivery_goes_into_the_operators_network() {
    // This machine.
    all_are(
        false,
        "0.0.0.0 0.255.255.255 127.0.0.1 127.1.2.3 127.255.255.255 :: ::1",
    );
    // Private networks.
    all_are(
        false,
        "10.0.0.0 10.255.255.255 172.16.0.0 172.31.255.255 192.168.0.0 192.168.255.255 \
         100.64.0.0 100.127.255.255 fc00::1 fd12:3456:789a::1 fec0::1",
    );
    // Link-local: the metadata services of clouds.
    all_are(
        false,
        "169.254.0.0 169.254.169.254 169.254.255.255 fe80::1 fe80::a9fe:a9fe \
         fd00:ec2::254",
    );
    // Protocols, documentation, benchmarks.
    all_are(
        false,
        "192.0.0.1 192.0.0.170 192.0.0.255 192.0.2.0 192.0.2.255 192.88.99.1 198.18.0.0 \
         198.19.255.255 198.51.100.0 198.51.100.255 203.0.113.0 203.0.113.255 2001::1 \
         2001:2::1 2001:10::1 2001:20::1 2001:1ff:ffff::1 2001:db8::1 3fff::1 \
         3fff:fff:ffff::1 5f00::1 100::1",
    );
    // Multicast, reserved and broadcast.
    all_are(
        false,
        "224.0.0.1 239.255.255.255 240.0.0.0 255.255.255.254 255.255.255.255 ff02::1 \
         ff0e::1",
    );
}

#[test]
fn no_delivery_goes_there_by_an_address_inside_another() {
    // Mapped, and compatible.
    all_are(
        false,
        "::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:0:127.0.0.1 \
         ::127.0.0.1 ::10.0.0.1",
    );
    // NAT64, well known and local.
    all_are(
        false,
        "64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b::808:808 64:ff9b:1::7f00:1",
    );
    // 6to4 and Teredo.
    all_are(false, "2002:7f00:1:: 2002:a9fe:a9fe::1 2001:0:7f00:1::");
}

//! Ports for programs that bind them by number.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicU16, Ordering};

/// Below the range from which the kernel takes the ports of outgoing connections: a port that is free stays free until the
/// program has bound it.
///
/// Source: ip(7), `ip_local_port_range`: 32768 to 60999.
const PORTS: std::ops::Range<u16> = 20_000..32_000;

/// Returns a port of the loopback interface that is free, and that no other call of this process has returned.
///
/// # Panics
/// A hundred ports in a row are in use.
#[must_use]
pub fn free_port() -> u16 {
    static CALLS: AtomicU16 = AtomicU16::new(0);
    let count = PORTS.end - PORTS.start;
    // Test programs that run side by side begin at different ports.
    let first =
        u16::try_from(std::process::id() * 61 % u32::from(count)).expect("it is below count");
    let free = std::iter::repeat_with(|| CALLS.fetch_add(1, Ordering::Relaxed))
        .take(100)
        .map(|call| PORTS.start + (first + call % count) % count)
        .find(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok());
    free.expect("one of a hundred ports is free")
}

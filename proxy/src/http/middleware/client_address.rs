//! The address of a request's client, behind reverse proxies too.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use ipnet::IpNet;

use crate::config::network::is_private;
use crate::rate_limit::network;
use crate::state::AppState;

static FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

pub(crate) struct ClientAddress(pub Option<IpAddr>);

impl FromRequestParts<Arc<AppState>> for ClientAddress {
    type Rejection = Infallible;

    async fn from_request_parts(
        parts: &mut Parts,
        app: &Arc<AppState>,
    ) -> Result<Self, Infallible> {
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        let config = app.config();
        let trusted = &config.trusted_proxies;
        let Some(ConnectInfo(peer)) = peer else {
            return Ok(Self(None));
        };
        let client = client_address(*peer, &parts.headers, trusted);
        if client.is_none() && parts.headers.contains_key(&FORWARDED_FOR) {
            warn_of_unknown_client(app, peer.ip(), is_trusted(peer.ip(), trusted));
        }
        Ok(Self(client))
    }
}

/// The address of the client: of the connection, or, behind a trusted proxy, the last one of `X-Forwarded-For` that is
/// no trusted proxy's, since the client may have written everything before it.
///
/// None when it is not known: a trusted proxy names no client, or the connection comes from a private address that the
/// configuration does not name. All clients behind such a proxy would share one address.
fn client_address(peer: SocketAddr, headers: &HeaderMap, trusted: &[IpNet]) -> Option<IpAddr> {
    let peer = peer.ip().to_canonical();
    if !is_trusted(peer, trusted) {
        return (!is_private(peer)).then_some(peer);
    }
    // From the end, and no further than needed: what the client wrote before it may be anything, even no text at all.
    let lines = headers.get_all(&FORWARDED_FOR).iter().rev();
    let named = lines.flat_map(|line| line.as_bytes().rsplit(|byte| *byte == b','));
    for name in named {
        let address = forwarded_address(str::from_utf8(name).ok()?.trim())?.to_canonical();
        if !is_trusted(address, trusted) {
            return Some(address);
        }
    }
    None
}

/// An entry of the header: an address, which some load balancers write with its port.
fn forwarded_address(text: &str) -> Option<IpAddr> {
    let with_port = || text.parse().map(|address: SocketAddr| address.ip());
    text.parse().or_else(|_| with_port()).ok()
}

/// Returns the address that a connection counts for, or `None` if the peer is private or a trusted proxy: all customers
/// may come from there.
pub(crate) fn counted_address(peer: SocketAddr, trusted: &[IpNet]) -> Option<IpAddr> {
    client_address(peer, &HeaderMap::new(), trusted).map(network)
}

fn warn_of_unknown_client(app: &AppState, peer: IpAddr, is_trusted: bool) {
    let mut notices = app.address_notices.lock();
    if is_trusted {
        if !std::mem::replace(&mut notices.has_unnamed_client, true) {
            tracing::warn!(
                %peer,
                "X-Forwarded-For names no address but those of trusted_proxies: no client address is known, and \
                 rate_limit.orders_per_minute_per_ip does nothing. Let the reverse proxy add the address of its client to the \
                 header, as the files of deploy/ do, and list no network of customers in trusted_proxies"
            );
        }
    } else if !std::mem::replace(&mut notices.has_unnamed_proxy, true) {
        tracing::warn!(
            %peer,
            "X-Forwarded-For comes from an address that is not in trusted_proxies: no client address is known, and \
             rate_limit.orders_per_minute_per_ip does nothing. Add the reverse proxy to trusted_proxies"
        );
    }
}

fn is_trusted(address: IpAddr, trusted: &[IpNet]) -> bool {
    let address = address.to_canonical();
    trusted.iter().any(|network| network.contains(&address))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn client(peer: &str, forwarded: &[&[u8]], trusted: &[&str]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append(&FORWARDED_FOR, HeaderValue::from_bytes(line).unwrap());
        }
        let trusted: Vec<_> = trusted.iter().map(|text| text.parse().unwrap()).collect();
        let peer = SocketAddr::new(peer.parse().unwrap(), 1);
        client_address(peer, &headers, &trusted).map(|address| address.to_string())
    }

    #[test]
    fn behind_trusted_proxies_the_last_untrusted_address_counts_whatever_the_client_wrote() {
        let client_address: &[u8] = b"198.51.100.1";
        let cases: [(_, &[&[u8]], _); 10] = [
            ("192.0.2.9", &[client_address], Some("192.0.2.9")),
            (
                "10.0.0.1",
                &[b"1.1.1.1, 198.51.100.1", b"10.0.0.2"],
                Some("198.51.100.1"),
            ),
            (
                "::ffff:10.0.0.1",
                &[b"::ffff:198.51.100.1"],
                Some("198.51.100.1"),
            ),
            // Azure's gateways write ports.
            (
                "10.0.0.1",
                &[b"198.51.100.1:4711, [fd00::1]:443"],
                Some("198.51.100.1"),
            ),
            ("10.0.0.1", &[b"\xff, 198.51.100.1"], Some("198.51.100.1")),
            (
                "10.0.0.1",
                &[b"\x80", b"198.51.100.1, 10.0.0.2"],
                Some("198.51.100.1"),
            ),
            // An unknown address is not limited.
            ("10.0.0.1", &[b"198.51.100.1, \xff"], None),
            ("10.0.0.1", &[], None),
            ("10.0.0.1", &[b"unknown"], None),
            ("10.0.0.1", &[b"10.0.0.3"], None),
        ];
        for (peer, forwarded, counted) in cases {
            let found = client(peer, forwarded, &["10.0.0.0/8", "fd00::/8"]);
            assert_eq!(found.as_deref(), counted, "{peer} {forwarded:?}");
        }
        let private = "127.0.0.1 192.168.0.1 169.254.1.1 ::1 fd00::1 fe80::1";
        for peer in private.split(' ') {
            assert_eq!(client(peer, &[client_address], &[]), None, "{peer}");
        }
    }
}

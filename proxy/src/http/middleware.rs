//! Middleware: what happens to every request before and after its handler.

pub(crate) mod request_log;

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ORIGIN, VARY,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use ipnet::IpNet;

use crate::config::web_address::is_private;
use crate::config::{Config, Store};
use crate::http::error::ApiError;
use crate::rate_limit::network;
use crate::state::AppState;

// CORS: pages on the stores' origins, compared as they are written, and the proxy's own.
//
// It is written here and not with `tower-http`: its layer names methods and headers to every page, and this one shows a
// page that is not listed nothing.

pub(crate) fn listed_origin(app: &AppState, headers: &HeaderMap) -> Option<HeaderValue> {
    let origin = headers.get(ORIGIN)?;
    let is_listed = app.config().knows_origin(origin.to_str().ok()?);
    is_listed.then(|| origin.clone())
}

/// Lets a page of a listed origin read the response, refusals included. Credentials are never allowed: there are no cookies.
pub(crate) fn allow_listed(origin: Option<HeaderValue>, headers: &mut HeaderMap) {
    headers.append(VARY, HeaderValue::from_static("origin"));
    let Some(origin) = origin else {
        return;
    };
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    for (name, value) in [
        (ACCESS_CONTROL_ALLOW_METHODS, "GET, POST"),
        (
            ACCESS_CONTROL_ALLOW_HEADERS,
            "authorization, content-type, idempotency-key, if-none-match",
        ),
        (
            ACCESS_CONTROL_EXPOSE_HEADERS,
            "etag, idempotency-replayed, retry-after, x-request-id",
        ),
        (ACCESS_CONTROL_MAX_AGE, "600"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// Rejects a page that the order's store does not list. A request without an origin comes from no page.
pub(crate) fn require_listed_origin(
    config: &Config,
    store: &Store,
    headers: &HeaderMap,
) -> Result<(), ApiError> {
    let Some(origin) = headers.get(ORIGIN) else {
        return Ok(());
    };
    let origin = origin.to_str().unwrap_or("");
    if store.lists_origin(origin) || origin == config.public_url.origin().as_str() {
        return Ok(());
    }
    Err(ApiError::OriginNotAllowed)
}

// The address of a request's client, behind reverse proxies too.

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

    /// The client of a peer that sends these header lines, in Latin-1 and with semicolons between them.
    fn client(peer: &str, forwarded: &str, trusted: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for line in forwarded.split("; ").filter(|line| !line.is_empty()) {
            let line: Vec<u8> = line.chars().map(|c| u8::try_from(c).unwrap()).collect();
            headers.append(&FORWARDED_FOR, HeaderValue::from_bytes(&line).unwrap());
        }
        let trusted: Vec<_> = trusted.iter().map(|text| text.parse().unwrap()).collect();
        let peer = SocketAddr::new(peer.parse().unwrap(), 1);
        let client = client_address(peer, &headers, &trusted);
        client.map_or_else(|| "none".to_owned(), |address| address.to_string())
    }

    #[test]
    fn behind_trusted_proxies_the_last_untrusted_address_counts_whatever_the_client_wrote() {
        for row in [
            "192.0.2.9 sends 198.51.100.1 -> 192.0.2.9",
            "10.0.0.1 sends 1.1.1.1, 198.51.100.1; 10.0.0.2 -> 198.51.100.1",
            "::ffff:10.0.0.1 sends ::ffff:198.51.100.1 -> 198.51.100.1",
            // Azure's gateways write ports.
            "10.0.0.1 sends 198.51.100.1:4711, [fd00::1]:443 -> 198.51.100.1",
            "10.0.0.1 sends \u{ff}, 198.51.100.1 -> 198.51.100.1",
            "10.0.0.1 sends \u{80}; 198.51.100.1, 10.0.0.2 -> 198.51.100.1",
            // An unknown address is not limited.
            "10.0.0.1 sends 198.51.100.1, \u{ff} -> none",
            "10.0.0.1 sends  -> none",
            "10.0.0.1 sends unknown -> none",
            "10.0.0.1 sends 10.0.0.3 -> none",
        ] {
            let (peer, sent) = row.split_once(" sends ").unwrap();
            let (forwarded, counted) = sent.split_once(" -> ").unwrap();
            let found = client(peer, forwarded, &["10.0.0.0/8", "fd00::/8"]);
            assert_eq!(found, counted, "{row}");
        }
        let private = "127.0.0.1 192.168.0.1 169.254.1.1 ::1 fd00::1 fe80::1";
        for peer in private.split(' ') {
            assert_eq!(client(peer, "198.51.100.1", &[]), "none", "{peer}");
        }
    }
}

//! `[rate_limit]`: what one client address may do, and the pages of one order.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::config::problems::Errors;

/// A customer opens one or two orders; an office behind one address opens some more.
const ORDERS_PER_MINUTE: u32 = 30;
/// A browser has up to six connections to a host, and many customers may share an address.
const CONNECTIONS: u32 = 200;
/// A customer has a handful of pages.
const STREAMS: u32 = 16;

/// What one client address may do, and the pages of one order.
#[derive(Clone, Copy, Debug)]
pub struct RateLimit {
    /// Orders that it may open in a minute by a product or a donation.
    pub orders_per_minute_per_ip: u32,
    /// Connections that it may have at once.
    pub connections_per_ip: usize,
    /// Event streams that an order may have at once.
    pub streams_per_order: usize,
}

/// What one client address may do, and the pages of one order.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RateLimitTable {
    /// Orders that one address may open in a minute by product or donation, 1 to 10000. Private addresses that are not
    /// among the `trusted_proxies` are not counted: every customer may come from there.
    #[schemars(extend("x-default" = ORDERS_PER_MINUTE))]
    pub(crate) orders_per_minute_per_ip: Option<u32>,
    /// Connections that one address may have at once, 8 to 10000. Loopback and private addresses and the
    /// `trusted_proxies` are not counted.
    #[schemars(extend("x-default" = CONNECTIONS))]
    pub(crate) connections_per_ip: Option<u32>,
    /// Event streams that one order may have at once, 1 to 10000: each open page has one.
    #[schemars(extend("x-default" = STREAMS))]
    pub(crate) streams_per_order: Option<u32>,
}

pub(crate) fn rate_limit(errors: &mut Errors, table: &RateLimitTable) -> RateLimit {
    let mut limit = |key: &str, given, default, least, unit| {
        let key = format!("rate_limit.{key}");
        errors.within(&key, given, default, least..=10_000, unit)
    };
    let count = |limit: u32| usize::try_from(limit).unwrap_or(usize::MAX);
    let (orders, connections) = (table.orders_per_minute_per_ip, table.connections_per_ip);
    let streams = table.streams_per_order;
    RateLimit {
        orders_per_minute_per_ip: limit(
            "orders_per_minute_per_ip",
            orders,
            ORDERS_PER_MINUTE,
            1,
            "orders a minute",
        ),
        connections_per_ip: count(limit(
            "connections_per_ip",
            connections,
            CONNECTIONS,
            8,
            "connections",
        )),
        streams_per_order: count(limit("streams_per_order", streams, STREAMS, 1, "streams")),
    }
}

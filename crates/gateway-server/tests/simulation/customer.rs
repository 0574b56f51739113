//! A merchant's server with its signed calls, written without the gateway's own lines; and what its customers pay.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::http::Request;
use florin_gateway::Gateway;
use florin_gateway::api::request::Call;
use florin_gateway::api::respond;
use florin_gateway::clock::Clock as _;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha384;

use crate::chain::{ETHER, LOOK_ALIKE, Output, TETHER, text};
use crate::parts::{Random, SimulatedClock};

pub(crate) const KEY: &str = "key";
pub(crate) const SECRET: &str = "secret";
pub(crate) const LIFETIME_SECONDS: i64 = 900;

/// What a customer orders.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    pub(crate) code: &'static str,
    /// Of dollars.
    pub(crate) cents: u64,
}

/// An invoice that a customer was shown.
#[derive(Clone, Debug)]
pub(crate) struct Answered {
    pub(crate) id: String,
    pub(crate) index: u32,
    pub(crate) address: String,
    pub(crate) order: Order,
}

impl Order {
    pub(crate) fn units(self) -> u64 {
        self.cents * if self.code == ETHER { 10 } else { 10_000 }
    }
}

#[derive(Debug)]
pub(crate) struct Shop(pub(crate) Arc<SimulatedClock>);

impl Shop {
    pub(crate) async fn call(&self, gateway: &Gateway, line: &str, body: String) -> (u16, Value) {
        let (method, target) = line.split_once(' ').expect("a method and a path");
        let now = self.0.now();
        let nonce = now.as_second().to_string();
        let mac = Hmac::<Sha384>::new_from_slice(SECRET.as_bytes()).expect("any length");
        let mac = mac.chain_update(format!("/api/{nonce}{target}{body}"));
        let request = Request::builder()
            .method(method)
            .uri(format!("/api{target}"))
            .header("apikey", KEY)
            .header("nonce", nonce)
            .header("signature", hex::encode(mac.finalize().into_bytes()))
            .header("content-type", "application/json");
        let (parts, ()) = request.body(()).expect("a request").into_parts();
        let call = Call::read(&parts, Body::from(body)).await;
        let response = respond(gateway, &call, now).await;
        let status = response.status().as_u16();
        let body = to_bytes(response.into_body(), usize::MAX).await;
        let body = serde_json::from_slice(&body.expect("it is in memory"));
        (status, body.expect("every answer is JSON"))
    }

    /// Opens an invoice; `None`: it was refused.
    pub(crate) async fn open(
        &self,
        gateway: &Gateway,
        order: Order,
        conversion: &str,
    ) -> Result<Option<Answered>, String> {
        let dollars = format!("{}.{:02}", order.cents / 100, order.cents % 100);
        let body = json!({
            "conversion_id": conversion,
            "crypto_code": order.code,
            "amount_in_crypto": text(order.units()),
            "amount_in_usd": dollars,
            "amount_in_local_currency": dollars,
        });
        let (status, answer) = self.call(gateway, "POST /invoice", body.to_string()).await;
        let member = |name: &str| answer[name].as_str().unwrap_or_default().to_owned();
        match status {
            200 => Ok(Some(Answered {
                id: member("invoice_id"),
                index: member("address_index").parse().expect("a number"),
                address: member("deposit_address"),
                order,
            })),
            400 => Ok(None),
            _ => Err(format!("VIOLATED works: POST /invoice: {status} {answer}")),
        }
    }
}

/// Payments of the customer of an invoice, with the seconds after its answer; and what that is. `others` were answered before.
pub(crate) fn plan(
    answered: &Answered,
    others: &[u32],
    random: &Random,
) -> (&'static str, Vec<(i64, Vec<Output>)>) {
    let (own, order) = (answered.index, answered.order);
    let to = |index, code, units| Output { index, code, units };
    let ours = |units| vec![to(own, order.code, units)];
    let (asked, soon) = (order.units(), random.between(0, 300));
    let half = asked / 2;
    let other = random.pick(others).unwrap_or(own);
    let other_code = if order.code == ETHER { TETHER } else { ETHER };
    let beyond = own + u32::try_from(random.between(1, 40)).expect("positive");
    let once = |outputs| vec![(soon, outputs)];
    match random.below(100) {
        0..6 => ("less", once(ours(asked - random.below(asked)))),
        6..12 => ("more", once(ours(asked + 1 + random.below(asked)))),
        12..18 => (
            "in two parts",
            vec![(soon, ours(half)), (soon + 120, ours(asked - half))],
        ),
        18..24 => (
            "twice",
            vec![(soon, ours(asked)), (random.between(0, 3_000), ours(asked))],
        ),
        24..32 => (
            "late",
            vec![(LIFETIME_SECONDS + random.between(-60, 900), ours(asked))],
        ),
        32..42 => ("never", Vec::new()),
        42..47 => (
            "dust",
            vec![(soon, ours(asked)), (random.between(0, 1_200), ours(1))],
        ),
        47..52 => (
            "to an old address",
            once(vec![to(other, order.code, asked)]),
        ),
        52..57 => ("another asset", once(vec![to(own, other_code, asked)])),
        57..61 => ("a look-alike token", once(vec![to(own, LOOK_ALIKE, asked)])),
        61..66 => {
            let (first, last) = (to(own, order.code, half), to(own, order.code, asked - half));
            (
                "several outputs",
                once(vec![first, to(other, other_code, 7), last]),
            )
        }
        66..68 => (
            "to an index that was never issued",
            once(vec![to(beyond, order.code, asked)]),
        ),
        _ => ("exactly", once(ours(asked))),
    }
}

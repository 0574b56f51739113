//! The transport between one process of the proxy and the gateway, and the stores' endpoints, with injected faults.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use florin_gateway_client::{
    AmbiguousOutcome, CallError, Method, RawResponse, SignedRequest, Transport,
};
use florin_orders::Event;
use florin_proxy::config::Webhook;
use florin_proxy::webhooks::{SendOutcome, Webhooks};
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimePrinter;
use reqwest::header::{DATE, HeaderMap, HeaderValue, RETRY_AFTER};
use serde_json::{Value, json};

use crate::disaster::Step;
use crate::disaster::{Endpoint, Fault, Member};
use crate::process::Process;
use crate::timeline::Millis;

pub(crate) struct SimulatedTransport {
    process: Process,
}

impl SimulatedTransport {
    pub(crate) fn new(process: Process) -> Self {
        Self { process }
    }

    fn serve(&self, endpoint: Endpoint, request: &SignedRequest, at: Millis) -> Served {
        let world = &self.process.world;
        let body = request.body.as_deref().unwrap_or_default();
        let body = || serde_json::from_slice(body).unwrap_or(Value::Null);
        let ((status, body), made) = match endpoint {
            Endpoint::Prices => (world.gateway.prices(at), None),
            Endpoint::Create => world.gateway.create(&body(), at),
            Endpoint::Session => world.gateway.open_session(&body(), at),
            Endpoint::Lookup => (world.gateway.lookup(&invoice_id(request), at), None),
            Endpoint::Confirm => ((200, json!({ "message": "OK" })), None),
            Endpoint::Other => {
                let body = json!({ "error": "none", "code": "", "message": "" });
                ((404, body), None)
            }
        };
        Served { status, body, made }
    }

    async fn response(
        &self,
        endpoint: Endpoint,
        request: &SignedRequest,
        fault: Fault,
    ) -> Result<RawResponse, CallError> {
        let (process, world) = (&self.process, &self.process.world);
        let now = world.timeline.now();
        if matches!(
            fault,
            Fault::LostAfter | Fault::BrokenAfter | Fault::CrashAfter
        ) {
            self.mark_unusable(&self.serve(endpoint, request, now));
        }
        let refusal = json!({ "error": "e", "code": "X", "message": "m" });
        match fault {
            Fault::NotSent => {
                process.sleep(world.random.between(0, 3000)).await;
                Err(CallError::NotSent("injected: refused".into()))
            }
            Fault::LostBefore => {
                process.sleep(10_000).await;
                Err(CallError::Ambiguous(AmbiguousOutcome::TimedOut))
            }
            Fault::LostAfter => {
                process.sleep(world.random.between(100, 10_000)).await;
                Err(CallError::Ambiguous(AmbiguousOutcome::Truncated(
                    "injected: reset".into(),
                )))
            }
            Fault::Limited(seconds) => Ok(raw(429, &refusal, seconds)),
            Fault::Broken(status) => Ok(raw(status, &refusal, None)),
            Fault::BrokenAfter => Ok(raw(500, &refusal, None)),
            Fault::Unauthorized => Ok(raw(401, &refusal, None)),
            Fault::Redirect => Ok(raw(302, &Value::Null, None)),
            Fault::Garbled | Fault::Truncated => {
                let served = self.serve(endpoint, request, now);
                self.mark_unusable(&served);
                let mut response = raw(200, &served.body, None);
                response.body = response.body.map(|bytes| match fault {
                    Fault::Truncated => bytes[..bytes.len() / 2].to_vec(),
                    _ => b"<html>502 Bad Gateway</html>".to_vec(),
                });
                Ok(response)
            }
            Fault::CrashBefore => process.crash("during a call").await,
            Fault::CrashAfter => process.crash("before a response is read").await,
            Fault::Slow => {
                let response = self.serve(endpoint, request, now).raw();
                process.sleep(world.random.between(2000, 9500)).await;
                Ok(response)
            }
            Fault::Delayed => {
                let response = self.serve(endpoint, request, now).raw();
                process.sleep(world.random.between(61_000, 200_000)).await;
                Ok(response)
            }
            Fault::Stale => {
                let at = now - world.random.between(1000, 300_000);
                Ok(self.serve(endpoint, request, at).raw())
            }
            Fault::Foreign => {
                let id = invoice_id(request);
                let other = world.gateway.find(|invoice| invoice.id != id);
                let other = other.map_or(id, |other| other.id);
                let (status, body) = world.gateway.lookup(&other, now);
                Ok(raw(status, &body, None))
            }
            Fault::Denied => {
                let body = json!({ "error": "gone", "code": "INVALID_INVOICE_ID", "message": "" });
                Ok(raw(404, &body, None))
            }
            Fault::Wrong(member) => {
                let served = self.serve(endpoint, request, now);
                Ok(self.change_member(endpoint, served, member))
            }
        }
    }

    /// The response was lost: this invoice must never be shown.
    fn mark_unusable(&self, served: &Served) {
        if let Some(id) = &served.made {
            let gateway = &self.process.world.gateway;
            gateway.change(id, |invoice| invoice.is_tainted = true);
        }
    }

    fn change_member(&self, endpoint: Endpoint, mut served: Served, wrong: Member) -> RawResponse {
        let random = &self.process.world.random;
        if served.status != 200 {
            return served.raw();
        }
        let is_lookup = endpoint == Endpoint::Lookup;
        let record = if is_lookup {
            &mut served.body["data"]
        } else {
            &mut served.body
        };
        let id = record["invoice_id"].as_str().unwrap_or("").to_owned();
        let (amounts, vital): (&[&str], &[&str]) = match endpoint {
            Endpoint::Session => (&["session_id"], &["payment_process_url"]),
            Endpoint::Lookup => (&RECORDED_AMOUNTS, &["invoice_id", "transaction_status"]),
            _ => (
                &[
                    "invoice_amount_in_crypto",
                    "invoice_amount_in_usd",
                    "local_currency_amount",
                ],
                &["invoice_id", "deposit_address", "deposit_crypto"],
            ),
        };
        let any = [amounts, vital].concat();
        let one = random.pick(&any);
        let amount = random.pick(amounts);
        let gateway = &self.process.world.gateway;
        let known = gateway.find(|invoice| invoice.id == id);
        let fresh = known.map_or_else(String::new, |known| known.asset.address(random));
        match wrong {
            Member::Missing => drop(record.as_object_mut().and_then(|object| object.remove(one))),
            Member::Junk => record[amount] = random.pick(&["lots", "1,000", "-1", "1e9"]).into(),
            Member::UnknownStatus => record["transaction_status"] = "REFUNDED".into(),
            // Only requested amounts are changed: the proxy cannot detect a wrong received amount.
            Member::OtherAmount => record[random.pick(&amounts[..3])] = "0.01".into(),
            Member::OtherCurrency => record["local_currency_code"] = "JPY".into(),
            Member::OtherAsset if is_lookup => record["transaction_crypto"] = "SOL".into(),
            Member::OtherAsset => record["deposit_crypto"] = "SOL".into(),
            Member::OtherAddress => {
                record["wallet_address"] = fresh.into();
                gateway.change(&id, |invoice| invoice.is_contradicted = true);
            }
            Member::BadChecksum => {
                let address = record["deposit_address"].as_str().unwrap_or("").to_owned();
                let other = if address.ends_with('x') { "y" } else { "x" };
                let kept = &address[..address.len() - 1];
                record["deposit_address"] = format!("{kept}{other}").into();
            }
            Member::OtherQr => record["qr_string"] = fresh.into(),
            Member::OtherPage => {
                let page = record["payment_process_url"].as_str().unwrap_or("");
                record["payment_process_url"] =
                    page.replace("checkout.example", "cheat.example").into();
            }
            Member::OtherSession => record["session_id"] = "inv_of_another".into(),
        }
        if !is_lookup {
            self.mark_unusable(&served);
        }
        raw(200, &served.body, None)
    }
}

struct Served {
    status: u16,
    body: Value,
    made: Option<String>,
}

impl Served {
    fn raw(&self) -> RawResponse {
        raw(self.status, &self.body, None)
    }
}

#[async_trait]
impl Transport for SimulatedTransport {
    async fn send(&self, request: SignedRequest) -> Result<RawResponse, CallError> {
        let (process, world) = (&self.process, Arc::clone(&self.process.world));
        process.wait_while_frozen().await;
        let endpoint = endpoint(&request);
        world.count("calls of the gateway", format!("{endpoint:?}"));
        let gateway = &world.gateway;
        gateway.record_request(process.number, world.wall(), endpoint.name());
        world.step(Step::Gateway);
        process.sleep(world.random.between(5, 300)).await;
        if let Some(refused) = self.refuse(&request) {
            return Ok(refused);
        }
        let happens = world.injects_faults() && world.random.percent(25);
        let fault = happens.then(|| world.random.weigh(&Fault::all(endpoint, &world.random)));
        let response = match fault {
            None => {
                let now = world.timeline.now();
                Ok(self.serve(endpoint, &request, now).raw())
            }
            Some(fault) => {
                let kind = format!("{endpoint:?}: {}", fault.name());
                world.log(|| format!("gateway: {kind}"));
                world.count("faults of the gateway", kind);
                self.response(endpoint, &request, fault).await
            }
        };
        process.sleep(world.random.between(5, 300)).await;
        if let Some(Fault::Limited(Some(seconds))) = fault {
            self.record_pause(seconds * 1000);
        }
        world.log(|| match &response {
            Ok(response) => format!(
                "gateway: {endpoint:?} {} {} → {} {}",
                request.url.path(),
                request.url.query().unwrap_or_default(),
                response.status,
                String::from_utf8_lossy(response.body.as_deref().unwrap_or_default())
            ),
            Err(error) => format!("gateway: {endpoint:?} → {error}"),
        });
        response.map(|response| self.dated(response))
    }
}

impl SimulatedTransport {
    fn gateway_time(&self) -> Millis {
        let world = &self.process.world;
        world.right_time() + world.gateway.ahead.load(Ordering::Relaxed)
    }

    fn refuse(&self, request: &SignedRequest) -> Option<RawResponse> {
        let world = &self.process.world;
        let refusal = json!({ "error": "e", "code": "X", "message": "m" });
        if world.gateway.is_excessive.swap(false, Ordering::Relaxed) {
            world.log(|| "gateway: an excessive Retry-After".into());
            self.record_pause(LONGEST_PAUSE);
            return Some(self.dated(raw(429, &refusal, Some(99_999_999_999))));
        }
        let nonce = request.headers.get("nonce")?.to_str().ok()?;
        let nonce: Millis = nonce.parse().ok()?;
        let is_of_another_time = (nonce * 1000 - self.gateway_time()).abs() > NONCE_TOLERANCE;
        is_of_another_time.then(|| {
            world.log(|| format!("gateway: the nonce {nonce} is of another time"));
            world.count("calls of the gateway", "a nonce of another time");
            self.dated(raw(401, &refusal, None))
        })
    }

    /// Records a pause when the process reads it.
    fn record_pause(&self, lasts: Millis) {
        let (process, world) = (&self.process, &self.process.world);
        let until = world.wall() + lasts;
        world.gateway.record_pause(process.number, until);
    }

    fn dated(&self, mut response: RawResponse) -> RawResponse {
        let time = Timestamp::from_millisecond(self.gateway_time());
        let time = time.expect("a time of this century");
        let date = DateTimePrinter::new().timestamp_to_rfc9110_string(&time);
        let date = HeaderValue::from_str(&date.expect("a time of this century"));
        response
            .headers
            .insert(DATE, date.expect("a date has visible characters"));
        response
    }
}

/// The amounts of GET /invoice, the requested ones first.
const RECORDED_AMOUNTS: [&str; 6] = [
    "invoice_crypto_amount",
    "invoice_amount_in_usd",
    "invoice_amount_in_local_currency",
    "received_crypto_amount",
    "received_amount_in_usd",
    "received_amount_in_local_currency",
];
const NONCE_TOLERANCE: Millis = 300_000;
/// A longer pause is cut short by the proxy.
const LONGEST_PAUSE: Millis = 300_000;

fn endpoint(request: &SignedRequest) -> Endpoint {
    match (request.method, request.url.path()) {
        (Method::Get, "/api/prices") => Endpoint::Prices,
        (Method::Post, "/api/invoice") => Endpoint::Create,
        (Method::Post, "/api/checkout") => Endpoint::Session,
        (Method::Get, "/api/invoice") => Endpoint::Lookup,
        (Method::Post, "/api/confirm") => Endpoint::Confirm,
        _ => Endpoint::Other,
    }
}

fn invoice_id(request: &SignedRequest) -> String {
    let mut pairs = request.url.query_pairs();
    let id = pairs.find(|(key, _)| key == "id");
    id.map(|(_, id)| id.into_owned()).unwrap_or_default()
}

fn raw(status: u16, body: &Value, retry_after: Option<i64>) -> RawResponse {
    let mut headers = HeaderMap::new();
    if let Some(seconds) = retry_after {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    RawResponse {
        status,
        headers,
        body: Ok(body.to_string().into_bytes()),
    }
}

pub(crate) struct SimulatedSender(pub(crate) Process);

#[derive(Clone, Copy, Debug)]
pub(crate) enum EndpointFault {
    Refused,
    Error,
    Redirect,
    LostBefore,
    LostAfter,
    ErrorAfter,
    Gone,
    Slow,
    CrashBefore,
    CrashAfter,
}

pub(crate) const ENDPOINT_FAULTS: [(u64, EndpointFault); 10] = [
    (15, EndpointFault::Refused),
    (25, EndpointFault::Error),
    (5, EndpointFault::Redirect),
    (10, EndpointFault::LostBefore),
    (15, EndpointFault::LostAfter),
    (10, EndpointFault::ErrorAfter),
    (1, EndpointFault::Gone),
    (10, EndpointFault::Slow),
    (3, EndpointFault::CrashBefore),
    (4, EndpointFault::CrashAfter),
];

#[async_trait]
impl Webhooks for SimulatedSender {
    async fn send(&self, _: &Webhook, event: &Event, _: Timestamp) -> SendOutcome {
        let (process, world) = (&self.0, &self.0.world);
        process.sleep(world.random.between(5, 300)).await;
        world.step(Step::Webhook);
        world.log(|| format!("store: {} {:?}", event.id, event.event_type));
        let fault = world.draw_fault("faults of the store", 250, &ENDPOINT_FAULTS);
        let accept = || world.shop.accept(event, world.timeline.now());
        let failed = |why: &str| SendOutcome::Failed(format!("injected: {why}"));
        let sent = match fault {
            None => {
                accept();
                SendOutcome::status(world.random.pick(&[200, 204]))
            }
            Some(EndpointFault::Refused) => failed("refused"),
            Some(EndpointFault::Error) => {
                SendOutcome::status(world.random.pick(&[500, 503, 404, 429]))
            }
            Some(EndpointFault::Redirect) => SendOutcome::status(301),
            Some(EndpointFault::LostBefore) => {
                process.sleep(15_000).await;
                failed("no response in time")
            }
            Some(EndpointFault::LostAfter) => {
                accept();
                process.sleep(15_000).await;
                failed("no response in time")
            }
            Some(EndpointFault::ErrorAfter) => {
                accept();
                SendOutcome::status(500)
            }
            Some(EndpointFault::Gone) => SendOutcome::status(410),
            Some(EndpointFault::Slow) => {
                process.sleep(world.random.between(1000, 14_000)).await;
                accept();
                SendOutcome::status(200)
            }
            Some(EndpointFault::CrashBefore) => process.crash("before a delivery").await,
            Some(EndpointFault::CrashAfter) => {
                accept();
                process
                    .crash("after a delivery and before it is recorded")
                    .await
            }
        };
        process.sleep(world.random.between(5, 300)).await;
        sent
    }
}

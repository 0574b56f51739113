//! The line between one process of the proxy and the service: everything that can happen to a call happens here.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use florin_gateway::{AmbiguousOutcome, CallError, Method, RawResponse, SignedRequest, Transport};
use reqwest::header::{HeaderMap, HeaderValue, RETRY_AFTER};
use serde_json::{Value, json};

use crate::faults::{Endpoint, Member, Trouble};
use crate::process::Life;
use crate::timeline::Millis;

/// Carries a process's requests to the model.
pub(crate) struct Line {
    life: Life,
    /// Until when this process was asked to send nothing, by its own clock.
    paused_until: Mutex<Millis>,
}

impl Line {
    pub(crate) fn new(life: Life) -> Self {
        Self {
            life,
            paused_until: Mutex::default(),
        }
    }

    /// What an honest service does with a request; with the id of an invoice that it made.
    fn serve(&self, endpoint: Endpoint, request: &SignedRequest, at: Millis) -> Served {
        let world = &self.life.world;
        let body = request.body.as_deref().unwrap_or_default();
        let body = || serde_json::from_slice(body).unwrap_or(Value::Null);
        let mut made = None;
        let (status, body) = match endpoint {
            Endpoint::Prices => world.service.prices(at),
            Endpoint::Create => {
                let (answer, id) = world.service.create(&body(), at);
                made = id;
                answer
            }
            Endpoint::Session => {
                let (answer, id) = world.service.open_session(&body(), at);
                made = id;
                answer
            }
            Endpoint::Lookup => world.service.lookup(&asked_about(request), at),
            Endpoint::Confirm => (200, json!({ "message": "OK" })),
            Endpoint::Other => (404, json!({ "error": "none", "code": "", "message": "" })),
        };
        Served { status, body, made }
    }

    /// The sender keeps the pauses that it was asked for.
    fn check_pause(&self, endpoint: Endpoint) {
        let until = *self
            .paused_until
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let now = self.life.world.wall();
        if now < until {
            let left = until - now;
            let told = format!("{endpoint:?} was called {left} ms before the pause was over");
            self.life
                .world
                .complain("no call within Retry-After", &told);
        }
    }

    fn pause(&self, seconds: i64) {
        let mut until = self
            .paused_until
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *until = (*until).max(self.life.world.wall() + seconds * 1000);
    }

    async fn answer(
        &self,
        endpoint: Endpoint,
        request: &SignedRequest,
        trouble: Trouble,
    ) -> Result<RawResponse, CallError> {
        let (life, world) = (&self.life, &self.life.world);
        let now = world.timeline.now();
        let refusal = json!({ "error": "e", "code": "X", "message": "m" });
        match trouble {
            Trouble::NotSent => {
                life.sleep(world.chance.between(0, 3000)).await;
                Err(CallError::NotSent("injected: refused".into()))
            }
            Trouble::LostBefore => {
                life.sleep(10_000).await;
                Err(CallError::Ambiguous(AmbiguousOutcome::TimedOut))
            }
            Trouble::LostAfter => {
                self.taint(&self.serve(endpoint, request, now));
                life.sleep(world.chance.between(100, 10_000)).await;
                Err(CallError::Ambiguous(AmbiguousOutcome::Truncated(
                    "injected: reset".into(),
                )))
            }
            Trouble::Limited(seconds) => Ok(raw(429, &refusal, seconds)),
            Trouble::Broken(status) => Ok(raw(status, &refusal, None)),
            Trouble::BrokenAfter => {
                self.taint(&self.serve(endpoint, request, now));
                Ok(raw(500, &refusal, None))
            }
            Trouble::Unwelcome => Ok(raw(401, &refusal, None)),
            Trouble::Redirect => Ok(raw(302, &Value::Null, None)),
            Trouble::Garbled | Trouble::Cut => {
                let served = self.serve(endpoint, request, now);
                self.taint(&served);
                let mut answer = raw(200, &served.body, None);
                answer.body = answer.body.map(|bytes| match trouble {
                    Trouble::Cut => bytes[..bytes.len() / 2].to_vec(),
                    _ => b"<html>502 Bad Gateway</html>".to_vec(),
                });
                Ok(answer)
            }
            Trouble::CrashBefore => life.crash("while a call is on its way").await,
            Trouble::CrashAfter => {
                self.taint(&self.serve(endpoint, request, now));
                life.crash("before an answer is heard").await
            }
            Trouble::Slow => {
                let served = self.serve(endpoint, request, now);
                life.sleep(world.chance.between(2000, 9500)).await;
                Ok(raw(served.status, &served.body, None))
            }
            Trouble::Overtaken => {
                let served = self.serve(endpoint, request, now);
                life.sleep(world.chance.between(61_000, 200_000)).await;
                Ok(raw(served.status, &served.body, None))
            }
            Trouble::Stale => {
                let served =
                    self.serve(endpoint, request, now - world.chance.between(1000, 300_000));
                Ok(raw(served.status, &served.body, None))
            }
            Trouble::Foreign => {
                let id = asked_about(request);
                let other = world.service.another(&id).map_or(id, |other| other.id);
                let (status, body) = world.service.lookup(&other, now);
                Ok(raw(status, &body, None))
            }
            Trouble::Denied => {
                let body = json!({ "error": "gone", "code": "INVALID_INVOICE_ID", "message": "" });
                Ok(raw(404, &body, None))
            }
            Trouble::Wrong(member) => {
                let served = self.serve(endpoint, request, now);
                Ok(self.spoil(endpoint, served, member))
            }
        }
    }

    /// The answer was lost: nobody may ever be shown this invoice.
    fn taint(&self, served: &Served) {
        if let Some(id) = &served.made {
            let service = &self.life.world.service;
            service.change(id, |invoice| invoice.is_tainted = true);
        }
    }

    fn spoil(&self, endpoint: Endpoint, mut served: Served, wrong: Member) -> RawResponse {
        let chance = &self.life.world.chance;
        if served.status != 200 {
            return raw(served.status, &served.body, None);
        }
        let is_lookup = endpoint == Endpoint::Lookup;
        let record = if is_lookup {
            &mut served.body["data"]
        } else {
            &mut served.body
        };
        let id = record["invoice_id"].as_str().unwrap_or("").to_owned();
        let amounts: &[&str] = if endpoint == Endpoint::Session {
            &["session_id"]
        } else if is_lookup {
            &[
                "invoice_crypto_amount",
                "invoice_amount_in_usd",
                "invoice_amount_in_local_currency",
                "received_crypto_amount",
                "received_amount_in_usd",
                "received_amount_in_local_currency",
            ]
        } else {
            &[
                "invoice_amount_in_crypto",
                "invoice_amount_in_usd",
                "local_currency_amount",
            ]
        };
        let vital: &[&str] = if endpoint == Endpoint::Session {
            &["payment_process_url"]
        } else if is_lookup {
            &["invoice_id", "transaction_status"]
        } else {
            &["invoice_id", "deposit_address", "deposit_crypto"]
        };
        let any = [amounts, vital].concat();
        let one = if is_lookup {
            chance.pick(&any)
        } else {
            chance.pick(&any[..])
        };
        let amount = chance.pick(amounts);
        let coin = self.life.world.service.invoice(&id).map(|known| known.coin);
        let fresh = coin.map_or_else(String::new, |coin| coin.address(chance));
        match wrong {
            Member::Missing => drop(record.as_object_mut().and_then(|object| object.remove(one))),
            Member::Empty => record[one] = "".into(),
            Member::Junk => record[amount] = chance.pick(&["lots", "1,000", "NaN", "0x10"]).into(),
            Member::Negative => record[amount] = "-1".into(),
            Member::Exponent => record[amount] = "1e9".into(),
            Member::Number => record[one] = 7.into(),
            Member::UnknownStatus => record["transaction_status"] = "REFUNDED".into(),
            // Asked for is something else; what was received is not a claim that we can see through.
            Member::OtherAmount => record[chance.pick(&amounts[..3])] = "0.01".into(),
            Member::OtherCurrency => record["local_currency_code"] = "JPY".into(),
            Member::OtherAsset if is_lookup => record["transaction_crypto"] = "SOL".into(),
            Member::OtherAsset => record["deposit_crypto"] = "SOL".into(),
            Member::OtherAddress => {
                record["wallet_address"] = fresh.into();
                let service = &self.life.world.service;
                service.change(&id, |invoice| invoice.is_contradicted = true);
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
            Member::BadLifetime => record["invoice_expired_in"] = "soon".into(),
            Member::Twice => {
                let twice = served.body.to_string();
                let twice = twice.replacen(
                    "\"transaction_status\":",
                    "\"transaction_status\":\"COMPLETED\",\"transaction_status\":",
                    1,
                );
                let mut answer = raw(200, &Value::Null, None);
                answer.body = Ok(twice.into_bytes());
                return answer;
            }
        }
        if !is_lookup {
            self.taint(&served);
        }
        raw(200, &served.body, None)
    }
}

struct Served {
    status: u16,
    body: Value,
    made: Option<String>,
}

#[async_trait]
impl Transport for Line {
    async fn send(&self, request: SignedRequest) -> Result<RawResponse, CallError> {
        let (life, world) = (&self.life, Arc::clone(&self.life.world));
        life.goes_on().await;
        let endpoint = endpoint(&request);
        world
            .tally
            .one("calls of the service", format!("{endpoint:?}"));
        self.check_pause(endpoint);
        life.sleep(world.chance.between(5, 300)).await;
        let trouble = if world.is_stormy() {
            Trouble::draw(endpoint, &world.chance)
        } else {
            None
        };
        let answer = match trouble {
            None => {
                let served = self.serve(endpoint, &request, world.timeline.now());
                Ok(raw(served.status, &served.body, None))
            }
            Some(trouble) => {
                let kind = format!("{endpoint:?}: {}", trouble.name());
                world.log(|| format!("service: {kind}"));
                world.tally.one("faults of the service", kind);
                self.answer(endpoint, &request, trouble).await
            }
        };
        life.sleep(world.chance.between(5, 300)).await;
        if let Some(Trouble::Limited(Some(seconds))) = trouble {
            self.pause(seconds);
        }
        world.log(|| match &answer {
            Ok(answer) => format!(
                "service: {endpoint:?} {} {} → {} {}",
                request.url.path(),
                request.url.query().unwrap_or_default(),
                answer.status,
                String::from_utf8_lossy(answer.body.as_deref().unwrap_or_default())
            ),
            Err(error) => format!("service: {endpoint:?} → {error}"),
        });
        answer
    }
}

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

fn asked_about(request: &SignedRequest) -> String {
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

//! The model of the stores' endpoints: what they heard, and how they misbehave.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use florin_orders::Event;
use jiff::Timestamp;
use proxy::config::Webhook;
use proxy::webhooks::{SendOutcome, Webhooks};

use crate::process::Life;

/// What the stores took in, whether or not they could say so.
#[derive(Debug, Default)]
pub(crate) struct Shop(Mutex<BTreeMap<String, Heard>>);

/// An event that a store took in.
#[derive(Clone, Debug)]
pub(crate) struct Heard {
    pub(crate) payload: String,
    /// Its place among all first hearings.
    pub(crate) place: usize,
    pub(crate) times: u64,
}

impl Shop {
    /// Takes an event in; complains when the same id comes with another payload.
    fn take(&self, event: &Event) -> Result<(), String> {
        let mut heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = heard.len();
        let known = heard
            .entry(event.id.as_str().to_owned())
            .or_insert_with(|| Heard {
                payload: event.payload.clone(),
                place,
                times: 0,
            });
        known.times += 1;
        if known.payload == event.payload {
            Ok(())
        } else {
            Err(format!("{} came with another payload", event.id))
        }
    }

    pub(crate) fn heard(&self) -> BTreeMap<String, Heard> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// Carries a process's deliveries to the model.
pub(crate) struct Postman(pub(crate) Life);

/// What goes wrong with a delivery.
#[derive(Clone, Copy, Debug)]
enum Mishap {
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

const MISHAPS: [(u64, Mishap); 10] = [
    (15, Mishap::Refused),
    (25, Mishap::Error),
    (5, Mishap::Redirect),
    (10, Mishap::LostBefore),
    (15, Mishap::LostAfter),
    (10, Mishap::ErrorAfter),
    (1, Mishap::Gone),
    (10, Mishap::Slow),
    (3, Mishap::CrashBefore),
    (4, Mishap::CrashAfter),
];

#[async_trait]
impl Webhooks for Postman {
    async fn send(&self, _: &Webhook, event: &Event, _: Timestamp) -> SendOutcome {
        let (life, world) = (&self.0, &self.0.world);
        life.sleep(world.chance.between(5, 300)).await;
        let mishap =
            (world.is_stormy() && world.chance.percent(25)).then(|| world.chance.weigh(&MISHAPS));
        world.log(|| format!("store: {} {:?} {mishap:?}", event.id, event.event_type));
        if let Some(mishap) = mishap {
            world
                .tally
                .one("faults of the store", format!("{mishap:?}"));
        }
        let take = || {
            if let Err(told) = world.shop.take(event) {
                world.complain("an event never changes", &told);
            }
        };
        let failed = |why: &str| SendOutcome::Failed(format!("injected: {why}"));
        let sent = match mishap {
            None => {
                take();
                SendOutcome::status(world.chance.pick(&[200, 204]))
            }
            Some(Mishap::Refused) => failed("refused"),
            Some(Mishap::Error) => SendOutcome::status(world.chance.pick(&[500, 503, 404, 429])),
            Some(Mishap::Redirect) => SendOutcome::status(301),
            Some(Mishap::LostBefore) => {
                life.sleep(15_000).await;
                failed("no answer in time")
            }
            Some(Mishap::LostAfter) => {
                take();
                life.sleep(15_000).await;
                failed("no answer in time")
            }
            Some(Mishap::ErrorAfter) => {
                take();
                SendOutcome::status(500)
            }
            Some(Mishap::Gone) => SendOutcome::status(410),
            Some(Mishap::Slow) => {
                life.sleep(world.chance.between(1000, 14_000)).await;
                take();
                SendOutcome::status(200)
            }
            Some(Mishap::CrashBefore) => life.crash("before a delivery").await,
            Some(Mishap::CrashAfter) => {
                take();
                life.crash("after a delivery, before it is recorded").await
            }
        };
        life.sleep(world.chance.between(5, 300)).await;
        sent
    }
}

//! The stores' endpoints with injected faults, between one process of the proxy and the model.

use async_trait::async_trait;
use florin_orders::Event;
use florin_proxy::config::Webhook;
use florin_proxy::webhooks::{SendOutcome, Webhooks};
use jiff::Timestamp;

use crate::disaster::Step;
use crate::process::Process;

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

//! Kill plans, and the requests that kills are timed to.

use std::time::Duration;

use tokio::sync::broadcast::Receiver;

use super::random::SeededRandom;
use super::traffic_log::{Link, Passed};
use crate::wait::pause;

/// When and how a running proxy is killed.
#[derive(Clone, Copy, Debug)]
pub(super) enum KillPlan {
    /// Killed during its start.
    DuringStart,
    /// Killed at any time.
    AnyTime,
    /// Killed as a target request or its response passes.
    OnTraffic(&'static Target),
    /// Killed after SIGTERM, during its shutdown.
    DuringShutdown,
    /// Suspended by SIGSTOP, resumed, and killed then.
    AfterFreeze,
    /// Cut off from the gateway for a while, and killed then.
    AfterCutOff,
}

/// A request or response to kill at.
#[derive(Debug)]
pub(super) struct Target {
    /// Name of its counter.
    pub(super) name: &'static str,
    link: Link,
    is_response: bool,
    request: &'static str,
}

const fn target(
    name: &'static str,
    link: Link,
    is_response: bool,
    request: &'static str,
) -> Target {
    Target {
        name,
        link,
        is_response,
        request,
    }
}

const GATEWAY: Link = Link::Gateway;
const SHOP: Link = Link::Shop;
const PROXY: Link = Link::Proxy;

/// Every target.
pub(super) const TARGETS: [Target; 14] = [
    target(
        "kills between POST /invoice and its response",
        GATEWAY,
        false,
        "POST /api/invoice",
    ),
    target(
        "kills at the response to POST /invoice",
        GATEWAY,
        true,
        "POST /api/invoice",
    ),
    target(
        "kills between POST /checkout and its response",
        GATEWAY,
        false,
        "POST /api/checkout",
    ),
    target(
        "kills during GET /invoice",
        GATEWAY,
        false,
        "GET /api/invoice",
    ),
    target(
        "kills at the response to GET /invoice",
        GATEWAY,
        true,
        "GET /api/invoice",
    ),
    target(
        "kills during GET /prices",
        GATEWAY,
        false,
        "GET /api/prices",
    ),
    target("kills during a delivery", SHOP, false, "POST /florin"),
    target(
        "kills at the response to a delivery",
        SHOP,
        true,
        "POST /florin",
    ),
    target(
        "kills during POST /v1/orders",
        PROXY,
        false,
        "POST /v1/orders",
    ),
    target(
        "kills at the response to POST /v1/orders",
        PROXY,
        true,
        "POST /v1/orders",
    ),
    target(
        "kills during POST /v1/checkout",
        PROXY,
        false,
        "POST /v1/checkout",
    ),
    target(
        "kills during POST /v1/checkout/attempt",
        PROXY,
        false,
        "POST /v1/checkout/attempt",
    ),
    target(
        "kills at the response to POST /v1/checkout/attempt",
        PROXY,
        true,
        "POST /v1/checkout/attempt",
    ),
    target("kills during a callback", PROXY, false, "POST /callbacks"),
];

/// How long an aimed plan waits for its passed.
const TARGET_TIMEOUT: Duration = Duration::from_millis(700);
/// The passed is hit this much late, at most: what is written to a disk takes its time.
const MAX_DELAY: Duration = Duration::from_millis(8);

impl KillPlan {
    pub(super) fn choose(random: &mut SeededRandom) -> Self {
        let at = usize::try_from(random.below(TARGETS.len() as u64)).expect("there are few aims");
        random.pick(&[
            (14, Self::DuringStart),
            (20, Self::AnyTime),
            (50, Self::OnTraffic(&TARGETS[at])),
            (9, Self::DuringShutdown),
            (4, Self::AfterFreeze),
            (3, Self::AfterCutOff),
        ])
    }
}

impl Target {
    /// Waits for the passed, and a little longer; `false` when it did not come. `is_near` selects
    /// what passed one of several processes.
    pub(super) async fn wait(
        &self,
        mut traffic: Receiver<Passed>,
        random: &mut SeededRandom,
        is_near: impl Fn(&Passed) -> bool,
    ) -> bool {
        let wait = async {
            while let Ok(passed) = traffic.recv().await {
                if self.is(&passed) && is_near(&passed) {
                    return true;
                }
            }
            false
        };
        if tokio::time::timeout(TARGET_TIMEOUT, wait).await != Ok(true) {
            return false;
        }
        if random.percent(60) {
            pause(random.up_to(MAX_DELAY)).await;
        }
        true
    }

    fn is(&self, passed: &Passed) -> bool {
        let is_request = passed.request == self.request
            // The rest of that path is a secret.
            || self.request == "POST /callbacks" && passed.request.starts_with(self.request);
        is_request && passed.link == self.link && passed.is_response == self.is_response
    }
}

//! The blows that a proxy is dealt, and the moments that they are aimed at.

use std::time::Duration;

use tokio::sync::broadcast::Receiver;

use super::random::Dice;
use super::traffic_log::{Between, Moment};
use crate::wait::pause;

/// What is done to a running proxy.
#[derive(Clone, Copy, Debug)]
pub(super) enum Blow {
    /// Killed while it starts.
    AtStart,
    /// Killed at any time.
    AtAnyTime,
    /// Killed as something passes on a wire.
    Aimed(&'static Aim),
    /// Asked to end, and killed while it ends.
    WhileEnding,
    /// Stopped in the middle of everything, and going on as if no time had passed; killed then.
    Frozen,
    /// Cut off from the service for a while; killed then.
    CutOff,
}

/// A moment to kill at.
#[derive(Debug)]
pub(super) struct Aim {
    /// As the tally names it.
    pub(super) name: &'static str,
    between: Between,
    is_answer: bool,
    request: &'static str,
}

const fn aim(name: &'static str, between: Between, is_answer: bool, request: &'static str) -> Aim {
    Aim {
        name,
        between,
        is_answer,
        request,
    }
}

const SERVICE: Between = Between::ProxyAndService;
const SHOP: Between = Between::ProxyAndShop;
const FRONT: Between = Between::EverybodyAndProxy;

/// What can be aimed at.
pub(super) const AIMS: [Aim; 14] = [
    aim(
        "kills between POST /invoice and its answer",
        SERVICE,
        false,
        "POST /api/invoice",
    ),
    aim(
        "kills as POST /invoice was answered",
        SERVICE,
        true,
        "POST /api/invoice",
    ),
    aim(
        "kills between POST /checkout and its answer",
        SERVICE,
        false,
        "POST /api/checkout",
    ),
    aim(
        "kills while the service was asked about an invoice",
        SERVICE,
        false,
        "GET /api/invoice",
    ),
    aim(
        "kills as the service told of an invoice",
        SERVICE,
        true,
        "GET /api/invoice",
    ),
    aim(
        "kills as a price was asked for",
        SERVICE,
        false,
        "GET /api/prices",
    ),
    aim(
        "kills while the shop heard an event",
        SHOP,
        false,
        "POST /florin",
    ),
    aim("kills as the shop had answered", SHOP, true, "POST /florin"),
    aim(
        "kills while a store opened an order",
        FRONT,
        false,
        "POST /v1/orders",
    ),
    aim(
        "kills as a store's order was answered",
        FRONT,
        true,
        "POST /v1/orders",
    ),
    aim(
        "kills while a page opened an order",
        FRONT,
        false,
        "POST /v1/checkout",
    ),
    aim(
        "kills while an attempt was asked for",
        FRONT,
        false,
        "POST /v1/checkout/attempt",
    ),
    aim(
        "kills as an attempt was answered",
        FRONT,
        true,
        "POST /v1/checkout/attempt",
    ),
    aim("kills as a callback came", FRONT, false, "POST /callbacks"),
];

/// How long an aimed blow waits for its moment.
const PATIENCE: Duration = Duration::from_millis(700);
/// The moment is hit this much late, at most: what is written to a disk takes its time.
const LATE: Duration = Duration::from_millis(8);

impl Blow {
    pub(super) fn choose(dice: &mut Dice) -> Self {
        let at = usize::try_from(dice.below(AIMS.len() as u64)).expect("there are few aims");
        dice.pick(&[
            (14, Self::AtStart),
            (20, Self::AtAnyTime),
            (50, Self::Aimed(&AIMS[at])),
            (9, Self::WhileEnding),
            (4, Self::Frozen),
            (3, Self::CutOff),
        ])
    }
}

impl Aim {
    /// Waits for the moment, and a little longer; `false` when it did not come.
    pub(super) async fn comes(&self, mut moments: Receiver<Moment>, dice: &mut Dice) -> bool {
        let comes = async {
            while let Ok(moment) = moments.recv().await {
                if self.is(&moment) {
                    return true;
                }
            }
            false
        };
        if tokio::time::timeout(PATIENCE, comes).await != Ok(true) {
            return false;
        }
        if dice.percent(60) {
            pause(dice.up_to(LATE)).await;
        }
        true
    }

    fn is(&self, moment: &Moment) -> bool {
        let is_request = moment.request == self.request
            // The rest of that path is a secret.
            || self.request == "POST /callbacks" && moment.request.starts_with(self.request);
        is_request && moment.between == self.between && moment.is_answer == self.is_answer
    }
}

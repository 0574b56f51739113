//! Scenarios: what happens to an invoice, step by step.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    title: &'static str,
    /// The status at the end, and why.
    ends: &'static str,
    #[serde(skip)]
    pub(crate) steps: &'static [Step<'static>],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step<'a> {
    /// `exact`, `half`, `double`, `rest`, or a decimal in the asset.
    Pay(&'a str, Fee),
    Mine,
    /// Takes back this number of blocks of the invoice's chain.
    Reorg(u32),
    /// Raises the fee of stuck payments.
    BumpFee,
    /// Replaces the latest payment by one to another address.
    Replace,
    Expire,
    Fail,
    LoseNextCallback,
    RepeatNextCallback,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Fee {
    #[default]
    Usual,
    /// No block includes the payment.
    Low,
}

const fn pay(amount: &'static str) -> Step<'static> {
    Step::Pay(amount, Fee::Usual)
}

const MINE: Step<'_> = Step::Mine;

/// Every scenario, in the order of the page.
pub(crate) const SCENARIOS: [Scenario; 12] = [
    Scenario {
        name: "paid",
        title: "Paid exactly",
        ends: "COMPLETED after three blocks",
        steps: &[pay("exact"), MINE, MINE, MINE],
    },
    Scenario {
        name: "underpaid",
        title: "Paid less",
        ends: "COMPLETED with half of the amount",
        steps: &[pay("half"), MINE, MINE, MINE],
    },
    Scenario {
        name: "overpaid",
        title: "Paid more",
        ends: "COMPLETED with twice the amount",
        steps: &[pay("double"), MINE, MINE, MINE],
    },
    Scenario {
        name: "topped_up",
        title: "Paid less, then the rest",
        ends: "COMPLETED with half, PROCESSING, COMPLETED with all",
        steps: &[pay("half"), MINE, MINE, MINE, pay("rest"), MINE, MINE, MINE],
    },
    Scenario {
        name: "late",
        title: "Paid late",
        ends: "FAILED at expiry, then COMPLETED",
        steps: &[Step::Expire, pay("exact"), MINE, MINE, MINE],
    },
    Scenario {
        name: "stuck",
        title: "Stuck, then unstuck",
        ends: "COMPLETED after the fee is raised",
        steps: &[
            Step::Pay("exact", Fee::Low),
            MINE,
            Step::BumpFee,
            MINE,
            MINE,
            MINE,
        ],
    },
    Scenario {
        name: "replaced",
        title: "Replaced",
        ends: "CHECKING: the coins went to another address before a block",
        steps: &[pay("exact"), Step::Replace],
    },
    Scenario {
        name: "reorg",
        title: "Reorg",
        ends: "CHECKING: both blocks of the payment are taken back",
        steps: &[pay("exact"), MINE, MINE, Step::Reorg(2)],
    },
    Scenario {
        name: "expired",
        title: "Expired",
        ends: "FAILED with nothing paid",
        steps: &[Step::Expire],
    },
    Scenario {
        name: "failed",
        title: "Failed",
        ends: "FAILED, whatever is paid",
        steps: &[Step::Fail],
    },
    Scenario {
        name: "callback_lost",
        title: "Callback lost",
        ends: "COMPLETED without a callback",
        steps: &[Step::LoseNextCallback, pay("exact"), MINE, MINE, MINE],
    },
    Scenario {
        name: "callback_repeated",
        title: "Callback repeated",
        ends: "COMPLETED with two callbacks",
        steps: &[Step::RepeatNextCallback, pay("exact"), MINE, MINE, MINE],
    },
];

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
    Pay {
        /// `exact`, `half`, `double`, `rest`, or a decimal in the asset.
        amount: &'a str,
        fee: Fee,
    },
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
    Step::Pay {
        amount,
        fee: Fee::Usual,
    }
}

const MINE: Step<'_> = Step::Mine;

const fn scenario(
    name: &'static str,
    title: &'static str,
    ends: &'static str,
    steps: &'static [Step<'static>],
) -> Scenario {
    Scenario {
        name,
        title,
        ends,
        steps,
    }
}

/// Every scenario, in the order of the page.
pub(crate) const SCENARIOS: [Scenario; 12] = [
    scenario(
        "paid",
        "Paid exactly",
        "COMPLETED after three blocks",
        &[pay("exact"), MINE, MINE, MINE],
    ),
    scenario(
        "underpaid",
        "Paid less",
        "COMPLETED with half of the amount",
        &[pay("half"), MINE, MINE, MINE],
    ),
    scenario(
        "overpaid",
        "Paid more",
        "COMPLETED with twice the amount",
        &[pay("double"), MINE, MINE, MINE],
    ),
    scenario(
        "topped_up",
        "Paid less, then the rest",
        "COMPLETED with half, PROCESSING, COMPLETED with all",
        &[pay("half"), MINE, MINE, MINE, pay("rest"), MINE, MINE, MINE],
    ),
    scenario(
        "late",
        "Paid late",
        "FAILED at expiry, then COMPLETED",
        &[Step::Expire, pay("exact"), MINE, MINE, MINE],
    ),
    scenario(
        "stuck",
        "Stuck, then unstuck",
        "COMPLETED after the fee is raised",
        &[
            Step::Pay {
                amount: "exact",
                fee: Fee::Low,
            },
            MINE,
            Step::BumpFee,
            MINE,
            MINE,
            MINE,
        ],
    ),
    scenario(
        "replaced",
        "Replaced",
        "CHECKING: the coins went to another address before a block",
        &[pay("exact"), Step::Replace],
    ),
    scenario(
        "reorg",
        "Reorg",
        "CHECKING: both blocks of the payment are taken back",
        &[pay("exact"), MINE, MINE, Step::Reorg(2)],
    ),
    scenario(
        "expired",
        "Expired",
        "FAILED with nothing paid",
        &[Step::Expire],
    ),
    scenario(
        "failed",
        "Failed",
        "FAILED, whatever is paid",
        &[Step::Fail],
    ),
    scenario(
        "callback_lost",
        "Callback lost",
        "COMPLETED without a callback",
        &[Step::LoseNextCallback, pay("exact"), MINE, MINE, MINE],
    ),
    scenario(
        "callback_repeated",
        "Callback repeated",
        "COMPLETED with two callbacks",
        &[Step::RepeatNextCallback, pay("exact"), MINE, MINE, MINE],
    ),
];

//! Faults on demand: which calls they hit, how often, and what goes wrong.

use florin_gateway::api::request::Endpoint;
use serde::{Deserialize, Serialize};

/// What goes wrong. All but `Status` leave the work done: only the response is damaged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Fault {
    /// An error instead of a response; nothing is done.
    Status {
        /// 400 to 599.
        status: u16,
        /// The error's `code`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
        /// The header Retry-After, in seconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after: Option<u32>,
    },
    Slow {
        delay_ms: u64,
    },
    /// The body is the first half of its text, complete as HTTP.
    Garbled {},
    /// Numbers and lists in place of strings.
    WrongTypes {},
    /// 200 without a body.
    Empty {},
    /// The connection is closed instead of a response.
    Drop {},
    /// The connection is closed in the middle of the body.
    Cut {},
    Lost {},
    Repeated {},
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Target {
    /// Every endpoint.
    #[default]
    Any,
    /// A callback that is about to be sent.
    Callback,
    #[serde(untagged)]
    Endpoint(Endpoint),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FaultPlan {
    #[serde(default)]
    pub(crate) endpoint: Target,
    #[serde(flatten)]
    pub(crate) fault: Fault,
    /// Calls that it still hits.
    #[serde(default = "one")]
    pub(crate) times: u32,
}

/// The default of a number of times or blocks.
pub(crate) fn one() -> u32 {
    1
}

/// Faults that wait for their calls, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<FaultPlan>);

/// Faults that wait at once.
const CAPACITY: usize = 100;

impl Faults {
    /// Injects a fault into the next calls.
    ///
    /// # Errors
    /// A sentence, when the plan is invalid.
    pub(crate) fn inject(&mut self, plan: FaultPlan) -> Result<(), &'static str> {
        if let Fault::Status { status, .. } = plan.fault
            && !(400..=599).contains(&status)
        {
            return Err("The status of a fault is one from 400 to 599.");
        }
        let is_of_callbacks = matches!(plan.fault, Fault::Lost {} | Fault::Repeated {});
        if is_of_callbacks != (plan.endpoint == Target::Callback) {
            return Err(
                "The kinds lost and repeated go with the endpoint \"callback\", and no other kind does.",
            );
        }
        if self.0.len() == CAPACITY {
            return Err("A hundred faults are waiting: DELETE /sandbox/faults removes them.");
        }
        if plan.times > 0 {
            self.0.push(plan);
        }
        Ok(())
    }

    /// The oldest fault that hits this target; it counts down.
    pub(crate) fn take(&mut self, target: Target) -> Option<Fault> {
        let hits = |plan: &FaultPlan| {
            plan.endpoint == target || plan.endpoint == Target::Any && target != Target::Callback
        };
        let index = self.0.iter().position(hits)?;
        let plan = &mut self.0[index];
        plan.times -= 1;
        if plan.times == 0 {
            return Some(self.0.remove(index).fault);
        }
        Some(plan.fault.clone())
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn waiting(&self) -> &[FaultPlan] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GARBLED: Fault = Fault::Garbled {};
    const LOST: Fault = Fault::Lost {};
    const PRICES: Target = Target::Endpoint(Endpoint::Prices);

    fn plan(endpoint: Target, fault: Fault, times: u32) -> FaultPlan {
        FaultPlan {
            endpoint,
            fault,
            times,
        }
    }

    #[test]
    fn a_fault_hits_its_target_as_often_as_planned_and_in_order() {
        let mut faults = Faults::default();
        faults.inject(plan(Target::Callback, LOST, 1)).unwrap();
        faults.inject(plan(PRICES, GARBLED, 2)).unwrap();
        faults.inject(plan(Target::Any, Fault::Drop {}, 1)).unwrap();
        faults.inject(plan(Target::Any, GARBLED, 0)).unwrap();
        let prices = [(); 4].map(|()| faults.take(PRICES));
        let expected = [Some(GARBLED), Some(GARBLED), Some(Fault::Drop {}), None];
        assert_eq!(prices, expected);
        assert_eq!(faults.take(Target::Callback), Some(LOST));
        assert_eq!(faults.take(Target::Callback), None);
    }

    #[test]
    fn a_hundred_faults_are_the_limit() {
        let mut faults = Faults::default();
        for _ in 0..100 {
            faults.inject(plan(Target::Any, GARBLED, 1)).unwrap();
        }
        let error = faults.inject(plan(Target::Any, GARBLED, 1)).unwrap_err();
        assert!(error.starts_with("A hundred faults"), "{error}");
    }
}

//! Faults on order: what the service does wrong, where, and how often.

mod fault;
mod target;

use serde::{Deserialize, Serialize};

use crate::seed::Seed;
use crate::service::Endpoint;
pub(crate) use fault::Fault;
pub(crate) use target::{Target, Word};

/// A fault with where and how often it comes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) endpoint: Target,
    #[serde(flatten)]
    pub(crate) fault: Fault,
    /// How many more calls it spoils; `None` until it is called off. Without a share it is 1 when it is not named.
    #[serde(default)]
    pub(crate) times: Option<u32>,
    /// How many of a hundred calls it spoils, drawn from the seed; `None` for all.
    #[serde(default)]
    pub(crate) share_percent: Option<u32>,
}

/// A plan that is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Planned {
    /// Counted from 1; to forget this one.
    pub(crate) number: u64,
    #[serde(flatten)]
    pub(crate) plan: Plan,
}

/// Faults that are still to come, oldest first.
#[derive(Debug)]
pub(crate) struct Faults {
    seed: Seed,
    plans: Vec<Planned>,
    /// Plans that were made.
    count: u64,
    /// Calls that a share was drawn for.
    drawn: u64,
}

/// Plans beyond which no more are taken.
const CAPACITY: usize = 100;

impl Faults {
    pub(crate) fn new(seed: Seed) -> Self {
        Self {
            seed,
            plans: Vec::new(),
            count: 0,
            drawn: 0,
        }
    }

    /// Plans a fault.
    ///
    /// # Errors
    /// A sentence, when the plan makes no sense.
    pub(crate) fn plan(&mut self, mut plan: Plan) -> Result<Planned, &'static str> {
        if let Some(nonsense) = plan.fault.nonsense() {
            return Err(nonsense);
        }
        if plan.fault.is_of_callbacks() != (plan.endpoint == Target::Word(Word::Callback)) {
            return Err(
                "The kinds lost, duplicated, delayed, reordered, early and lying go with the endpoint \"callback\", \
                 and no other kind does.",
            );
        }
        if !(1..=100).contains(&plan.share_percent.unwrap_or(100)) {
            return Err("The member share_percent is one from 1 to 100.");
        }
        if self.plans.len() == CAPACITY {
            return Err("A hundred faults are planned: DELETE /sandbox/faults forgets them.");
        }
        if plan.share_percent.is_none() {
            plan.times = plan.times.or(Some(1));
        }
        self.count += 1;
        let number = self.count;
        let planned = Planned { number, plan };
        if planned.plan.times != Some(0) {
            self.plans.push(planned.clone());
        }
        Ok(planned)
    }

    /// The fault of this call, which is used up by it.
    pub(crate) fn take(&mut self, endpoint: Option<Endpoint>) -> Option<Fault> {
        self.take_where(|plan| plan.endpoint.hits(endpoint))
    }

    /// The fault of a callback that is about to be sent.
    pub(crate) fn take_of_callback(&mut self) -> Option<Fault> {
        self.take_where(|plan| plan.fault.is_of_callbacks() && plan.fault != Fault::Early {})
    }

    /// Whether this payment is told before it is complete.
    pub(crate) fn take_early(&mut self) -> bool {
        self.take_where(|plan| plan.fault == Fault::Early {})
            .is_some()
    }

    fn take_where(&mut self, hits: impl Fn(&Plan) -> bool) -> Option<Fault> {
        let (seed, drawn) = (self.seed, &mut self.drawn);
        let mut comes = |plan: &Plan| {
            let Some(share) = plan.share_percent else {
                return true;
            };
            *drawn += 1;
            seed.below("fault", *drawn, 100) < share
        };
        let place = self
            .plans
            .iter()
            .position(|planned| hits(&planned.plan) && comes(&planned.plan))?;
        let plan = &mut self.plans[place].plan;
        let fault = plan.fault.clone();
        if let Some(times) = &mut plan.times {
            *times -= 1;
            if *times == 0 {
                self.plans.remove(place);
            }
        }
        Some(fault)
    }

    pub(crate) fn clear(&mut self) {
        self.plans.clear();
    }

    /// Forgets one; says whether it was there.
    pub(crate) fn forget(&mut self, number: u64) -> bool {
        let before = self.plans.len();
        self.plans.retain(|planned| planned.number != number);
        self.plans.len() < before
    }

    pub(crate) fn plans(&self) -> &[Planned] {
        &self.plans
    }
}

#[cfg(test)]
mod tests;

//! Faults on order: what the service does wrong, where, and how often.

use core::fmt;
use std::time::Duration;

use serde::Deserialize;

use crate::service::Endpoint;

/// What goes wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Another status instead of an answer; nothing is done.
    Status {
        status: u16,
        retry_after_seconds: Option<u32>,
    },
    /// The work is done; its answer is cut in the middle.
    Garbled,
    /// The work is done; its answer comes late.
    Slow(Duration),
    /// The work is done; the connection is closed instead of an answer.
    Drop,
}

/// Where it goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Target {
    Prices,
    Invoice,
    CreateInvoice,
    Confirm,
    Any,
}

impl Target {
    fn hits(self, endpoint: Option<Endpoint>) -> bool {
        match self {
            Self::Any => true,
            Self::Prices => endpoint == Some(Endpoint::Prices),
            Self::Invoice => endpoint == Some(Endpoint::Invoice),
            Self::CreateInvoice => endpoint == Some(Endpoint::CreateInvoice),
            Self::Confirm => endpoint == Some(Endpoint::Confirm),
        }
    }
}

/// Faults that are still to come, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<Planned>);

#[derive(Debug)]
struct Planned {
    target: Target,
    fault: Fault,
    times: u32,
}

impl Faults {
    /// Plans a fault for the next `times` calls of the target.
    pub(crate) fn plan(&mut self, target: Target, fault: Fault, times: u32) {
        self.0.push(Planned {
            target,
            fault,
            times,
        });
        self.0.retain(|planned| planned.times > 0);
    }

    /// The fault of this call, which is used up by it.
    pub(crate) fn take(&mut self, endpoint: Option<Endpoint>) -> Option<Fault> {
        let planned = self
            .0
            .iter_mut()
            .find(|planned| planned.target.hits(endpoint))?;
        planned.times -= 1;
        let fault = planned.fault.clone();
        self.0.retain(|planned| planned.times > 0);
        Some(fault)
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status { status, .. } => write!(f, "status {status}"),
            Self::Garbled => f.write_str("garbled"),
            Self::Slow(delay) => write!(f, "slow by {} ms", delay.as_millis()),
            Self::Drop => f.write_str("dropped"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_hits_its_endpoint_as_often_as_planned() {
        let mut faults = Faults::default();
        faults.plan(Target::Prices, Fault::Garbled, 2);
        assert_eq!(faults.take(Some(Endpoint::Invoice)), None);
        assert_eq!(faults.take(Some(Endpoint::Prices)), Some(Fault::Garbled));
        assert_eq!(faults.take(Some(Endpoint::Prices)), Some(Fault::Garbled));
        assert_eq!(faults.take(Some(Endpoint::Prices)), None);
    }

    #[test]
    fn faults_come_in_the_order_in_which_they_were_planned() {
        let mut faults = Faults::default();
        faults.plan(Target::Any, Fault::Drop, 1);
        faults.plan(Target::Confirm, Fault::Garbled, 1);
        assert_eq!(faults.take(Some(Endpoint::Confirm)), Some(Fault::Drop));
        assert_eq!(faults.take(Some(Endpoint::Confirm)), Some(Fault::Garbled));
    }

    #[test]
    fn cleared_faults_never_come() {
        let mut faults = Faults::default();
        faults.plan(Target::Any, Fault::Drop, 5);
        faults.clear();
        assert_eq!(faults.take(Some(Endpoint::Prices)), None);
    }

    #[test]
    fn a_fault_planned_for_no_call_is_no_fault() {
        let mut faults = Faults::default();
        faults.plan(Target::Any, Fault::Drop, 0);
        assert_eq!(faults.take(None), None);
    }
}

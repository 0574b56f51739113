//! Faults on order: what the service does wrong, where, and how often.

use core::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::seed::Seed;
use crate::service::Endpoint;

/// What goes wrong. All but the first leave the work done: only its answer is spoiled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Fault {
    /// Another status instead of an answer; nothing is done. `code` is the error's, `retry_after` seconds; with
    /// `retry_after_date` the header names the moment instead.
    Status {
        status: u16,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after: Option<u32>,
        #[serde(default)]
        retry_after_date: bool,
    },
    /// The answer is half of its text, whole as HTTP.
    Garbled {},
    /// The answer comes late, headers and all.
    Slow { delay_ms: u64 },
    /// The connection is closed instead of an answer.
    Drop {},
    /// The connection is closed in the middle of the body.
    Cut {},
    /// Headers and body come byte by byte.
    SlowHeaders {
        #[serde(default = "one")]
        bytes_per_second: u32,
    },
    /// The body comes byte by byte.
    SlowBody {
        #[serde(default = "one")]
        bytes_per_second: u32,
    },
    /// Numbers and lists stand where texts are due.
    WrongTypes {},
    /// Every text is there twice, the second time with another value.
    DuplicateKeys {},
    /// The body is padded to so many bytes.
    Huge {
        #[serde(default = "ten_megabytes")]
        bytes: usize,
    },
    /// The body is right and its content type is not.
    ContentType { value: String },
    /// 200 with a page for people instead of JSON.
    Html {},
    /// 200 without a body.
    Empty {},
    /// Another address is named, by 302.
    Redirect { location: String },
    /// 200 with the body of a refusal.
    ErrorInside {},
    /// A status of 400 or more with a body of neither shape; nothing is done.
    Shapeless { status: u16 },
    /// The record of another invoice.
    OtherInvoice {},
    /// The right record with another address, valid on its chain.
    ChangedAddress {},
    /// A word for the status that the specification does not know, or any other.
    StatusWord { word: String },
    /// A callback is never sent.
    Lost {},
    /// A callback is sent twice.
    Duplicated {},
    /// A callback is sent late.
    Delayed { delay_ms: u64 },
    /// A callback is sent after the one that follows it.
    Reordered {},
    /// COMPLETED is told when the payment is seen.
    Early {},
    /// COMPLETED is told as FAILED, and the other way round.
    Lying {},
}

fn one() -> u32 {
    1
}

fn ten_megabytes() -> usize {
    10 * 1024 * 1024
}

/// The largest padding; a client that reads this much has no limit.
const MAX_PADDING: usize = 64 * 1024 * 1024;

/// Where it goes wrong: at every endpoint, at one, or when a callback is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Target {
    Word(Word),
    Endpoint(Endpoint),
}

/// Targets that are no endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Word {
    Any,
    Callback,
}

impl Target {
    fn hits(self, endpoint: Option<Endpoint>) -> bool {
        match self {
            Self::Word(Word::Any) => true,
            Self::Word(Word::Callback) => false,
            Self::Endpoint(target) => endpoint == Some(target),
        }
    }
}

impl Fault {
    /// Whether it spoils a callback and not an answer.
    fn is_of_callbacks(&self) -> bool {
        matches!(
            self,
            Self::Lost {}
                | Self::Duplicated {}
                | Self::Delayed { .. }
                | Self::Reordered {}
                | Self::Early {}
                | Self::Lying {}
        )
    }

    /// Why it makes no sense, if it does not.
    fn nonsense(&self) -> Option<&'static str> {
        match self {
            Self::Status { status, .. } | Self::Shapeless { status }
                if !(400..=599).contains(status) =>
            {
                Some("The status of a fault is one from 400 to 599.")
            }
            Self::Status {
                retry_after: None,
                retry_after_date: true,
                ..
            } => Some("The member retry_after_date needs retry_after: the seconds until then."),
            Self::SlowHeaders { bytes_per_second } | Self::SlowBody { bytes_per_second }
                if *bytes_per_second == 0 =>
            {
                Some("The member bytes_per_second is 1 or more.")
            }
            Self::Huge { bytes } if *bytes > MAX_PADDING => {
                Some("The member bytes is at most 67108864.")
            }
            _ => None,
        }
    }

    /// The kind with what matters most of it.
    fn name(&self) -> &'static str {
        match self {
            Self::Status { .. } => "status",
            Self::Garbled {} => "garbled",
            Self::Slow { .. } => "slow",
            Self::Drop {} => "dropped",
            Self::Cut {} => "cut",
            Self::SlowHeaders { .. } => "slow headers",
            Self::SlowBody { .. } => "slow body",
            Self::WrongTypes {} => "wrong types",
            Self::DuplicateKeys {} => "duplicate keys",
            Self::Huge { .. } => "huge",
            Self::ContentType { .. } => "content type",
            Self::Html {} => "html",
            Self::Empty {} => "empty",
            Self::Redirect { .. } => "redirect",
            Self::ErrorInside {} => "error inside",
            Self::Shapeless { .. } => "shapeless",
            Self::OtherInvoice {} => "other invoice",
            Self::ChangedAddress {} => "changed address",
            Self::StatusWord { .. } => "status word",
            Self::Lost {} => "lost",
            Self::Duplicated {} => "duplicated",
            Self::Delayed { .. } => "delayed",
            Self::Reordered {} => "reordered",
            Self::Early {} => "early",
            Self::Lying {} => "lying",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Status { status, .. } | Self::Shapeless { status } => write!(f, " {status}"),
            Self::Slow { delay_ms } | Self::Delayed { delay_ms } => write!(f, " by {delay_ms} ms"),
            Self::StatusWord { word } => write!(f, " {word}"),
            _ => Ok(()),
        }
    }
}

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

/// Faults that are still to come, oldest first.
#[derive(Debug)]
pub(crate) struct Faults {
    seed: Seed,
    plans: Vec<Plan>,
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
            drawn: 0,
        }
    }

    /// Plans a fault.
    ///
    /// # Errors
    /// A sentence, when the plan makes no sense.
    pub(crate) fn plan(&mut self, mut plan: Plan) -> Result<Plan, &'static str> {
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
        if plan.times != Some(0) {
            self.plans.push(plan.clone());
        }
        Ok(plan)
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
            .position(|plan| hits(plan) && comes(plan))?;
        let plan = &mut self.plans[place];
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

    pub(crate) fn plans(&self) -> &[Plan] {
        &self.plans
    }
}

/// How long a fault of callbacks holds one back.
pub(crate) fn delay(fault: Option<&Fault>) -> Duration {
    match fault {
        Some(Fault::Delayed { delay_ms }) => Duration::from_millis(*delay_ms),
        _ => Duration::ZERO,
    }
}

#[cfg(test)]
mod tests;

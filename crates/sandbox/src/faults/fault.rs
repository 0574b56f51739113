//! What goes wrong.

use core::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

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

impl Fault {
    /// Whether it spoils a callback and not an answer.
    pub(super) fn is_of_callbacks(&self) -> bool {
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

    /// How long a fault of callbacks holds one back.
    pub(crate) fn delay(&self) -> Duration {
        match self {
            Self::Delayed { delay_ms } => Duration::from_millis(*delay_ms),
            _ => Duration::ZERO,
        }
    }

    /// Why it makes no sense, if it does not.
    pub(super) fn nonsense(&self) -> Option<&'static str> {
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

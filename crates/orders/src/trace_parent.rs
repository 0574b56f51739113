//! The place of a request in a trace, as the header `traceparent` names it.
//!
//! Source: W3C Trace Context, level 2, section 3.2.

use std::fmt;
use std::str::FromStr;

/// `00-<trace id>-<parent id>-<flags>`.
const LENGTH: usize = 55;
/// The version that is written. A later one begins with the same fields.
const VERSION: &str = "00";
/// No header has this version.
const INVALID_VERSION: &str = "ff";
const SAMPLED: u8 = 1;
/// `sampled` and `random`: the flags of level 2. Others are not passed on.
const KNOWN_FLAGS: u8 = 0b11;

/// A trace and the span in it that caused a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceParent {
    /// The trace: not all zero.
    pub trace_id: [u8; 16],
    /// The span: not all zero.
    pub parent_id: [u8; 8],
    flags: u8,
}

/// A text that is no `traceparent`. The header is then ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a traceparent of W3C Trace Context")]
pub struct InvalidTraceParent;

impl TraceParent {
    /// A span of a trace that is recorded.
    pub fn recorded(trace_id: [u8; 16], parent_id: [u8; 8]) -> Self {
        Self {
            trace_id,
            parent_id,
            flags: SAMPLED,
        }
    }

    /// Returns `true` if the caller may have recorded the trace.
    pub fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }

    /// Reads a header. The case of its digits matters; a later version may have more fields.
    ///
    /// # Errors
    /// [`InvalidTraceParent`]
    pub fn parse(text: &str) -> Result<Self, InvalidTraceParent> {
        let (fields, rest) = text.split_at_checked(LENGTH).ok_or(InvalidTraceParent)?;
        let mut fields = fields.split('-');
        let mut field = || fields.next().ok_or(InvalidTraceParent);
        let (version, trace_id, parent_id, flags) = (field()?, field()?, field()?, field()?);
        let [_] = digits::<1>(version)?;
        let is_whole = if version == VERSION {
            rest.is_empty()
        } else {
            rest.is_empty() || rest.starts_with('-')
        };
        let [flags] = digits::<1>(flags)?;
        let parsed = Self {
            trace_id: digits(trace_id)?,
            parent_id: digits(parent_id)?,
            flags: flags & KNOWN_FLAGS,
        };
        let is_valid = version != INVALID_VERSION
            && is_whole
            && parsed.trace_id != [0; 16]
            && parsed.parent_id != [0; 8];
        is_valid.then_some(parsed).ok_or(InvalidTraceParent)
    }
}

/// Bytes of small hexadecimal digits.
fn digits<const N: usize>(text: &str) -> Result<[u8; N], InvalidTraceParent> {
    let mut bytes = [0; N];
    if text.bytes().any(|digit| digit.is_ascii_uppercase()) {
        return Err(InvalidTraceParent);
    }
    hex::decode_to_slice(text, &mut bytes).map_err(|_| InvalidTraceParent)?;
    Ok(bytes)
}

impl FromStr for TraceParent {
    type Err = InvalidTraceParent;

    fn from_str(text: &str) -> Result<Self, InvalidTraceParent> {
        Self::parse(text)
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (trace, parent) = (hex::encode(self.trace_id), hex::encode(self.parent_id));
        write!(f, "{VERSION}-{trace}-{parent}-{:02x}", self.flags)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALID: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_valid_header_is_read_and_written_as_it_came() {
        for flags in ["00", "01", "02", "03"] {
            let text = format!("{}{flags}", &VALID[..53]);
            let parsed = TraceParent::parse(&text).unwrap();
            assert_eq!(parsed.to_string(), text);
            assert_eq!(parsed.is_sampled(), matches!(flags, "01" | "03"));
        }
    }

    #[test]
    fn flags_that_are_not_known_are_not_passed_on() {
        let parsed = TraceParent::parse(&format!("{}f9", &VALID[..53])).unwrap();
        assert_eq!(parsed.to_string(), VALID);
    }

    #[test]
    fn a_later_version_is_read_by_its_first_fields_and_written_as_version_0() {
        for text in [
            VALID.replacen("00", "cc", 1),
            format!("{}-what-the-future-brings", VALID.replacen("00", "01", 1)),
        ] {
            assert_eq!(TraceParent::parse(&text).unwrap().to_string(), VALID);
        }
    }

    #[test]
    fn every_other_text_is_refused() {
        let zeros = |from: usize, to: usize| {
            let mut text = VALID.to_owned();
            text.replace_range(from..to, &"0".repeat(to - from));
            text
        };
        for text in [
            String::new(),
            VALID[..54].to_owned(),
            format!("{VALID}-"),
            format!("{VALID}0"),
            format!("{}0", VALID.replacen("00", "01", 1)),
            VALID.replacen("00", "ff", 1),
            VALID.replacen("00", "0g", 1),
            VALID.replace("4bf9", "4BF9"),
            VALID.replace("00f0", "00fg"),
            VALID.replace('-', "_"),
            VALID.replacen("-00f0", "00f0-", 1),
            format!("{}0x", &VALID[..53]),
            zeros(3, 35),
            zeros(36, 52),
            "é".repeat(28),
        ] {
            assert_eq!(TraceParent::parse(&text), Err(InvalidTraceParent), "{text}");
        }
    }
}

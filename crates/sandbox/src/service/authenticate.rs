//! Who calls, and whether they signed what was received.
//!
//! Source: payment-service.md, "Authentication". `Assumed:` every endpoint needs the three headers and a content type;
//! the specification says so for GET /invoice only.

use jiff::Timestamp;

use super::{Call, Code, Refusal};
use crate::Settings;
use crate::signature::{is_compact, is_signed, signed_message};
use crate::state::State;

/// Checks key, nonce, signature and content type, in this order.
pub(super) fn authenticate(
    settings: &Settings,
    state: &mut State,
    call: &Call,
    now: Timestamp,
) -> Result<(), Refusal> {
    check_key(settings, call)?;
    let nonce = call
        .header("nonce")
        .ok_or_else(|| unsigned("the header nonce is missing, or sent twice"))?;
    let seconds = check_nonce(settings, state, nonce, now)?;
    check_signature(settings, call, nonce)?;
    check_content_type(call)?;
    state.last_nonce = state.last_nonce.max(seconds);
    Ok(())
}

fn check_key(settings: &Settings, call: &Call) -> Result<(), Refusal> {
    let refused = |message| Err(Refusal::new(Code::InvalidApiKey, message));
    match call.header("apikey") {
        None => refused("the header apikey is missing, or sent twice"),
        Some(key) if key != settings.api_key => refused("the header apikey names no key of ours"),
        Some(_) => Ok(()),
    }
}

fn check_nonce(
    settings: &Settings,
    state: &State,
    nonce: &str,
    now: Timestamp,
) -> Result<i64, Refusal> {
    let digits = !nonce.is_empty() && nonce.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = nonce.parse::<i64>().ok().filter(|_| digits);
    let seconds = seconds
        .ok_or_else(|| unsigned(format!("the nonce {nonce:?} is no Unix time in seconds")))?;
    let here = now.as_second();
    if seconds.abs_diff(here) > u64::from(settings.nonce_tolerance_seconds) {
        return Err(unsigned(format!(
            "the nonce {nonce} is more than {} seconds away from our clock ({here})",
            settings.nonce_tolerance_seconds
        )));
    }
    if settings.strict_nonce && seconds <= state.last_nonce {
        return Err(unsigned(format!(
            "the nonce {nonce} is not above the last one ({})",
            state.last_nonce
        )));
    }
    Ok(seconds)
}

fn check_signature(settings: &Settings, call: &Call, nonce: &str) -> Result<(), Refusal> {
    let signature = call
        .header("signature")
        .ok_or_else(|| unsigned("the header signature is missing, or sent twice"))?;
    let body = match (&call.body, call.method.as_str()) {
        (None, _) => return Err(Refusal::request("the body is too large, or was cut off")),
        (Some(body), "POST") => body.as_ref(),
        (Some(_), _) => b"",
    };
    if !is_compact(body) {
        return Err(unsigned(
            "the body has blanks between its tokens; compact JSON text is what is signed and sent",
        ));
    }
    let message = signed_message(nonce, &call.target, body);
    if is_signed(&settings.api_secret, &message, signature) {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&message);
    Err(unsigned(format!(
        "the signature is not the lower-case hexadecimal HMAC-SHA384 of this message under your secret: {message}"
    )))
}

fn check_content_type(call: &Call) -> Result<(), Refusal> {
    let media_type = call
        .header("content-type")
        .and_then(|value| value.split(';').next());
    if media_type.is_some_and(|value| value.trim().eq_ignore_ascii_case("application/json")) {
        return Ok(());
    }
    Err(Refusal::request(
        "the header content-type must be application/json",
    ))
}

fn unsigned(message: impl Into<String>) -> Refusal {
    Refusal::new(Code::InvalidSignature, message)
}

//! Who calls, and whether they signed what was received.
//!
//! Source: payment-service.md, "Authentication". `Assumed:` every endpoint needs the three headers and a content type;
//! the specification says so for GET /invoice only.

use jiff::Timestamp;

use super::refusal::SignatureProof;
use super::{Call, Code, Endpoint, Refusal};
use crate::Settings;
use crate::rules::Rules;
use crate::signature::{is_compact, is_signed, sign, signed_message};
use crate::signature_hint::SignatureAttempt;
use crate::state::{Sandbox, State};

/// Checks key, nonce, signature and content type, in this order.
///
/// POST /checkout needs no signature (payment-service.md, "Signature"); when it has one, that one is checked too
/// (`Assumed:`), so that a merchant who signs everything hears of a wrong signature.
pub(super) fn authenticate(
    sandbox: &Sandbox,
    state: &mut State,
    call: &Call,
    endpoint: Endpoint,
) -> Result<(), Refusal> {
    let settings = &sandbox.settings;
    check_key(settings, call)?;
    let signs = call.headers.contains_key("signature") || call.headers.contains_key("nonce");
    if endpoint == Endpoint::Checkout && !signs {
        call.whole_body()?;
        return check_content_type(call);
    }
    let nonce = call
        .header("nonce")
        .ok_or_else(|| unsigned("the header nonce is missing, or sent twice"))?;
    let here = sandbox.service_time(&state.rules);
    let seconds = check_nonce(state, nonce, here)?;
    check_signature(settings, &state.rules, call, nonce)?;
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

fn check_nonce(state: &State, nonce: &str, now: Timestamp) -> Result<i64, Refusal> {
    let rules = &state.rules;
    let digits = !nonce.is_empty() && nonce.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = nonce.parse::<i64>().ok().filter(|_| digits);
    let seconds = seconds
        .ok_or_else(|| unsigned(format!("the nonce {nonce:?} is no Unix time in seconds")))?;
    let here = now.as_second();
    if seconds.abs_diff(here) > u64::from(rules.nonce_tolerance_seconds) {
        let refusal = unsigned(format!(
            "the nonce {nonce} is more than {} seconds away from our clock ({here})",
            rules.nonce_tolerance_seconds
        ));
        let in_seconds =
            (seconds / 1_000).abs_diff(here) <= u64::from(rules.nonce_tolerance_seconds);
        return Err(if in_seconds {
            refusal.with_hint("the nonce is in milliseconds: it is whole seconds")
        } else {
            refusal
        });
    }
    if rules.strict_nonce && seconds <= state.last_nonce {
        return Err(unsigned(format!(
            "the nonce {nonce} is not above the last one ({})",
            state.last_nonce
        )));
    }
    Ok(seconds)
}

fn check_signature(
    settings: &Settings,
    rules: &Rules,
    call: &Call,
    nonce: &str,
) -> Result<(), Refusal> {
    let signature = call
        .header("signature")
        .ok_or_else(|| unsigned("the header signature is missing, or sent twice"))?;
    let whole = call.whole_body()?;
    let body = match call.method.as_str() {
        "POST" => whole,
        "PUT" if rules.put_signs_body => whole,
        _ => b"",
    };
    let message = signed_message(nonce, &call.target, body);
    let signed = is_signed(&settings.api_secret, &message, signature);
    if signed && is_compact(body) {
        return Ok(());
    }
    let proof = SignatureProof {
        expected_message: String::from_utf8_lossy(&message).into_owned(),
        expected_signature: sign(&settings.api_secret, &message),
        received_signature: signature.chars().take(200).collect(),
        signed_message: None,
        hint: None,
    };
    let attempt = SignatureAttempt {
        nonce,
        target: &call.target,
        host: call.header("host").unwrap_or_default(),
        body: whole,
        signature,
    };
    if !is_compact(body) {
        let refusal = unsigned(
            "the body has blanks between its tokens; compact JSON text is what is signed and sent",
        );
        return Err(refusal.with_proof(proof));
    }
    let refusal = unsigned(format!(
        "the signature is not the lower-case hexadecimal HMAC-SHA384 of this message under your secret: {}",
        proof.expected_message
    ));
    let Some(mistake) = attempt.mistake(settings, &message) else {
        return Err(refusal.with_proof(proof));
    };
    let signed_message = String::from_utf8_lossy(&mistake.signed_message).into_owned();
    let proof = SignatureProof {
        signed_message: Some(signed_message),
        ..proof
    };
    Err(refusal.with_proof(proof).with_hint(mistake.hint))
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

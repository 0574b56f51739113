//! The gateway's API, below `/api`, as its specification describes it.
//!
//! Key, nonce and signature are checked with lines that share nothing with those that sign. Source: payment-service.md,
//! "Authentication" and "Signature"; the known signatures below were computed with two independent programs. `Assumed:` every
//! endpoint needs the three headers and a content type; the specification requires them for GET /invoice only.

mod invoices;
pub mod request;

use axum::Json;
use axum::response::{IntoResponse as _, Response};
use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use sha2::Sha384;

use self::request::{ApiError, Call, Endpoint, ErrorCode};
use crate::account;
use crate::gateway::{Gateway, Options};

/// Serves a call.
///
/// `clock` is the time with which the nonce is compared.
pub async fn respond(gateway: &Gateway, call: &Call, clock: Timestamp) -> Response {
    match handle(gateway, call, clock).await {
        Ok(body) => Json(body).into_response(),
        Err(error) => error.response(call.endpoint),
    }
}

async fn handle(gateway: &Gateway, call: &Call, clock: Timestamp) -> Result<Value, ApiError> {
    let endpoint = call.endpoint.ok_or_else(|| ApiError::no_endpoint(call))?;
    authenticate(&gateway.options, clock, call, endpoint)?;
    let now = gateway.now();
    if !gateway.rate_limit.admits(now) {
        let message = "more requests in this second than the account may send";
        return Err(ApiError::new(ErrorCode::RateLimitExceeded, message));
    }
    match endpoint {
        Endpoint::Prices => Ok(invoices::list_prices(gateway, now)),
        Endpoint::Currencies => Ok(invoices::list_currencies(gateway)),
        Endpoint::CreateInvoice => invoices::create(gateway, call, now).await,
        Endpoint::Invoice => invoices::read(gateway, call, now).await,
        Endpoint::Confirm => invoices::confirm(gateway, call).await,
        Endpoint::Checkout => invoices::open(gateway, call, now).await,
        Endpoint::AddPreference | Endpoint::ChangePreference => {
            account::set_wallet(gateway, call).await
        }
        Endpoint::OnboardMerchant => account::onboard(gateway, call).await,
        Endpoint::MerchantAccount => account::upload_url(&gateway.options.public_url, call),
        Endpoint::ChangeSettings => account::change_settings(gateway, call).await,
    }
}

/// Seconds by which a nonce may differ from the clock. `Assumed:` the specification gives no number. A nonce may be
/// used again, since it is a Unix time in whole seconds and a merchant calls more than once a second.
const NONCE_TOLERANCE_SECONDS: u64 = 300;

/// Checks key, nonce, signature and content type, in this order.
///
/// POST /checkout needs no signature (payment-service.md, "Signature"); when it has one, that one is checked too
/// (`Assumed:`).
fn authenticate(
    options: &Options,
    now: Timestamp,
    call: &Call,
    endpoint: Endpoint,
) -> Result<(), ApiError> {
    check_key(options, call)?;
    let is_signed = call.headers.contains_key("signature") || call.headers.contains_key("nonce");
    if endpoint != Endpoint::Checkout || is_signed {
        let nonce = call
            .header("nonce")
            .ok_or_else(|| unsigned("the header nonce is missing, or sent twice"))?;
        check_nonce(nonce, now)?;
        check_signature(&options.api_secret, call, nonce)?;
    }
    check_content_type(call)
}

fn check_key(options: &Options, call: &Call) -> Result<(), ApiError> {
    let error = |message| Err(ApiError::new(ErrorCode::InvalidApiKey, message));
    match call.header("apikey") {
        None => error("the header apikey is missing, or sent twice"),
        Some(key) if key != options.api_key => error("the header apikey is no key of this account"),
        Some(_) => Ok(()),
    }
}

fn check_nonce(nonce: &str, now: Timestamp) -> Result<(), ApiError> {
    let is_digits = !nonce.is_empty() && nonce.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = nonce.parse::<i64>().ok().filter(|_| is_digits);
    let seconds = seconds
        .ok_or_else(|| unsigned(format!("the nonce {nonce:?} is no Unix time in seconds")))?;
    let now = now.as_second();
    if seconds.abs_diff(now) > NONCE_TOLERANCE_SECONDS {
        return Err(unsigned(format!(
            "the nonce {nonce} is more than {NONCE_TOLERANCE_SECONDS} seconds away from the gateway's clock ({now}); \
             it is in whole seconds"
        )));
    }
    Ok(())
}

fn check_signature(secret: &SecretString, call: &Call, nonce: &str) -> Result<(), ApiError> {
    let signature = call
        .header("signature")
        .ok_or_else(|| unsigned("the header signature is missing, or sent twice"))?;
    // `Assumed:` the body of a PUT is not signed; "for POST requests only".
    let body = match call.method.as_str() {
        "POST" => call.body()?,
        _ => b"",
    };
    // `Assumed:` the path begins with a slash and is the one below the base address.
    let message = [b"/api/", nonce.as_bytes(), call.target.as_bytes(), body].concat();
    if !is_compact(body) {
        return Err(unsigned(
            "the body has blanks between its tokens; sign and send compact JSON text",
        ));
    }
    if !is_signed(secret, &message, signature) {
        return Err(unsigned(format!(
            "the signature is not the lower-case hexadecimal HMAC-SHA384 of this message under your secret: {}",
            String::from_utf8_lossy(&message)
        )));
    }
    Ok(())
}

fn check_content_type(call: &Call) -> Result<(), ApiError> {
    let value = call.header("content-type").unwrap_or_default();
    let media_type = value.split(';').next().unwrap_or_default();
    if media_type.trim().eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(ApiError::invalid(
        "the header content-type must be application/json",
    ))
}

fn unsigned(message: impl Into<String>) -> ApiError {
    ApiError::new(ErrorCode::InvalidSignature, message)
}

/// Whether `signature` is the lower-case hexadecimal HMAC-SHA384 of the message, in constant time.
fn is_signed(secret: &SecretString, message: &[u8], signature: &str) -> bool {
    let is_lower_case = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if !signature.bytes().all(is_lower_case) {
        return false;
    }
    let Ok(digest) = hex::decode(signature) else {
        return false;
    };
    Hmac::<Sha384>::new_from_slice(secret.expose_secret().as_bytes())
        .expect("HMAC takes a key of any length")
        .chain_update(message)
        .verify_slice(&digest)
        .is_ok()
}

/// Whether JSON text has no blanks between its tokens.
///
/// The specification signs "compact JSON text". `Assumed:` the gateway writes the text again from what it parsed, so
/// that a body with blanks never matches. Disproved by the test environment accepting one.
fn is_compact(json: &[u8]) -> bool {
    let (mut in_text, mut escaped) = (false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b' ' | b'\t' | b'\n' | b'\r' if !in_text => return false,
            _ => {}
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::Request;

    use super::*;
    use crate::chain::Network;

    const START: i64 = 1_700_000_000;
    const OF_GET: &str = "08d1927a3668f9fc40259475a21fbd9f7b8927ac3fef83c42c96d145b03ad37a78d0f5effdeeae0db50d7be6cca9fd7e";
    const OF_POST: &str = "cfdd5018ab61c3176e81923efb7746c3ea0c5c2ec80b7d63239b1c425283a85cdc401f11962fb9d1e456dbba94018ae5";
    const BODY: &str = r#"{"conversion_id":"c1","amount":"10.00"}"#;

    /// What is wrong with a call at a second, whose headers are those of a known signature but for one: without a
    /// value it is missing, with a plus it is added.
    async fn refusal(second: i64, line: &str, body: &str, header: &str, value: &str) -> String {
        let (method, target) = line.split_once(' ').unwrap();
        let mut headers = vec![
            ("apikey", "test_key"),
            ("signature", if method == "POST" { OF_POST } else { OF_GET }),
            ("nonce", "1700000000"),
            ("content-type", "application/json"),
        ];
        headers.retain(|(name, _)| *name != header);
        if !value.is_empty() {
            headers.push((header.trim_start_matches('+'), value));
        }
        let mut request = Request::builder().method(method);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let request = request.uri(format!("/api{target}")).body(());
        let (parts, ()) = request.unwrap().into_parts();
        let call = Call::read(&parts, Body::from(body.to_owned())).await;
        let options = Options::new(Network::Test, "test_key", "test_secret", Vec::new());
        let now = Timestamp::from_second(second).unwrap();
        let endpoint = call.endpoint.unwrap_or(Endpoint::Invoice);
        match authenticate(&options, now, &call, endpoint) {
            Ok(()) => "ok".to_owned(),
            Err(error) => format!("{:?}: {}", error.code, error.message),
        }
    }

    /// The call, its body, the header that is not the known one with its value, and the start of the refusal.
    const CALLS: &str = r#"
GET /invoice?id=inv_1 | | | | ok
POST /invoice | BODY | | | ok
PUT /invoice?id=inv_1 | BODY | | | ok
PUT /invoice?id=inv_1 | BODY | signature | OF_POST | InvalidSignature: the signature is
GET /invoice?id=inv_2 | | | | InvalidSignature: the signature is
GET /invoice?id=%69nv_1 | | | | InvalidSignature: the signature is
GET /invoice | | | | InvalidSignature: the signature is
POST /invoice | {} | | | InvalidSignature: the signature is
POST /invoice | {"a": 1} | | | InvalidSignature: the body has blanks
GET /invoice?id=inv_1 | | signature | UPPER_CASE | InvalidSignature: the signature is
GET /invoice?id=inv_1 | | signature | 08d1927a | InvalidSignature: the signature is
GET /invoice?id=inv_1 | | signature | | InvalidSignature: the header signature
GET /invoice?id=inv_1 | | nonce | | InvalidSignature: the header nonce
GET /invoice?id=inv_1 | | nonce | +1700000000 | InvalidSignature: the nonce "+17
GET /invoice?id=inv_1 | | nonce | 1.7e9 | InvalidSignature: the nonce "1.7e9
GET /invoice?id=inv_1 | | apikey | | InvalidApiKey: the header apikey is missing
GET /invoice?id=inv_1 | | +apikey | test_key | InvalidApiKey: the header apikey is missing
GET /invoice?id=inv_1 | | apikey | other | InvalidApiKey: the header apikey is no key
GET /invoice?id=inv_1 | | content-type | | InvalidRequest: the header content-type
GET /invoice?id=inv_1 | | content-type | text/plain | InvalidRequest: the header content-type
GET /invoice?id=inv_1 | | content-type | application/json; charset=utf-8 | ok
POST /checkout | | signature | OF_POST | InvalidSignature: the signature is
POST /checkout | | apikey | other | InvalidApiKey: the header apikey is no key
"#;

    #[tokio::test]
    async fn a_call_needs_a_key_a_nonce_a_signature_and_a_content_type() {
        let calls = CALLS.replace("OF_POST", OF_POST).replace("BODY", BODY);
        let calls = calls.replace("UPPER_CASE", &OF_GET.to_uppercase());
        for row in calls.trim().lines() {
            let columns: Vec<&str> = row.split('|').map(str::trim).collect();
            let [line, body, header, value, expected] = columns[..] else {
                panic!("{row}");
            };
            let refusal = refusal(START, line, body, header, value).await;
            assert!(refusal.starts_with(expected), "{row}: {refusal}");
            assert!(!refusal.contains("test_secret"), "{refusal}");
        }
        let signed = refusal(START, "GET /invoice?id=inv_2", "", "", "").await;
        let end = "under your secret: /api/1700000000/invoice?id=inv_2";
        assert!(signed.ends_with(end), "{signed}");
    }

    #[tokio::test]
    async fn a_nonce_is_within_five_minutes() {
        for (seconds, expected) in [
            (-301, "InvalidSignature: the nonce 1700000000 is"),
            (-300, "ok"),
            (300, "ok"),
            (301, "InvalidSignature: the nonce 1700000000 is"),
        ] {
            let refusal = refusal(START + seconds, "GET /invoice?id=inv_1", "", "", "").await;
            assert!(refusal.starts_with(expected), "{seconds}: {refusal}");
        }
    }

    #[test]
    fn blanks_count_outside_of_texts_alone() {
        assert!(is_compact(br#"{"a b":"c \" d\\","e":[1,2]}"#));
        assert!(!is_compact(br#"{"a": "b"}"#));
        assert!(!is_compact(b"{}\n"));
        assert!(!is_compact(br#"{"a":"b\\" }"#));
    }
}

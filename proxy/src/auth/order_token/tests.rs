//! Tokens are signed here by a library that shares no line with the verifier.

use florin_money::Currency;
use florin_orders::StoreId;
use jwt_compact::alg::{Hs256, Hs256Key};
use jwt_compact::{Algorithm as _, AlgorithmExt as _, AlgorithmSignature as _, Header};
use secrecy::SecretString;
use serde_json::{Value, json};
use url::Url;

use super::*;
use crate::config::tests::EXAMPLE;
use crate::config::{KeyId, Origin, parse};

const AUDIENCE: &str = "https://pay.example";
const NOW: i64 = 1_763_700_000;
const KEYS: [(&str, &str, &str); 4] = [
    ("demo", "k1", "demo-key-one-0123456789abcdef0123456789"),
    ("demo", "k2", "demo-key-two-0123456789abcdef0123456789"),
    ("other", "k1", "other-key-one-0123456789abcdef012345678"),
    ("other", "o2", "other-key-two-0123456789abcdef012345678"),
];

fn store(id: &str) -> Store {
    let keys = KEYS.iter().filter(|(store, ..)| *store == id);
    let mut stores = parse(EXAMPLE).unwrap().stores;
    Store {
        id: StoreId::parse(id).unwrap(),
        origins: vec![Origin::of(&Url::parse("https://shop.example").unwrap())],
        token_keys: keys
            .map(|(_, kid, secret)| TokenKey {
                kid: KeyId::parse(kid).unwrap(),
                secret: SecretString::from(*secret),
            })
            .collect(),
        ..stores.remove(0)
    }
}

fn payload() -> Value {
    json!({
        "aud": AUDIENCE, "store": "demo", "reference": "order-17", "amount": "19.90", "currency": "USD",
        "iat": NOW, "exp": NOW + 3600, "title": "A lamp", "return_url": "https://shop.example/thanks",
    })
}

fn secret(store: &str, kid: &str) -> Hs256Key {
    let key = KEYS.iter().find(|(s, k, _)| (*s, *k) == (store, kid));
    Hs256Key::new(key.unwrap().2)
}

fn minted(payload: &Value) -> String {
    minted_by(&secret("demo", "k1"), "k1", payload)
}

fn minted_by(key: &Hs256Key, kid: &str, payload: &Value) -> String {
    let header = Header::empty().with_key_id(kid);
    let claims = jwt_compact::Claims::new(payload);
    Hs256.token(&header, &claims, key).unwrap()
}

fn signed(header: &str, payload: &str) -> String {
    let message = [header, payload]
        .map(|part| URL_SAFE_NO_PAD.encode(part))
        .join(".");
    let key = secret("demo", "k1");
    let signature = Hs256.sign(&key, message.as_bytes());
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature.as_bytes()))
}

fn verified(token: &str) -> Result<(String, Claims), OrderTokenError> {
    let stores = [store("other"), store("demo")];
    let now = Timestamp::from_second(NOW).unwrap();
    let (store, claims) = verify(token, &stores, AUDIENCE, now)?;
    Ok((store.id.to_string(), claims))
}

#[track_caller]
fn assert_refused(token: &str, reason: &str) {
    let refusal = verified(token).expect_err("must be refused").to_string();
    assert!(refusal.starts_with(reason), "{reason}: {refusal}");
}

fn with(claim: &str, value: impl Into<Value>) -> String {
    let mut payload = payload();
    payload[claim] = value.into();
    minted(&payload)
}

#[test]
fn a_token_of_an_independent_library_is_accepted() {
    let (store, claims) = verified(&minted(&payload())).unwrap();
    assert_eq!(store, "demo");
    assert_eq!(claims.reference.as_str(), "order-17");
    assert_eq!(claims.price.amount().to_string(), "19.90");
    assert_eq!(claims.price.currency(), Currency::USD);
    assert_eq!(claims.title.as_deref(), Some("A lamp"));
    let return_url = claims.return_url.as_deref();
    assert_eq!(return_url, Some("https://shop.example/thanks"));
}

#[test]
fn a_token_needs_neither_typ_nor_title_nor_return_url() {
    let mut payload = payload();
    payload
        .as_object_mut()
        .unwrap()
        .retain(|name, _| name != "title" && name != "return_url");
    let token = signed(r#"{"alg":"HS256","kid":"k1"}"#, &payload.to_string());
    let (_, claims) = verified(&token).unwrap();
    assert_eq!((claims.title, claims.return_url), (None, None));
}

#[test]
fn a_token_with_any_one_character_altered_is_refused() {
    let token = minted(&payload());
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ ";
    for (place, original) in token.char_indices() {
        // The last character of a part has bits that no byte uses: each other one is tried there, a few elsewhere.
        let is_last = matches!(token[place + 1..].chars().next(), None | Some('.'));
        let others = if is_last { alphabet } else { "Az9_.= " };
        for other in others.chars().filter(|other| *other != original) {
            let mut altered = token.clone();
            altered.replace_range(place..=place, &other.to_string());
            assert!(verified(&altered).is_err(), "{place}: {other}");
        }
        let mut shorter = token.clone();
        shorter.remove(place);
        assert!(verified(&shorter).is_err(), "without {place}");
    }
}

#[test]
fn only_hs256_with_a_kid_and_nothing_else_is_a_header() {
    let payload = payload().to_string();
    let none = [r#"{"alg":"none","kid":"k1"}"#, &payload].map(|part| URL_SAFE_NO_PAD.encode(part));
    assert_refused(&format!("{}.", none.join(".")), "its algorithm is \"none\"");
    for alg in ["RS256", "HS384", "HS512", "ES256", "hs256", "None", ""] {
        let token = signed(&json!({"alg": alg, "kid": "k1"}).to_string(), &payload);
        assert_refused(&token, &format!("its algorithm is {alg:?}"));
    }
    for extra in [
        r#""crit":["exp"]"#,
        r#""jwk":{"kty":"oct","k":"AAAA"}"#,
        r#""jku":"https://evil.example/keys""#,
        r#""x5u":"https://evil.example/cert""#,
        r#""x5c":[]"#,
        r#""b64":false"#,
        r#""zip":"DEF""#,
        r#""cty":"JWT""#,
        r#""kid":"k1""#,
        r#""alg":"HS256""#,
    ] {
        let header = format!(r#"{{"alg":"HS256","kid":"k1",{extra}}}"#);
        assert_refused(&signed(&header, &payload), "its header is not");
    }
    let long = json!({"alg": "HS256", "kid": "k".repeat(33)}).to_string();
    for (header, reason) in [
        (r#"["HS256","k1",null]"#, "its header is no JSON object"),
        (r#"["HS256","k1","JWT"]"#, "its header is no JSON object"),
        ("null", "its header is no JSON object"),
        ("", "its header is no JSON object"),
        (r#"{"alg":"HS256","kid":"k1","typ":"at+jwt"}"#, "its typ"),
        (r#"{"alg":"HS256","kid":""}"#, "its kid"),
        (r#"{"alg":"HS256","kid":"k 1"}"#, "its kid"),
        (r#"{"alg":"HS256","kid":"../k1"}"#, "its kid"),
        (&long, "its kid"),
        (r#"{"alg":"HS256","kid":1}"#, "its header is not"),
    ] {
        assert_refused(&signed(header, &payload), reason);
    }
}

#[test]
fn the_key_of_one_store_opens_nothing_at_another() {
    let mint = |store: &str, kid: &str, named: &str| {
        let mut payload = payload();
        payload["store"] = named.into();
        minted_by(&secret(store, kid), kid, &payload)
    };
    for (signer, kid, named) in [
        ("demo", "k1", "demo"),
        ("demo", "k2", "demo"),
        ("other", "k1", "other"),
        ("other", "o2", "other"),
    ] {
        assert_eq!(verified(&mint(signer, kid, named)).unwrap().0, named);
    }
    for (signer, kid, named) in [
        ("other", "k1", "demo"),
        ("other", "o2", "demo"),
        ("demo", "k1", "other"),
        ("demo", "k2", "other"),
        ("demo", "k1", "unknown"),
    ] {
        assert_refused(&mint(signer, kid, named), "it names the store");
    }
    let swapped = minted_by(&secret("demo", "k1"), "o2", &payload());
    assert_refused(&swapped, "its signature is not that of any key o2");
    let rotated = minted_by(&secret("demo", "k1"), "k0", &payload());
    assert_refused(&rotated, "no store has a token key k0");
}

#[test]
fn a_token_for_another_proxy_is_refused() {
    for audience in [
        "https://pay.example/",
        "https://evil.example",
        "",
        "HTTPS://PAY.EXAMPLE",
    ] {
        assert_refused(&with("aud", audience), "its aud is");
    }
}

#[test]
fn a_token_holds_from_a_minute_before_to_a_minute_after_its_times() {
    for (iat, exp, refused) in [
        (NOW + 60, NOW + 120, None),
        (NOW + 61, NOW + 120, Some("its iat")),
        (NOW - 3600, NOW - 59, None),
        (NOW - 3600, NOW - 60, Some("it expired")),
        (NOW, NOW + 86_400, None),
        (NOW, NOW + 86_401, Some("it lives")),
        (NOW, NOW, Some("it lives")),
        (NOW + 1, NOW, Some("it lives")),
        (i64::MIN, i64::MAX, Some("it lives")),
    ] {
        let mut payload = payload();
        payload["iat"] = iat.into();
        payload["exp"] = exp.into();
        let token = minted(&payload);
        match refused {
            Some(reason) => assert_refused(&token, reason),
            None => assert!(verified(&token).is_ok(), "{iat} {exp}"),
        }
    }
}

#[test]
fn a_claim_of_another_shape_is_refused() {
    for (name, value) in [
        ("amount", json!(19.90)),
        ("amount", json!("1e3")),
        ("amount", Value::Null),
        ("iat", json!("1763700000")),
        ("exp", json!(1_763_703_600.5)),
        ("aud", json!([AUDIENCE])),
        ("store", json!(1)),
        ("reference", json!(17)),
        ("sub", json!("another subject")),
        ("v", json!(1)),
    ] {
        assert_refused(&with(name, value), "its payload is not");
    }
    for (claim, value) in [
        ("amount", json!("19.905")),
        ("currency", json!("XXX")),
        ("reference", json!("a b")),
        ("title", json!("")),
        ("return_url", json!("https://evil.example/")),
        ("cancel_url", json!("https://evil.example/")),
        ("return_url", json!("https://shop.example.evil.example/")),
        ("return_url", json!("https://me@shop.example/")),
        ("return_url", json!("http://shop.example/")),
        ("return_url", json!("javascript:alert(1)")),
        ("return_url", json!("/thanks")),
    ] {
        assert_refused(&with(claim, value), &format!("its {claim}: "));
    }
}

#[test]
fn a_claim_that_comes_twice_is_refused() {
    let header = r#"{"alg":"HS256","kid":"k1"}"#;
    let payload = payload().to_string();
    let twice = payload.replacen('{', r#"{"amount":"0.01","#, 1);
    assert_refused(&signed(header, &twice), "its payload is not");
    let list = r#"["https://pay.example","demo","order-17","19.90","USD",1763700000,1763703600,null,null]"#;
    assert_refused(&signed(header, list), "its payload is no JSON object");
}

#[test]
fn what_is_no_token_at_all_is_refused() {
    for (text, reason) in [
        ("", "it is not three parts"),
        ("a.b", "it is not three parts"),
        ("e30.e30.e30.e30", "it is not three parts"),
        ("e30=.e30.e30", "its header is not unpadded base64url"),
        ("e31.e30.e30", "its header is not unpadded base64url"),
        ("e30.e30.e30", "its header is not {alg, kid, typ?}"),
        (&"x".repeat(8193), "it has more than 8192"),
    ] {
        assert_refused(text, reason);
    }
}

#[test]
fn the_signature_is_compared_before_the_payload_is_read() {
    let token = minted(&payload());
    let (header, rest) = token.split_once('.').unwrap();
    let (_, signature) = rest.split_once('.').unwrap();
    assert_refused(&format!("{header}.not-json.{signature}"), "its signature");
}

//! Tokens are signed here by a library that shares no line with the verifier.

use florin_money::Currency;
use florin_orders::StoreId;
use jwt_compact::alg::{Hs256, Hs256Key};
use jwt_compact::{Algorithm as _, AlgorithmExt as _, AlgorithmSignature as _, Header};
use proptest::prelude::*;
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
fn refused(token: &str) -> OrderTokenError {
    verified(token).expect_err("must be refused")
}

#[test]
fn a_token_of_an_independent_library_is_accepted() {
    let (store, claims) = verified(&minted(&payload())).unwrap();
    assert_eq!(store, "demo");
    assert_eq!(claims.reference.as_str(), "order-17");
    assert_eq!(claims.price.amount().to_string(), "19.90");
    assert_eq!(claims.price.currency(), Currency::USD);
    assert_eq!(claims.title.as_deref(), Some("A lamp"));
    assert_eq!(
        claims.return_url.as_deref(),
        Some("https://shop.example/thanks")
    );
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
        for other in alphabet.chars().filter(|other| *other != original) {
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
    let none = format!(
        "{}.{}.",
        URL_SAFE_NO_PAD.encode(r#"{"alg":"none","kid":"k1"}"#),
        URL_SAFE_NO_PAD.encode(&payload)
    );
    assert!(matches!(refused(&none), OrderTokenError::Algorithm(alg) if alg == "none"));
    for alg in ["RS256", "HS384", "HS512", "ES256", "hs256", "None", ""] {
        let token = signed(&json!({"alg": alg, "kid": "k1"}).to_string(), &payload);
        assert!(matches!(refused(&token), OrderTokenError::Algorithm(found) if found == alg));
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
        let token = signed(
            &format!(r#"{{"alg":"HS256","kid":"k1",{extra}}}"#),
            &payload,
        );
        assert!(
            matches!(refused(&token), OrderTokenError::Header(_)),
            "{extra}"
        );
    }
    for header in [
        r#"["HS256","k1",null]"#,
        r#"["HS256","k1","JWT"]"#,
        "null",
        "",
    ] {
        let token = signed(header, &payload);
        assert!(
            matches!(refused(&token), OrderTokenError::NoObject("header")),
            "{header}"
        );
    }
    let typ = signed(r#"{"alg":"HS256","kid":"k1","typ":"at+jwt"}"#, &payload);
    assert!(matches!(refused(&typ), OrderTokenError::Type));
    for kid in ["", "k 1", "../k1", &"k".repeat(33)] {
        let token = signed(&json!({"alg": "HS256", "kid": kid}).to_string(), &payload);
        assert!(matches!(refused(&token), OrderTokenError::KeyId), "{kid}");
    }
    let number = signed(r#"{"alg":"HS256","kid":1}"#, &payload);
    assert!(matches!(refused(&number), OrderTokenError::Header(_)));
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
        let refusal = refused(&mint(signer, kid, named));
        assert!(
            matches!(refusal, OrderTokenError::ForeignStore { .. }),
            "{refusal}"
        );
    }
    let swapped = minted_by(&secret("demo", "k1"), "o2", &payload());
    assert!(matches!(refused(&swapped), OrderTokenError::Signature(_)));
    let rotated = minted_by(&secret("demo", "k1"), "k0", &payload());
    assert!(matches!(refused(&rotated), OrderTokenError::UnknownKey(_)));
}

#[test]
fn a_token_for_another_proxy_is_refused() {
    for audience in [
        "https://pay.example/",
        "https://evil.example",
        "",
        "HTTPS://PAY.EXAMPLE",
    ] {
        let mut payload = payload();
        payload["aud"] = audience.into();
        assert!(
            matches!(refused(&minted(&payload)), OrderTokenError::Audience { .. }),
            "{audience}"
        );
    }
}

#[test]
fn a_token_holds_from_a_minute_before_to_a_minute_after_its_times() {
    let with = |iat: i64, exp: i64| {
        let mut payload = payload();
        payload["iat"] = iat.into();
        payload["exp"] = exp.into();
        verified(&minted(&payload))
    };
    assert!(with(NOW + 60, NOW + 120).is_ok());
    assert!(matches!(
        with(NOW + 61, NOW + 120),
        Err(OrderTokenError::FromTheFuture { .. })
    ));
    assert!(with(NOW - 3600, NOW - 59).is_ok());
    assert!(matches!(
        with(NOW - 3600, NOW - 60),
        Err(OrderTokenError::Expired { .. })
    ));
    assert!(with(NOW, NOW + 86_400).is_ok());
    for (iat, exp) in [
        (NOW, NOW + 86_401),
        (NOW, NOW),
        (NOW + 1, NOW),
        (i64::MIN, i64::MAX),
    ] {
        assert!(
            matches!(with(iat, exp), Err(OrderTokenError::Life { .. })),
            "{iat} {exp}"
        );
    }
}

#[test]
fn a_claim_of_another_shape_is_refused() {
    for (name, value) in [
        ("amount", json!(19.90)),
        ("amount", json!(19)),
        ("amount", json!("1e3")),
        ("amount", json!("-1")),
        ("amount", json!("+1")),
        ("amount", json!("01.00")),
        ("amount", json!(" 1")),
        ("amount", json!("")),
        ("amount", Value::Null),
        ("iat", json!("1763700000")),
        ("exp", json!(1_763_703_600.5)),
        ("aud", json!([AUDIENCE])),
        ("store", json!(1)),
        ("reference", json!(17)),
        ("sub", json!("another subject")),
        ("v", json!(1)),
    ] {
        let mut payload = payload();
        payload[name] = value;
        let refusal = refused(&minted(&payload));
        assert!(
            matches!(refusal, OrderTokenError::Payload(_)),
            "{name}: {refusal}"
        );
    }
    for (claim, value) in [
        ("amount", json!("0")),
        ("amount", json!("0.00")),
        ("amount", json!("19.905")),
        ("amount", json!("19.9001")),
        ("currency", json!("XXX")),
        ("currency", json!("usd")),
        ("reference", json!("")),
        ("reference", json!("a b")),
        ("reference", json!("x".repeat(65))),
        ("title", json!("")),
        ("title", json!("é".repeat(121))),
        ("return_url", json!("https://evil.example/")),
        ("cancel_url", json!("https://evil.example/")),
        ("return_url", json!("https://shop.example.evil.example/")),
        ("return_url", json!("https://me@shop.example/")),
        ("return_url", json!("http://shop.example/")),
        ("return_url", json!("javascript:alert(1)")),
        ("return_url", json!("/thanks")),
    ] {
        let mut payload = payload();
        payload[claim] = value.clone();
        let refusal = refused(&minted(&payload));
        assert!(
            matches!(refusal, OrderTokenError::Field { name, .. } if name == claim),
            "{claim} {value}: {refusal}"
        );
    }
    let mut longest = payload();
    longest["title"] = "é".repeat(120).into();
    longest["reference"] = "x".repeat(64).into();
    assert!(verified(&minted(&longest)).is_ok());
}

#[test]
fn a_claim_that_comes_twice_is_refused() {
    let twice = payload()
        .to_string()
        .replacen('{', r#"{"amount":"0.01","#, 1);
    let token = signed(r#"{"alg":"HS256","kid":"k1"}"#, &twice);
    assert!(matches!(refused(&token), OrderTokenError::Payload(_)));
    let list = r#"["https://pay.example","demo","order-17","19.90","USD",1763700000,1763703600,null,null]"#;
    let token = signed(r#"{"alg":"HS256","kid":"k1"}"#, list);
    assert!(matches!(
        refused(&token),
        OrderTokenError::NoObject("payload")
    ));
}

#[test]
fn what_is_no_token_at_all_is_refused() {
    for (text, expected) in [
        ("", "three parts"),
        ("a.b", "three parts"),
        ("e30.e30.e30.e30", "three parts"),
        ("e30=.e30.e30", "base64url"),
        ("e31.e30.e30", "base64url"),
        ("e30.e30.e30", "missing field `alg`"),
        (&"x".repeat(8193), "more than 8192"),
    ] {
        let reason = refused(text).to_string();
        assert!(reason.contains(expected), "{text}: {reason}");
    }
}

/// The payload is read only behind the signature: one that no parser takes is refused for its signature.
#[test]
fn the_signature_is_compared_before_the_payload_is_read() {
    let token = minted(&payload());
    let (header, _) = token.split_once('.').unwrap();
    let signature = token.rsplit_once('.').unwrap().1;
    let refusal = refused(&format!("{header}.not-json.{signature}"));
    assert!(
        matches!(refusal, OrderTokenError::Signature(_)),
        "{refusal}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn a_mutated_token_never_opens_anything(
        place in any::<prop::sample::Index>(),
        bytes in prop::collection::vec(any::<u8>(), 1..8),
    ) {
        let token = minted(&payload());
        let mut mutated = token.clone().into_bytes();
        let place = place.index(mutated.len());
        for (slot, byte) in mutated[place..].iter_mut().zip(&bytes) {
            *slot = *byte;
        }
        let mutated = String::from_utf8_lossy(&mutated).into_owned();
        prop_assume!(mutated != token);
        prop_assert!(verified(&mutated).is_err());
    }
}

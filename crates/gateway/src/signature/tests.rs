use proptest::prelude::*;
use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct Vectors {
    tests: Vec<Vector>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Vector {
    tc_id: u32,
    key: String,
    msg: String,
    tag: String,
    tag_size: usize,
    result: String,
}

/// Checks every vector of a file and returns how many are valid and how many are not.
#[track_caller]
fn check(file: &str) -> (usize, usize) {
    let vectors: Vectors = serde_json::from_str(file).unwrap();
    let mut counts = (0, 0);
    for vector in vectors.tests {
        let [key, message] = [&vector.key, &vector.msg].map(|text| hex::decode(text).unwrap());
        let digits = hex::encode(hmac_sha384(&key, &[&message]));
        let same = digits[..vector.tag_size / 4] == vector.tag;
        match vector.result.as_str() {
            "valid" => counts.0 += 1,
            "invalid" => counts.1 += 1,
            other => panic!("unknown result {other}"),
        }
        assert_eq!(same, vector.result == "valid", "test {}", vector.tc_id);
    }
    counts
}

#[test]
fn every_case_of_rfc_4231_is_met() {
    assert_eq!(
        check(include_str!("../../vectors/rfc4231_hmac_sha384.json")),
        (7, 0)
    );
}

#[test]
fn wycheproof_tags_are_met_and_modified_ones_are_not() {
    let (valid, invalid) = check(include_str!("../../vectors/wycheproof_hmac_sha384.json"));
    assert_eq!(valid + invalid, 36);
    assert!(
        valid >= 14 && invalid >= 20,
        "{valid} valid, {invalid} invalid"
    );
}

fn signed(path: &str, body: Option<&[u8]>) -> Signature {
    sign(
        &SecretString::from("test_secret"),
        Nonce::from_second(1_700_000_000),
        path,
        body,
    )
}

// The two answers were computed with two independent programs.
#[test]
fn a_get_signs_its_path_with_the_query() {
    assert_eq!(
        signed("/invoice?id=inv_1", None).as_str(),
        "08d1927a3668f9fc40259475a21fbd9f7b8927ac3fef83c42c96d145b03ad37a\
         78d0f5effdeeae0db50d7be6cca9fd7e"
    );
}

#[test]
fn a_post_signs_the_bytes_of_its_body_too() {
    assert_eq!(
        signed(
            "/invoice",
            Some(br#"{"conversion_id":"c1","amount":"10.00"}"#)
        )
        .as_str(),
        "cfdd5018ab61c3176e81923efb7746c3ea0c5c2ec80b7d63239b1c425283a85c\
         dc401f11962fb9d1e456dbba94018ae5"
    );
}

#[test]
fn a_signature_is_not_printed() {
    assert_eq!(
        format!("{:?}", signed("/prices", None)),
        "Signature([redacted])"
    );
}

proptest! {
    #[test]
    fn a_message_signs_alike_however_it_is_cut(
        key in prop::collection::vec(any::<u8>(), 0..200),
        message in prop::collection::vec(any::<u8>(), 0..300),
        cut in 0_usize..300,
    ) {
        let (head, tail) = message.split_at(cut.min(message.len()));
        prop_assert_eq!(hmac_sha384(&key, &[&message]), hmac_sha384(&key, &[head, tail]));
    }
}

const BODY: Option<&[u8]> = Some(b"{}");

fn signed_as(signing: Signing, method: Method) -> Signature {
    let secret = SecretString::from("test_secret");
    signing.sign(&secret, Nonce::from_second(1), method, "/settings", BODY)
}

fn plain(body: Option<&[u8]>) -> Signature {
    sign(
        &SecretString::from("test_secret"),
        Nonce::from_second(1),
        "/settings",
        body,
    )
}

#[test]
fn only_a_post_signs_its_body_by_default() {
    let standard = Signing::default();
    assert_eq!(signed_as(standard, Method::Get), plain(None));
    assert_eq!(signed_as(standard, Method::Post), plain(BODY));
    assert_eq!(signed_as(standard, Method::Put), plain(None));
    let with_body = Signing {
        put_body: PutBody::Signed,
    };
    assert_eq!(signed_as(with_body, Method::Put), plain(BODY));
    assert_eq!(signed_as(with_body, Method::Get), plain(None));
}

#[test]
fn a_nonce_is_written_in_decimal() {
    assert_eq!(Nonce::from_second(1_700_000_000).to_string(), "1700000000");
}

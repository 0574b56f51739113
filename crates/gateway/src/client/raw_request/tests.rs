//! Requests that are forwarded byte for byte, and those that are refused.

use super::*;

fn body(text: &str) -> String {
    let request = RawRequest::new(Endpoint::AddPreferences, "", Some(text)).unwrap();
    request.body.unwrap()
}

fn named(text: &str) -> Result<String, RawRequestError> {
    let request = RawRequest::new(Endpoint::AddPreferences, "", Some(text)).unwrap();
    request
        .for_merchant("m\"1")
        .map(|request| request.body.unwrap())
}

fn asked(query: &str) -> Result<String, RawRequestError> {
    let request = RawRequest::new(Endpoint::MerchantAccount, query, None)?;
    Ok(request.for_merchant("m 1")?.path_and_query())
}

#[test]
fn nothing_but_whitespace_between_tokens_changes() {
    let compact = r#"{"b":1.10,"a":[1e5,-0,"x \" y\\"],"b":{"é\u00e9":null},"n":123456789012345678901234567890}"#;
    assert_eq!(body(compact), compact);
    let airy = "\n{ \"b\" :\t1.10,\r\n \"a\":[1e5 , -0,\"x \\\" y\\\\\"] , \"b\" : {\"é\\u00e9\":null}, \
                \"n\":123456789012345678901234567890 } ";
    assert_eq!(body(airy), compact);
    assert_eq!(body(" \" \" "), "\" \"");
}

#[test]
fn a_body_is_json_of_a_bounded_length_where_one_belongs() {
    let add = |body| RawRequest::new(Endpoint::AddPreferences, "", body);
    assert!(matches!(add(Some("{")), Err(RawRequestError::NotJson(_))));
    assert!(matches!(
        add(Some("{}{}")),
        Err(RawRequestError::NotJson(_))
    ));
    assert!(matches!(add(Some("")), Err(RawRequestError::NotJson(_))));
    let longest = format!("\"{}\"", "a".repeat(MAX_RAW_BODY_BYTES - 2));
    let too_long = format!("{longest} ");
    assert!(add(Some(&longest)).is_ok());
    assert_eq!(add(Some(&too_long)), Err(RawRequestError::TooLarge));
    assert!(matches!(add(None), Err(RawRequestError::Body(_))));
    let ask = RawRequest::new(Endpoint::Currencies, "", Some("{}"));
    assert!(matches!(ask, Err(RawRequestError::Body(_))));
}

#[test]
fn a_query_is_passed_on_as_it_is_or_not_at_all() {
    let passed = |query| RawRequest::new(Endpoint::Currencies, query, None);
    let odd = "a=b%20c&d=(!$*+,;:@/?~)";
    assert_eq!(
        passed(odd).unwrap().path_and_query(),
        format!("/currencies?{odd}")
    );
    for query in ["a b", "a=\"", "a='", "a=é", "a=#b", "a=<", "a=\n", "a=[1]"] {
        assert_eq!(passed(query), Err(RawRequestError::Query), "{query}");
    }
    assert_eq!(passed(&"a".repeat(1025)), Err(RawRequestError::Query));
}

#[test]
fn a_merchant_is_named_where_none_is() {
    assert_eq!(named("{}").unwrap(), r#"{"merchant_id":"m\"1"}"#);
    assert_eq!(
        named(r#"{ "wallet": {"a": 1} }"#).unwrap(),
        r#"{"merchant_id":"m\"1","wallet":{"a":1}}"#
    );
    let already = r#"{"a":"merchant_id","merchant_id":"m\u00221"}"#;
    assert_eq!(named(already).unwrap(), already);
    assert_eq!(named("[]"), Err(RawRequestError::NotAnObject));
    assert_eq!(asked("").unwrap(), "/merchant/account?merchant_id=m+1");
    assert_eq!(
        asked("a=1").unwrap(),
        "/merchant/account?a=1&merchant_id=m+1"
    );
    let already = "merchant_id=m%201";
    assert_eq!(
        asked(already).unwrap(),
        format!("/merchant/account?{already}")
    );
}

#[test]
fn no_other_merchant_can_be_named_however_it_is_written() {
    let other = Err(RawRequestError::OtherMerchant("m\"1".into()));
    for text in [
        r#"{"merchant_id":"m2"}"#,
        r#"{"merchant_id":7}"#,
        r#"{"merchant_id":null}"#,
        r#"{"merchant_id":["m\"1"]}"#,
        r#"{"merchant_id":"m\"1","merchant_id":"m2"}"#,
        r#"{"merchant_id":"m2","merchant_id":"m\"1"}"#,
        r#"{"merchant_id":"m\"1","merchant_id":"m\"1"}"#,
        r#"{"wallet":[{"merchant_id":"m2"}]}"#,
        r#"{"merchantId":"m2"}"#,
        r#"{"Merchant-ID":"m2"}"#,
        r#"{"\u006derchant_id":"m2"}"#,
        r#"{"a":"\\","merchant_id":"m2"}"#,
    ] {
        assert_eq!(named(text), other, "{text}");
    }
    for query in [
        "merchant_id=m2",
        "merchant%5Fid=m2",
        "merchantId=m+1",
        "merchant_id=m+1&merchant_id=m+1",
    ] {
        assert_eq!(
            asked(query),
            Err(RawRequestError::OtherMerchant("m 1".into())),
            "{query}"
        );
    }
}

#[test]
fn history_is_asked_for_in_the_query() {
    let id = InvoiceId::parse("a&b").unwrap();
    let path = |hist| RawRequest::invoice(&id, hist).path_and_query();
    assert_eq!(path(false), "/invoice?id=a%26b");
    assert_eq!(path(true), "/invoice?id=a%26b&hist=true");
}

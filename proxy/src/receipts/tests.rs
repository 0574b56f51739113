use florin_checkout_api::Environment;
use florin_orders::OrderId;

use super::*;

fn receipt() -> Receipt {
    Receipt {
        iss: "https://pay.shop.example".into(),
        environment: Environment::Test,
        store: "demo".into(),
        store_name: "Demo shop".into(),
        order_id: order().to_string(),
        reference: "cart-1234".into(),
        title: "Two mugs".into(),
        amount: "42.00".into(),
        currency: "USD".into(),
        paid_at: "2026-11-21T12:00:00Z".into(),
        crypto_code: Some("BTC".into()),
        asset: Some("BTC".into()),
        network: Some("Bitcoin".into()),
        received_in_crypto: "0.00042".into(),
        address: Some("bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu".into()),
        transaction_hash: None,
    }
}

fn order() -> OrderId {
    OrderId::from_random([0x5a; 16])
}

/// The key of the secret in the configuration's documentation, `MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw` in base64.
fn key() -> ReceiptKey {
    let secret =
        base64::engine::general_purpose::STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    ReceiptKey::derive(&secret.unwrap())
}

// Both responses were computed with Python's `hmac`, `hashlib` and `base64` from the documentation's description.
const SIGNATURE: &str = "Mi4hYKE3kKjsVVFTlAbTpOw_XW2CvquLjzq0iZx1du4";
const CODE: &str = "B9D5M-PJTB9-D5MPJ-TB9D5-MPJTB-9QF91-JMDMG-4DG15";

#[test]
fn a_token_is_signed_as_the_documentation_says() {
    let token = write_token(&key(), &receipt());
    assert_eq!(token.rsplit_once('.').unwrap().1, SIGNATURE, "{token}");
    assert!(is_signed_token(&key(), &token));
    assert_eq!(order_of_token(&token), Some(order()));
}

#[test]
fn a_code_is_what_the_documentation_says() {
    assert_eq!(write_code(&key(), &order(), &receipt()), CODE);
}

#[test]
fn no_letter_of_a_token_can_be_changed() {
    let genuine = write_token(&key(), &receipt());
    for at in 0..genuine.len() {
        let mut forged = genuine.clone().into_bytes();
        forged[at] = if forged[at] == b'A' { b'B' } else { b'A' };
        let forged = String::from_utf8(forged).unwrap();
        assert!(!is_signed_token(&key(), &forged), "{at}");
    }
    let other = ReceiptKey::derive(&[7; 24]);
    assert!(!is_signed_token(&other, &genuine));
    for broken in [
        "",
        ".",
        "..",
        &genuine[1..],
        genuine.trim_end_matches(|c| c != '.'),
    ] {
        assert!(!is_signed_token(&key(), broken), "{broken}");
    }
}

#[test]
fn a_token_of_another_kind_is_no_receipt_even_with_the_right_key() {
    let facts = base64url(serde_json::to_string(&receipt()).unwrap().as_bytes());
    for header in [
        r#"{"alg":"HS256","typ":"JWT"}"#,
        r#"{"alg":"none"}"#,
        r#"{"typ":"florin-receipt+jwt","alg":"HS256"}"#,
    ] {
        let signed = format!("{}.{facts}", base64url(header.as_bytes()));
        let signature = base64url(&mac(&key().0, signed.as_bytes()));
        let token = format!("{signed}.{signature}");
        assert!(!is_signed_token(&key(), &token), "{header}");
    }
}

#[test]
fn a_code_is_read_as_people_write_it() {
    let code = write_code(&key(), &order(), &receipt());
    let (named, proof) = read_code(&code).unwrap();
    assert_eq!(named, order());
    assert!(is_proof(&key(), &named, &receipt(), &proof));
    let spoken = code.to_lowercase().replace('-', " ").replace('0', "o");
    assert_eq!(read_code(&spoken), Some((named.clone(), proof)));
    let confused = code.replace('-', "").replace('1', "l");
    assert_eq!(read_code(&confused), Some((named.clone(), proof)));
    for broken in [&code[1..], &format!("{code}0"), "", &code.replace('-', "U")] {
        assert_eq!(read_code(broken), None, "{broken}");
    }
}

#[test]
fn a_code_proves_its_own_order_at_its_own_price_alone() {
    let (_, proof) = read_code(&write_code(&key(), &order(), &receipt())).unwrap();
    let other = OrderId::from_random([1; 16]);
    assert!(!is_proof(&key(), &other, &receipt(), &proof));
    let changes: [fn(&mut Receipt); 4] = [
        |receipt| receipt.amount = "43.00".into(),
        |receipt| receipt.currency = "EUR".into(),
        |receipt| receipt.reference = "cart-1235".into(),
        |receipt| receipt.paid_at = "2026-11-21T12:00:01Z".into(),
    ];
    for change in changes {
        let mut forged = receipt();
        change(&mut forged);
        assert!(!is_proof(&key(), &order(), &forged, &proof));
    }
}

#[test]
fn a_webhooks_signature_is_none_of_a_receipts() {
    let secret = base64::engine::general_purpose::STANDARD
        .decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        .unwrap();
    assert_ne!(mac(&secret, b"message"), mac(&key().0, b"message"));
}

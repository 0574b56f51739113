mod golden;
mod reference_model;

use super::*;
use crate::fixtures::{amount, at, attempt, exact, hosted, observed, order, received, requested};
use crate::{AttemptState, InvoiceTerms, OrderStatus};
use florin_money::Currency;

#[track_caller]
fn assessment(observation: &Observation) -> Assessment {
    assess(
        &order(OrderStatus::AwaitingPayment),
        &attempt(1),
        observation,
    )
}

/// A short name for each assessment, so that tables can be read.
#[track_caller]
fn name(observation: &Observation) -> &'static str {
    match assessment(observation) {
        Assessment::Waiting => "waiting",
        Assessment::Expired => "expired",
        Assessment::Detected(_) => "detected",
        Assessment::Confirming(_) => "confirming",
        Assessment::Settled { excess, .. } if excess.is_zero() => "exact",
        Assessment::Settled { .. } => "over",
        Assessment::Underpaid(_) => "underpaid",
        Assessment::Failed(_) => "failed",
        Assessment::Cancelled(_) => "cancelled",
        Assessment::AddressChanged { .. } => "address changed",
        Assessment::NeedsReview(_) => "needs review",
    }
}

#[test]
fn completed_is_paid_only_when_all_three_amounts_cover_the_price() {
    let crypto = [("0.00030972", -1), ("0.00030973", 0), ("0.00030974", 1)];
    let money = [("19.89", -1), ("19.9", 0), ("19.91", 1)];
    for (crypto, c) in crypto {
        for (usd, u) in money {
            for (local, l) in money {
                let expected = match (c.min(u).min(l), c) {
                    (-1, _) => "underpaid",
                    (_, 1) => "over",
                    _ => "exact",
                };
                let observation = received("COMPLETED", crypto, usd, local);
                assert_eq!(
                    name(&observation),
                    expected,
                    "{crypto} BTC, {usd} USD, {local} local"
                );
            }
        }
    }
}

#[test]
fn no_other_status_credits_however_much_arrived() {
    for status in [
        "CHECKING",
        "PROCESSING",
        "FAILED",
        "CANCELLED",
        "DONE",
        "completed",
        "",
    ] {
        let observation = received(status, "1", "64250", "64250");
        let assessment = assessment(&observation);
        assert!(
            !matches!(assessment, Assessment::Settled { .. }),
            "{status}: {assessment:?}"
        );
    }
}

#[test]
fn an_excess_is_exact_to_the_last_unit() {
    let observation = received("COMPLETED", "0.00030974", "19.91", "19.91");
    let Assessment::Settled { excess, .. } = assessment(&observation) else {
        panic!("must settle")
    };
    assert_eq!(excess, amount("0.00000001"));
}

#[test]
fn a_completed_response_without_one_of_its_fields_needs_review() {
    type Remove = fn(&mut Observation);
    let members: [(&str, Remove); 11] = [
        ("invoice_id", |o| o.invoice_id = None),
        ("wallet_address", |o| o.address = None),
        ("transaction_crypto", |o| o.crypto_code = None),
        ("local_currency_code", |o| o.local_currency = None),
        ("invoice_crypto_amount", |o| o.requested.crypto = None),
        ("invoice_amount_in_usd", |o| o.requested.usd = None),
        ("invoice_amount_in_local_currency", |o| {
            o.requested.local = None;
        }),
        ("received_crypto_amount", |o| o.received.crypto = None),
        ("received_amount_in_usd", |o| o.received.usd = None),
        ("received_amount_in_local_currency", |o| {
            o.received.local = Some(String::new());
        }),
        ("transaction_status", |o| o.status = None),
    ];
    for (name, remove) in members {
        let mut observation = exact("COMPLETED");
        remove(&mut observation);
        assert_eq!(
            assessment(&observation),
            Assessment::NeedsReview(ReviewReason::Missing(name))
        );
    }
}

#[test]
fn a_response_with_other_terms_needs_review() {
    type Transition = fn(&mut Observation);
    let members: [(&str, Transition); 6] = [
        ("invoice_id", |o| o.invoice_id = Some("inv_2".into())),
        ("transaction_crypto", |o| o.crypto_code = Some("LTC".into())),
        ("local_currency_code", |o| {
            o.local_currency = Some("EUR".into());
        }),
        ("invoice_crypto_amount", |o| {
            o.requested.crypto = Some("0.00030972".into());
        }),
        ("invoice_amount_in_usd", |o| {
            o.requested.usd = Some("19.89".into());
        }),
        ("invoice_amount_in_local_currency", |o| {
            o.requested.local = Some("1.99".into());
        }),
    ];
    for (name, change) in members {
        for status in ["CHECKING", "PROCESSING", "COMPLETED"] {
            let mut observation = exact(status);
            change(&mut observation);
            let Assessment::NeedsReview(ReviewReason::Mismatch { field, .. }) =
                assessment(&observation)
            else {
                panic!("{name} in {status} must need review");
            };
            assert_eq!(field, name);
        }
    }
}

#[test]
fn junk_instead_of_an_amount_needs_review() {
    for junk in ["-1", "1e3", "NaN", "19,90", "19.90 USD", "∞", "0x13"] {
        for status in ["CHECKING", "PROCESSING", "COMPLETED"] {
            let observation = received(status, junk, "19.90", "19.90");
            let reason = ReviewReason::Unreadable("received_crypto_amount", junk.to_owned());
            assert_eq!(
                assessment(&observation),
                Assessment::NeedsReview(reason),
                "{status}"
            );
        }
    }
}

#[test]
fn an_attempt_that_does_not_ask_for_the_price_never_credits() {
    let mut cheap = attempt(1);
    let InvoiceTerms::Custom(terms) = &mut cheap.terms.invoice else {
        panic!("the attempt is custom")
    };
    terms.requested.amounts.usd = amount("1.99");
    terms.requested.amounts.local = amount("1.99");
    let mut observation = received("COMPLETED", "0.00030973", "19.90", "19.90");
    observation.requested.usd = Some("1.99".into());
    observation.requested.local = Some("1.99".into());
    let assessment = assess(&order(OrderStatus::AwaitingPayment), &cheap, &observation);
    assert_eq!(
        assessment,
        Assessment::NeedsReview(ReviewReason::PriceMismatch)
    );
}

#[test]
fn another_address_overrides_everything_else() {
    for status in ["CHECKING", "PROCESSING", "COMPLETED", "FAILED"] {
        let mut observation = exact(status);
        observation.address = Some("tb1qother".into());
        assert_eq!(
            assessment(&observation),
            Assessment::AddressChanged {
                address: "tb1qother".into()
            }
        );
    }
}

#[test]
fn a_changed_address_is_never_trusted_again() {
    let mut changed = attempt(1);
    if let AttemptState::Open(invoice) = &mut changed.state {
        invoice.payment_state = PaymentState::AddressChanged;
    }
    let order = order(OrderStatus::Blocked);
    for status in [
        "CHECKING",
        "PROCESSING",
        "COMPLETED",
        "FAILED",
        "CANCELLED",
        "REFUNDED",
    ] {
        let needs_review = Assessment::NeedsReview(ReviewReason::AddressChangedBefore {
            status: status.into(),
        });
        assert_eq!(assess(&order, &changed, &exact(status)), needs_review);
        assert_eq!(assess(&order, &changed, &observed(status)), needs_review);
    }
    let mut unknown = observed("CHECKING");
    unknown.is_known = false;
    unknown.observed_at = crate::fixtures::at(1000);
    assert_eq!(
        assess(&order, &changed, &unknown),
        Assessment::NeedsReview(ReviewReason::UnknownInvoice)
    );
}

#[test]
fn letter_case_is_no_change_of_an_ethereum_address() {
    let mut ether = attempt(1);
    if let AttemptState::Open(invoice) = &mut ether.state {
        invoice.destination = Destination::Address {
            address: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed".into(),
            qr_string: String::new(),
            warnings: Vec::new(),
        };
    }
    let mut observation = observed("CHECKING");
    observation.address = Some("0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed".into());
    assert_eq!(
        assess(&order(OrderStatus::AwaitingPayment), &ether, &observation),
        Assessment::Waiting
    );
}

#[test]
fn one_address_has_several_writings_and_another_is_another() {
    for (a, b, same) in [
        ("bchtest:qpm2q", "qpm2q", true),
        ("QPM2Q", "bitcoincash:qpm2q", true),
        ("TB1QW508", "tb1qw508", true),
        ("tb1qw508", "tb1qw509", false),
        (
            "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn",
            "mipcbbFg9gMiCh81Kj8tqqdgoZub1ZJRfn",
            false,
        ),
    ] {
        assert_eq!(same_address(a, b), same, "{a} and {b}");
    }
}

#[test]
fn an_invoice_that_the_gateway_forgot_expires_with_its_time_and_not_before() {
    let mut observation = observed("CHECKING");
    observation.is_known = false;
    assert_eq!(
        assessment(&observation),
        Assessment::NeedsReview(ReviewReason::UnknownInvoice)
    );
    observation.observed_at = at(900);
    assert_eq!(name(&observation), "expired");
    let mut paid = attempt(1);
    if let AttemptState::Open(invoice) = &mut paid.state {
        invoice.progress.received.crypto = amount("0.0001");
    }
    let assessment = assess(&order(OrderStatus::Checking), &paid, &observation);
    assert_eq!(
        assessment,
        Assessment::NeedsReview(ReviewReason::UnknownInvoice)
    );
}

#[test]
fn nothing_arrived_is_waiting_until_the_time_is_over() {
    let mut observation = observed("CHECKING");
    assert_eq!(name(&observation), "waiting");
    observation.observed_at = at(899);
    assert_eq!(name(&observation), "waiting");
    observation.observed_at = at(900);
    assert_eq!(name(&observation), "expired");
    observation.status = Some("FAILED".into());
    assert_eq!(name(&observation), "expired");
    observation.observed_at = at(10);
    assert_eq!(name(&observation), "failed");
}

#[test]
fn absent_amounts_mean_zero_while_checking() {
    let mut observation = observed("CHECKING");
    observation.received = Amounts::default();
    assert_eq!(name(&observation), "waiting");
    observation.transaction_hash = Some("cafe".into());
    assert_eq!(name(&observation), "detected");
}

#[test]
fn a_late_transaction_is_detected_and_not_expired() {
    let mut observation = received("CHECKING", "0.0001", "6.42", "6.42");
    observation.observed_at = at(100_000);
    assert_eq!(name(&observation), "detected");
}

#[test]
fn a_stores_tolerance_forgives_no_more_than_itself() {
    let mut tolerant = order(OrderStatus::AwaitingPayment);
    tolerant.terms.tolerance = amount("0.10");
    // 0.00030973 × 19.80 ÷ 19.90, rounded up.
    let just = received("COMPLETED", "0.000308173567839196", "19.80", "19.80");
    let less = received("COMPLETED", "0.000308173567839195", "19.80", "19.80");
    assert!(matches!(
        assess(&tolerant, &attempt(1), &just),
        Assessment::Settled { .. }
    ));
    assert!(matches!(
        assess(&tolerant, &attempt(1), &less),
        Assessment::Underpaid(_)
    ));
    assert_eq!(name(&just), "underpaid");
}

#[test]
fn the_price_in_dollars_may_be_paid_through_another_local_currency() {
    let mut abroad = attempt(1);
    let InvoiceTerms::Custom(terms) = &mut abroad.terms.invoice else {
        panic!("the attempt is custom")
    };
    terms.requested = crate::QuotedAmounts {
        amounts: Amounts {
            local: amount("18.11"),
            ..requested().amounts
        },
        local_currency: Currency::parse("EUR").unwrap(),
    };
    let mut observation = received("COMPLETED", "0.00030973", "19.90", "18.11");
    observation.requested.local = Some("18.11".into());
    observation.local_currency = Some("EUR".into());
    let assessment = assess(&order(OrderStatus::AwaitingPayment), &abroad, &observation);
    assert!(
        matches!(assessment, Assessment::Settled { .. }),
        "{assessment:?}"
    );
}

#[test]
fn an_unknown_status_needs_review() {
    let reason = ReviewReason::UnknownStatus("REFUNDED".into());
    assert_eq!(
        assessment(&exact("REFUNDED")),
        Assessment::NeedsReview(reason)
    );
}

/// The assessment of an observation of the order's hosted session.
#[track_caller]
fn on_the_page(observation: &Observation) -> Assessment {
    assess(
        &order(OrderStatus::AwaitingPayment),
        &hosted(1),
        observation,
    )
}

#[test]
fn a_hosted_payment_is_credited_at_the_orders_price_in_whatever_asset() {
    let mut observation = exact("COMPLETED");
    observation.crypto_code = Some("DOGE".into());
    observation.address = Some("nbMFaHF9pjNoohS4fD1jefKBgDnETK9uPu".into());
    observation.requested.crypto = Some("99.5".into());
    observation.received.crypto = Some("99.5".into());
    let Assessment::Settled { progress, excess } = on_the_page(&observation) else {
        panic!("must settle")
    };
    assert!(excess.is_zero());
    assert_eq!(progress.paid_in.unwrap().as_str(), "DOGE");
}

#[test]
fn a_hosted_payment_must_be_asked_at_the_orders_price() {
    let cheap: [fn(&mut Observation); 3] = [
        |o| o.requested.local = Some("1.99".into()),
        |o| o.requested.usd = Some("1.99".into()),
        |o| o.local_currency = Some("ARS".into()),
    ];
    for change in cheap {
        for status in ["CHECKING", "PROCESSING", "COMPLETED"] {
            let mut observation = exact(status);
            change(&mut observation);
            let assessment = on_the_page(&observation);
            assert!(
                matches!(
                    assessment,
                    Assessment::NeedsReview(ReviewReason::Mismatch { .. })
                ),
                "{status}: {assessment:?}"
            );
        }
    }
}

#[test]
fn what_a_hosted_page_asks_in_the_asset_must_be_covered() {
    let observation = received("COMPLETED", "0.00030972", "19.90", "19.90");
    assert!(matches!(
        on_the_page(&observation),
        Assessment::Underpaid(_)
    ));
    let mut nothing = exact("COMPLETED");
    nothing.requested.crypto = Some("0".into());
    let needs_review =
        Assessment::NeedsReview(ReviewReason::ZeroRequestedAmount("invoice_crypto_amount"));
    assert_eq!(on_the_page(&nothing), needs_review);
}

#[test]
fn a_hosted_session_waits_without_an_asset_and_is_cancelled_without_a_code() {
    let mut observation = observed("CHECKING");
    (observation.crypto_code, observation.address) = (None, None);
    (observation.requested.crypto, observation.requested.usd) = (None, Some(String::new()));
    assert_eq!(on_the_page(&observation), Assessment::Waiting);
    observation.observed_at = at(3600);
    assert_eq!(on_the_page(&observation), Assessment::Expired);
    observation.status = Some("CANCELLED".into());
    assert_eq!(
        on_the_page(&observation),
        Assessment::Cancelled(Progress::NONE)
    );
}

#[test]
fn what_arrived_is_kept_when_the_gateway_gives_up() {
    for status in ["FAILED", "CANCELLED"] {
        let assessment = assessment(&exact(status));
        let arrived = assessment.progress().map(|arrived| arrived.received.crypto);
        assert_eq!(arrived, Some(amount("0.00030973")), "{status}");
    }
}

proptest::proptest! {
    #[test]
    fn a_credit_needs_every_amount_to_cover(c in 0_u64..70_000, u in 0_u64..4000, l in 0_u64..4000) {
        let sats = format!("0.{c:08}");
        let (usd, local) = (format!("{}.{:02}", u / 100, u % 100), format!("{}.{:02}", l / 100, l % 100));
        let settled = matches!(
            assessment(&received("COMPLETED", &sats, &usd, &local)),
            Assessment::Settled { .. }
        );
        proptest::prop_assert_eq!(settled, c >= 30_973 && u >= 1990 && l >= 1990);
    }
}

mod golden;

use florin_money::Currency;
use proptest::prelude::*;

use super::*;
use crate::fixtures::{
    amount, at, attempt, exact, hosted, invoice_of, observed, order, received, requested,
};
use crate::{CustomTerms, InvoiceTerms, OrderStatus, QuotedAmounts};

#[track_caller]
fn assessment(observation: &Observation) -> Assessment {
    assess(
        &order(OrderStatus::AwaitingPayment),
        &attempt(1),
        observation,
    )
}

/// The observation, made at that second.
fn observed_at(second: i64, observation: Observation) -> Observation {
    Observation {
        observed_at: at(second),
        ..observation
    }
}

fn custom(attempt: &mut Attempt) -> &mut CustomTerms {
    let InvoiceTerms::Custom(terms) = &mut attempt.terms.invoice else {
        panic!("the attempt is custom")
    };
    terms
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
fn an_attempt_that_does_not_ask_for_the_price_never_credits() {
    let mut cheap = attempt(1);
    let amounts = &mut custom(&mut cheap).requested.amounts;
    (amounts.usd, amounts.local) = (amount("1.99"), amount("1.99"));
    let mut observation = received("COMPLETED", "0.00030973", "19.90", "19.90");
    observation.requested.usd = Some("1.99".into());
    observation.requested.local = Some("1.99".into());
    assert_eq!(
        assess(&order(OrderStatus::AwaitingPayment), &cheap, &observation),
        Assessment::NeedsReview(ReviewReason::PriceMismatch)
    );
}

#[test]
fn the_price_in_dollars_may_be_paid_through_another_local_currency() {
    let mut abroad = attempt(1);
    custom(&mut abroad).requested = QuotedAmounts {
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
fn another_address_overrides_every_status_and_is_never_trusted_again() {
    let mut changed = attempt(1);
    invoice_of(&mut changed).payment_state = PaymentState::AddressChanged;
    let order = order(OrderStatus::Blocked);
    for status in ["CHECKING", "COMPLETED", "FAILED", "CANCELLED", "REFUNDED"] {
        let mut observation = exact(status);
        let needs_review = Assessment::NeedsReview(ReviewReason::AddressChangedBefore {
            status: status.into(),
        });
        assert_eq!(assess(&order, &changed, &observation), needs_review);
        let address = "tb1qother".to_owned();
        observation.address = Some(address.clone());
        let expected = Assessment::AddressChanged { address };
        assert_eq!(assessment(&observation), expected);
    }
    let mut unknown = observed_at(1000, observed("CHECKING"));
    unknown.is_known = false;
    assert_eq!(
        assess(&order, &changed, &unknown),
        Assessment::NeedsReview(ReviewReason::UnknownInvoice)
    );
}

#[test]
fn one_address_has_several_writings_and_another_is_another() {
    for (a, b, same) in [
        ("bchtest:qpm2q", "qpm2q", true),
        ("QPM2Q", "bitcoincash:qpm2q", true),
        ("TB1QW508", "tb1qw508", true),
        ("tb1qw508", "tb1qw509", false),
        ("0x5aAeb6053F", "0x5aaeb6053f", true),
        ("mipcBbFg9gMiCh81", "mipcbbFg9gMiCh81", false),
    ] {
        assert_eq!(same_address(a, b), same, "{a} and {b}");
    }
}

#[test]
fn an_invoice_that_the_gateway_forgot_expires_with_its_time_and_not_before() {
    let needs_review = Assessment::NeedsReview(ReviewReason::UnknownInvoice);
    let mut observation = observed_at(899, observed("CHECKING"));
    observation.is_known = false;
    assert_eq!(assessment(&observation), needs_review);
    observation.observed_at = at(900);
    assert_eq!(assessment(&observation), Assessment::Expired);
    let mut paid = attempt(1);
    invoice_of(&mut paid).progress.received.crypto = amount("0.0001");
    let assessment = assess(&order(OrderStatus::Checking), &paid, &observation);
    assert_eq!(assessment, needs_review);
}

#[test]
fn an_invoice_expires_at_its_end_unless_a_payment_was_detected() {
    let waiting = observed_at(899, observed("CHECKING"));
    assert_eq!(assessment(&waiting), Assessment::Waiting);
    for status in ["CHECKING", "FAILED"] {
        let over = observed_at(900, observed(status));
        assert_eq!(assessment(&over), Assessment::Expired);
    }
    let late = observed_at(100_000, received("CHECKING", "0.0001", "6.42", "6.42"));
    assert!(matches!(assessment(&late), Assessment::Detected(_)));
}

#[test]
fn a_hosted_payment_in_dollars_must_ask_for_them_and_names_its_asset() {
    let order = order(OrderStatus::AwaitingPayment);
    let mut observation = exact("COMPLETED");
    observation.crypto_code = Some("DOGE".into());
    let Assessment::Settled { progress, .. } = assess(&order, &hosted(1), &observation) else {
        panic!("must settle")
    };
    assert_eq!(progress.paid_in.unwrap().as_str(), "DOGE");
    observation.requested.usd = Some("1.99".into());
    let assessment = assess(&order, &hosted(1), &observation);
    let is_mismatch = matches!(
        assessment,
        Assessment::NeedsReview(ReviewReason::Mismatch { .. })
    );
    assert!(is_mismatch, "{assessment:?}");
}

#[test]
fn what_arrived_is_kept_when_the_gateway_gives_up() {
    for status in ["FAILED", "CANCELLED"] {
        let assessment = assessment(&exact(status));
        let arrived = assessment.progress().map(|arrived| arrived.received.crypto);
        assert_eq!(arrived, Some(amount("0.00030973")), "{status}");
    }
}

// A reference model of when an order is credited: in integers, without the arithmetic of the assessment.

/// Integers: hundred-millionths of the asset, cents of dollars, cents of the price's currency.
type Units = Amounts<u64>;

/// A completed payment. What else is wrong with a response, the golden table has.
#[derive(Clone, Debug)]
struct Case {
    is_hosted: bool,
    requested: Units,
    /// Cents that may be missing of `requested.local`, which is the price.
    tolerance: u64,
    received: Units,
}

fn sats(units: u64) -> String {
    format!("{}.{:08}", units / 100_000_000, units % 100_000_000)
}

fn cents(units: u64) -> String {
    format!("{}.{:02}", units / 100, units % 100)
}

fn texts(units: Units) -> Amounts<String> {
    Amounts {
        crypto: sats(units.crypto),
        usd: cents(units.usd),
        local: cents(units.local),
    }
}

impl Case {
    fn order(&self) -> Order {
        let mut order = order(OrderStatus::AwaitingPayment);
        order.terms.amount = amount(&cents(self.requested.local));
        order.terms.currency = Currency::parse("EUR").unwrap();
        order.terms.tolerance = amount(&cents(self.tolerance));
        order
    }

    fn attempt(&self) -> Attempt {
        if self.is_hosted {
            return hosted(1);
        }
        let texts = texts(self.requested);
        let mut attempt = attempt(1);
        if let InvoiceTerms::Custom(terms) = &mut attempt.terms.invoice {
            terms.requested = QuotedAmounts {
                amounts: Amounts {
                    crypto: amount(&texts.crypto),
                    usd: amount(&texts.usd),
                    local: amount(&texts.local),
                },
                local_currency: Currency::parse("EUR").unwrap(),
            };
        }
        attempt
    }

    fn assessment(&self) -> Assessment {
        let mut observation = exact("COMPLETED");
        observation.requested = texts(self.requested).map(Some);
        observation.received = texts(self.received).map(Some);
        observation.local_currency = Some("EUR".into());
        assess(&self.order(), &self.attempt(), &observation)
    }

    /// Of each amount at least the share of the price that the store insists on: received ÷ requested ≥ (price − tolerance) ÷
    /// price, without the divisions.
    fn covers(&self) -> bool {
        let (price, least) = (self.requested.local, self.requested.local - self.tolerance);
        let is_enough = |got: u64, requested: u64| {
            u128::from(got) * u128::from(price) >= u128::from(requested) * u128::from(least)
        };
        is_enough(self.received.crypto, self.requested.crypto)
            && is_enough(self.received.usd, self.requested.usd)
            && is_enough(self.received.local, self.requested.local)
    }
}

/// Nothing, far too little, all but a unit or two, a unit or two beyond, far too much.
fn near(requested: u64) -> impl Strategy<Value = u64> {
    prop_oneof![
        1 => Just(0),
        2 => 0..=requested,
        6 => requested.saturating_sub(2)..=requested + 2,
        2 => requested..=requested.saturating_mul(3),
    ]
}

fn cases() -> impl Strategy<Value = Case> {
    let requested = (
        1_u64..=5_000_000_000,
        1_u64..=10_000_000,
        2_u64..=10_000_000,
    );
    (any::<bool>(), requested).prop_flat_map(|(is_hosted, (crypto, usd, local))| {
        let tolerance = prop_oneof![Just(0), 0..local.min(500)];
        let requested = Amounts { crypto, usd, local };
        (tolerance, near(crypto), near(usd), near(local)).prop_map(
            move |(tolerance, crypto, usd, local)| Case {
                is_hosted,
                requested,
                tolerance,
                received: Amounts { crypto, usd, local },
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_completed_payment_is_credited_if_it_covers_the_price_and_underpaid_else(case in cases()) {
        let assessment = case.assessment();
        let is_right = match assessment {
            Assessment::Settled { .. } => case.covers(),
            Assessment::Underpaid(_) => !case.covers(),
            _ => false,
        };
        prop_assert!(is_right, "{:?}", assessment);
    }
}

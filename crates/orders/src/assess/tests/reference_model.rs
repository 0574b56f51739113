//! A reference model of when an order is credited: in integers, without the arithmetic of the assessment.

use florin_money::Currency;
use proptest::prelude::*;
use strum::VariantArray;

use crate::fixtures::{amount, at, attempt, exact, hosted, order};
use crate::{
    Amounts, Assessment, Attempt, InvoiceTerms, Observation, Order, OrderStatus, QuotedAmounts,
    assess,
};

/// Integers: hundred-millionths of the asset, cents of dollars, cents of the price's currency.
type Units = Amounts<u64>;

#[derive(Clone, Debug)]
struct Case {
    is_hosted: bool,
    requested: Units,
    /// Cents that may be missing of `requested.local`, which is the price.
    tolerance: u64,
    received: Units,
    status: &'static str,
    defect: Option<Defect>,
}

#[derive(Clone, Copy, Debug, VariantArray)]
enum Defect {
    OtherInvoice,
    OtherCurrency,
    OtherPrice,
    NoAddress,
    NoAsset,
    MissingReceivedUsd,
    NegativeAmount,
    Exponent,
    UnknownInvoice,
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

    fn observation(&self) -> Observation {
        let mut observation = exact(self.status);
        observation.requested = texts(self.requested).map(Some);
        observation.received = texts(self.received).map(Some);
        observation.local_currency = Some("EUR".into());
        match self.defect {
            None => {}
            Some(Defect::OtherInvoice) => observation.invoice_id = Some("inv_2".into()),
            Some(Defect::OtherCurrency) => observation.local_currency = Some("ARS".into()),
            Some(Defect::OtherPrice) => {
                observation.requested.local = Some(cents(self.requested.local + 1));
            }
            Some(Defect::NoAddress) => observation.address = None,
            Some(Defect::NoAsset) => observation.crypto_code = Some(String::new()),
            Some(Defect::MissingReceivedUsd) => observation.received.usd = None,
            Some(Defect::NegativeAmount) => observation.received.crypto = Some("-1".into()),
            Some(Defect::Exponent) => observation.received.local = Some("1e9".into()),
            Some(Defect::UnknownInvoice) => {
                observation.is_known = false;
                observation.observed_at = at(9000);
            }
        }
        observation
    }

    fn assessment(&self) -> Assessment {
        assess(&self.order(), &self.attempt(), &self.observation())
    }

    fn credits(&self) -> bool {
        matches!(self.assessment(), Assessment::Settled { .. })
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
    let words = prop_oneof![
        6 => Just("COMPLETED"),
        1 => prop::sample::select(vec!["CHECKING", "PROCESSING", "FAILED", "CANCELLED", "completed", "PAID", ""]),
    ];
    let defects = prop_oneof![
        4 => Just(None),
        1 => prop::sample::select(Defect::VARIANTS).prop_map(Some),
    ];
    (any::<bool>(), requested, words, defects).prop_flat_map(
        |(is_hosted, (crypto, usd, local), status, defect)| {
            let tolerance = prop_oneof![Just(0), 0..local.min(500)];
            let requested = Amounts { crypto, usd, local };
            (tolerance, near(crypto), near(usd), near(local)).prop_map(
                move |(tolerance, crypto, usd, local)| Case {
                    is_hosted,
                    requested,
                    tolerance,
                    received: Amounts { crypto, usd, local },
                    status,
                    defect,
                },
            )
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_credit_is_given_when_every_condition_holds_and_never_else(case in cases()) {
        let all = case.status == "COMPLETED" && case.defect.is_none() && case.covers();
        prop_assert_eq!(case.credits(), all, "{:?}", case.assessment());
    }

    #[test]
    fn completed_with_too_little_is_short(mut case in cases()) {
        (case.status, case.defect) = ("COMPLETED", None);
        let is_short = matches!(case.assessment(), Assessment::Underpaid(_));
        prop_assert_eq!(is_short, !case.covers());
    }
}

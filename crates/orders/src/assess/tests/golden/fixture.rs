//! The order and the attempt of the table, and responses about them: every status, every mix of amounts, and all that can be
//! wrong with a member.

use florin_money::Currency;

use crate::fixtures::{amount, attempt, hosted, observed, order, received};
use crate::{
    Amounts, Assessment, Attempt, Flow, InvoiceTerms, Observation, Order, QuotedAmounts,
    ReviewReason, assess,
};

/// An order of 18.11 euros, so that no two of the three amounts are alike, and its attempt.
pub(super) struct Fixture {
    order: Order,
    attempt: Attempt,
}

impl Fixture {
    pub(super) fn new(flow: Flow, tolerance: &str) -> Self {
        let mut order = order(crate::OrderStatus::AwaitingPayment);
        order.terms.amount = amount("18.11");
        order.terms.currency = euro();
        order.terms.tolerance = amount(tolerance);
        let mut attempt = match flow {
            Flow::Custom => attempt(1),
            Flow::Hosted => hosted(1),
        };
        if let InvoiceTerms::Custom(terms) = &mut attempt.terms.invoice {
            terms.requested = QuotedAmounts {
                amounts: Amounts {
                    local: amount("18.11"),
                    ..terms.requested.amounts
                },
                local_currency: euro(),
            };
        }
        Self { order, attempt }
    }

    pub(super) fn field(&self, observation: &Observation) -> Option<&'static str> {
        match assess(&self.order, &self.attempt, observation) {
            Assessment::NeedsReview(
                ReviewReason::Missing(field)
                | ReviewReason::Unreadable(field, _)
                | ReviewReason::Mismatch { field, .. }
                | ReviewReason::ZeroRequestedAmount(field),
            ) => Some(field),
            _ => None,
        }
    }

    pub(super) fn assess(&self, observation: &Observation) -> &'static str {
        match assess(&self.order, &self.attempt, observation) {
            Assessment::Waiting => "waiting",
            Assessment::Expired => "expired",
            Assessment::Detected(_) => "detected",
            Assessment::Confirming(_) => "confirming",
            Assessment::Settled { excess, .. } if excess.is_zero() => "PAID",
            Assessment::Settled { .. } => "OVER",
            Assessment::Underpaid(_) => "underpaid",
            Assessment::Failed(_) => "failed",
            Assessment::Cancelled(_) => "cancelled",
            Assessment::AddressChanged { .. } => "address changed",
            Assessment::NeedsReview(ReviewReason::Missing(_)) => "needs review: missing",
            Assessment::NeedsReview(ReviewReason::Unreadable(..)) => "needs review: unreadable",
            Assessment::NeedsReview(ReviewReason::UnknownStatus(_)) => "needs review: status",
            Assessment::NeedsReview(ReviewReason::Mismatch { .. }) => "needs review: mismatch",
            Assessment::NeedsReview(ReviewReason::ZeroRequestedAmount(_)) => {
                "needs review: nothing asked"
            }
            Assessment::NeedsReview(reason) => {
                panic!("no cell of the table has this reason: {reason}")
            }
        }
    }
}

fn euro() -> Currency {
    Currency::parse("EUR").expect("three capitals are a currency")
}

pub(super) const STATUSES: [Option<&str>; 10] = [
    Some("CHECKING"),
    Some("PROCESSING"),
    Some("COMPLETED"),
    Some("FAILED"),
    Some("CANCELLED"),
    Some("REFUNDED"),
    Some("completed"),
    Some("COMPLETED "),
    Some(""),
    None,
];

/// Received amounts by level. At the limit, ten cents of the price are missing in each amount, rounded up at the 18th
/// decimal; below is one unit of that decimal less. Computed apart, with Python's fractions: 0.00030973 × 18.01 ÷ 18.11, and so on.
pub(super) const LEVELS: [(&str, [&str; 3]); 4] = [
    (
        "below",
        [
            "0.000308019729431253",
            "19.790115958034235229",
            "18.009999999999999999",
        ],
    ),
    (
        "limit",
        ["0.000308019729431254", "19.79011595803423523", "18.01"],
    ),
    ("exact", ["0.00030973", "19.90", "18.11"]),
    ("above", ["0.00030974", "19.91", "18.12"]),
];

/// The gateway's response about the euro order, with a status and received amounts.
pub(super) fn observation(status: Option<&str>, arrived: [&str; 3]) -> Observation {
    let [crypto, usd, local] = arrived;
    let mut observation = received("", crypto, usd, local);
    observation.requested.local = Some("18.11".into());
    observation.local_currency = Some("EUR".into());
    observation.status = status.map(str::to_owned);
    observation
}

pub(super) fn nothing(status: Option<&str>) -> Observation {
    let Observation {
        received,
        transaction_hash,
        ..
    } = observed("");
    Observation {
        received,
        transaction_hash,
        ..observation(status, LEVELS[0].1)
    }
}

/// Each mix of levels, and the amounts: in the asset, in dollars and in the local currency.
pub(super) fn mixes() -> impl Iterator<Item = ([&'static str; 3], [&'static str; 3])> {
    let levels = || LEVELS.into_iter();
    levels().flat_map(move |(c, crypto)| {
        levels().flat_map(move |(u, usd)| {
            levels().map(move |(l, local)| ([c, u, l], [crypto[0], usd[1], local[2]]))
        })
    })
}

/// Defects of an amount that the response says was received, and of one that it asks for.
const RECEIVED: &str = "absent, empty, junk, negative, exponent, comma";
const REQUESTED: &str = "absent, empty, junk, negative, exponent, zero, less, more";

pub(super) const MEMBERS: [(&str, &str); 12] = [
    ("invoice_id", "absent, empty, another's"),
    ("wallet_address", "absent, empty, another"),
    ("transaction_crypto", "absent, empty, junk, another"),
    (
        "local_currency_code",
        "absent, empty, junk, lower case, another",
    ),
    ("invoice_crypto_amount", REQUESTED),
    ("invoice_amount_in_usd", REQUESTED),
    ("invoice_amount_in_local_currency", REQUESTED),
    ("received_crypto_amount", RECEIVED),
    ("received_amount_in_usd", RECEIVED),
    ("received_amount_in_local_currency", RECEIVED),
    ("blockchain_confirmations", "absent, empty, junk"),
    ("transaction_hash", "absent, empty"),
];

pub(super) fn member<'a>(observation: &'a mut Observation, name: &str) -> &'a mut Option<String> {
    match name {
        "invoice_id" => &mut observation.invoice_id,
        "wallet_address" => &mut observation.address,
        "transaction_crypto" => &mut observation.crypto_code,
        "local_currency_code" => &mut observation.local_currency,
        "invoice_crypto_amount" => &mut observation.requested.crypto,
        "invoice_amount_in_usd" => &mut observation.requested.usd,
        "invoice_amount_in_local_currency" => &mut observation.requested.local,
        "received_crypto_amount" => &mut observation.received.crypto,
        "received_amount_in_usd" => &mut observation.received.usd,
        "received_amount_in_local_currency" => &mut observation.received.local,
        "blockchain_confirmations" => &mut observation.confirmations,
        "transaction_hash" => &mut observation.transaction_hash,
        other => panic!("no member {other}"),
    }
}

pub(super) fn defect(member: &str, defect: &str) -> Option<&'static str> {
    Some(match (defect, member) {
        ("absent", _) => return None,
        ("empty", _) => "",
        ("junk", "transaction_crypto") => "b t c",
        ("junk", "local_currency_code") => "€",
        ("junk", "blockchain_confirmations") => "3 of 3",
        ("junk", _) => "much",
        ("negative", _) => "-19.90",
        ("exponent", _) => "1e3",
        ("comma", _) => "19,90",
        ("zero", _) => "0",
        ("less", _) => "0.0001",
        ("more", _) => "1000",
        ("lower case", _) => "eur",
        ("another's", _) => "inv_2",
        ("another", "wallet_address") => "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn",
        ("another", "transaction_crypto") => "LTC",
        ("another", "local_currency_code") => "ARS",
        _ => panic!("no defect {defect} of {member}"),
    })
}

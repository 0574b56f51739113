//! Responses of the gateway: every status, every mix of amounts, and all that can be wrong with a member.

use crate::fixtures::{observed, received};
use crate::{Amounts, Observation};

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
pub(super) const LEVELS: [(&str, Amounts<&str>); 4] = [
    (
        "below",
        Amounts {
            crypto: "0.000308019729431253",
            usd: "19.790115958034235229",
            local: "18.009999999999999999",
        },
    ),
    (
        "limit",
        Amounts {
            crypto: "0.000308019729431254",
            usd: "19.79011595803423523",
            local: "18.01",
        },
    ),
    (
        "exact",
        Amounts {
            crypto: "0.00030973",
            usd: "19.90",
            local: "18.11",
        },
    ),
    (
        "above",
        Amounts {
            crypto: "0.00030974",
            usd: "19.91",
            local: "18.12",
        },
    ),
];

/// The gateway's response about the euro order, with a status and received amounts.
pub(super) fn observation(status: Option<&str>, arrived: Amounts<&str>) -> Observation {
    let mut observation = received("", arrived.crypto, arrived.usd, arrived.local);
    observation.requested.local = Some("18.11".into());
    observation.local_currency = Some("EUR".into());
    observation.status = status.map(str::to_owned);
    observation
}

/// The same before anything arrived.
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

/// Every way to mix the levels of the three amounts.
pub(super) fn mixes() -> impl Iterator<Item = ([&'static str; 3], Amounts<&'static str>)> {
    LEVELS.into_iter().flat_map(|(c, crypto)| {
        LEVELS.into_iter().flat_map(move |(u, usd)| {
            LEVELS.into_iter().map(move |(l, local)| {
                let amounts = Amounts {
                    crypto: crypto.crypto,
                    usd: usd.usd,
                    local: local.local,
                };
                ([c, u, l], amounts)
            })
        })
    })
}

pub(super) type Defect = (&'static str, Option<&'static str>);
pub(super) type Member = (
    &'static str,
    &'static [Defect],
    fn(&mut Observation, Option<String>),
);

pub(super) const OF_A_SUM_RECEIVED: [Defect; 6] = [
    ("absent", None),
    ("empty", Some("")),
    ("junk", Some("much")),
    ("negative", Some("-19.90")),
    ("exponent", Some("1e3")),
    ("comma", Some("19,90")),
];
pub(super) const OF_A_SUM_ASKED: [Defect; 8] = [
    ("absent", None),
    ("empty", Some("")),
    ("junk", Some("much")),
    ("negative", Some("-19.90")),
    ("exponent", Some("1e3")),
    ("zero", Some("0")),
    ("less", Some("0.0001")),
    ("more", Some("1000")),
];

#[expect(clippy::too_many_lines, reason = "a table")]
pub(super) fn members() -> [Member; 12] {
    [
        (
            "invoice_id",
            &[
                ("absent", None),
                ("empty", Some("")),
                ("another's", Some("inv_2")),
            ],
            |observation, value| observation.invoice_id = value,
        ),
        (
            "wallet_address",
            &[
                ("absent", None),
                ("empty", Some("")),
                ("another", Some("mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn")),
            ],
            |observation, value| {
                observation.address = value;
            },
        ),
        (
            "transaction_crypto",
            &[
                ("absent", None),
                ("empty", Some("")),
                ("junk", Some("b t c")),
                ("another", Some("LTC")),
            ],
            |observation, value| observation.crypto_code = value,
        ),
        (
            "local_currency_code",
            &[
                ("absent", None),
                ("empty", Some("")),
                ("junk", Some("€")),
                ("lower case", Some("eur")),
                ("another", Some("ARS")),
            ],
            |observation, value| observation.local_currency = value,
        ),
        (
            "invoice_crypto_amount",
            &OF_A_SUM_ASKED,
            |observation, value| {
                observation.requested.crypto = value;
            },
        ),
        (
            "invoice_amount_in_usd",
            &OF_A_SUM_ASKED,
            |observation, value| {
                observation.requested.usd = value;
            },
        ),
        (
            "invoice_amount_in_local_currency",
            &OF_A_SUM_ASKED,
            |observation, value| {
                observation.requested.local = value;
            },
        ),
        (
            "received_crypto_amount",
            &OF_A_SUM_RECEIVED,
            |observation, value| {
                observation.received.crypto = value;
            },
        ),
        (
            "received_amount_in_usd",
            &OF_A_SUM_RECEIVED,
            |observation, value| {
                observation.received.usd = value;
            },
        ),
        (
            "received_amount_in_local_currency",
            &OF_A_SUM_RECEIVED,
            |observation, value| {
                observation.received.local = value;
            },
        ),
        (
            "blockchain_confirmations",
            &[
                ("absent", None),
                ("empty", Some("")),
                ("junk", Some("3 of 3")),
            ],
            |observation, value| {
                observation.confirmations = value;
            },
        ),
        (
            "transaction_hash",
            &[("absent", None), ("empty", Some(""))],
            |observation, value| observation.transaction_hash = value,
        ),
    ]
}

use florin_money::Asset;

use super::*;
use crate::chain::Network;

pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + second).unwrap()
}

fn amount(text: &str) -> Amount {
    Amount::parse(text).unwrap()
}

/// 0.00030973 BTC for 19.90 USD, 15 minutes.
pub(crate) fn invoice() -> Invoice {
    let text = |text| AmountText::parse(text).unwrap();
    Invoice {
        id: "inv_1".to_owned(),
        coin: Coin::listed(Asset::BTC, Network::Test),
        terms: Terms {
            crypto: text(ALL),
            usd: text("19.90"),
            local: text("2985"),
        },
        local_currency: Currency::parse("JPY").unwrap(),
        address: "tb1q".to_owned(),
        address_index: 0,
        qr_string: String::new(),
        created_at: at(0),
        expires_at: at(900),
        required_confirmations: 3,
        marked_as_paid: false,
        email: None,
        hosted: None,
        history: vec![(at(0), Status::Checking)],
        payments: Vec::new(),
        height: 0,
    }
}

const ALL: &str = "0.00030973";
/// Of the chain in the cases.
const HEIGHT: u64 = 100;

/// `all`, or an amount; `x2` has two confirmations, `x0` is in the mempool, `stuck` has too low a fee.
fn payment(text: &str) -> Payment {
    let (paid, state) = text.split_once(' ').unwrap();
    let confirmations = state.strip_prefix('x').map(|count| count.parse().unwrap());
    Payment {
        transaction_hash: "ab".to_owned(),
        amount: amount(if paid == "all" { ALL } else { paid }),
        seen_at: at(60),
        block: confirmations
            .filter(|count| *count > 0)
            .map(|count: u64| HEIGHT + 1 - count),
        low_fee: state == "stuck",
    }
}

fn tip(second: i64) -> Tip {
    Tip {
        height: HEIGHT,
        hash: "cd".to_owned(),
        time: at(second),
    }
}

/// The second of the tip, the status, the confirmations, what arrived, and the payments.
const CASES: &str = "
899 Checking   - 0
900 Failed     - 0
900 Checking   - all    all x0
60  Processing 1 all    all x1
60  Processing 2 all    all x2
60  Completed  3 all    all x3
900 Completed  9 all    all x9
899 Checking   - all    all stuck
900 Failed     - all    all stuck
60  Completed  3 0.0002 0.0002 x3
60  Processing 0 0.0003 0.0002 x3, 0.0001 x0
900 Processing 0 0.0003 0.0002 x3, 0.0001 stuck
60  Checking   - 0.0003 0.0002 x0, 0.0001 x0
60  Completed  3 all    all x3, 0.0000003 x2
60  Completed  3 0.00031003 all x3, 0.0000003 x3
60  Processing 2 0.00031004 all x3, 0.00000031 x2
60  Checking   - 0.0000003 0.0000003 x0
900 Failed     - all    all stuck, 0.0000003 x0
";

#[test]
fn the_status_follows_from_payments_blocks_and_the_chains_time() {
    for line in CASES.trim().lines() {
        let mut words = line.split_whitespace();
        let mut word = || words.next().unwrap();
        let (second, status, confirmations) = (word().parse().unwrap(), word(), word());
        let received = word().replace("all", ALL);
        let payments = words.collect::<Vec<_>>().join(" ");
        let payments = payments.split(", ").filter(|payment| !payment.is_empty());
        let invoice = invoice().with_payments(payments.map(payment).collect(), HEIGHT);
        let found = format!("{:?}", invoice.status_at(&tip(second)));
        assert_eq!(found, status, "{line}");
        let count = invoice.confirmations();
        let count = count.map_or("-".to_owned(), |count| count.to_string());
        assert_eq!(count, confirmations, "{line}");
        assert_eq!(invoice.received().crypto, amount(&received), "{line}");
    }
}

#[test]
fn a_payment_is_worth_its_share_rounded_down() {
    for (paid, usd, local) in [
        ("0.000309730", "19.90", "2985"),
        ("0.00030972", "19.89", "2984"),
        ("0.00061946", "39.80", "5970"),
    ] {
        let paid_once = vec![payment(&format!("{paid} x0"))];
        let received = invoice().with_payments(paid_once, HEIGHT).received();
        assert_eq!(received.crypto, amount(paid));
        assert_eq!(received.usd.to_string(), usd);
        assert_eq!(received.local.to_string(), local);
    }
}

#[test]
fn each_change_of_status_is_reported_once_and_the_newest_are_kept() {
    use Status::{Checking, Completed, Failed};
    let mut invoice = invoice();
    assert_eq!(invoice.transition(&tip(0), at(0)), None);
    let failed = invoice.transition(&tip(900), at(905));
    assert_eq!(failed, Some((Checking, Failed)));
    assert_eq!(invoice.transition(&tip(901), at(906)), None);
    for second in 907..1000 {
        let paid = if second % 2 == 1 { "all x3" } else { "all x0" };
        invoice = invoice.with_payments(vec![payment(paid)], HEIGHT);
        let changed = invoice.transition(&tip(910), at(second)).unwrap();
        assert_eq!(changed.1 == Completed, second % 2 == 1);
    }
    assert_eq!(invoice.history().len(), MAX_HISTORY);
}

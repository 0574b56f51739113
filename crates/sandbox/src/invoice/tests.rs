use super::*;
use crate::asset::offered;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + second).unwrap()
}

fn amount(text: &str) -> Amount {
    Amount::parse(text).unwrap()
}

/// 0.00030973 BTC for 19.90 USD, 15 minutes.
fn invoice() -> Invoice {
    let text = |text| AmountText::parse(text).unwrap();
    let mut coins = offered(false).into_iter();
    let new = NewInvoice {
        coin: coins.find(|coin| coin.code.as_str() == "BTC").unwrap(),
        terms: Terms {
            crypto: text("0.00030973"),
            usd: text("19.90"),
            local: text("2985"),
        },
        local_currency: Currency::parse("JPY").unwrap(),
        session: None,
    };
    let address = "tb1q".to_owned();
    Invoice::new("inv_1".to_owned(), new, address, String::new(), at(0))
}

fn seen(text: &str, state: TransactionState) -> Transaction {
    Transaction {
        amount: amount(text),
        hash: "ab".to_owned(),
        seen_at: at(60),
        is_followed: false,
        state,
    }
}

fn apply(invoice: &mut Invoice, change: &str) {
    let (word, value) = change.split_once(' ').unwrap_or((change, ""));
    let value = if value == "all" { ALL } else { value };
    let number = || value.parse::<u32>().unwrap();
    match word {
        "pay" => invoice.pay(seen(value, TransactionState::Pending)).unwrap(),
        "stick" => invoice.pay(seen(value, TransactionState::Stuck)).unwrap(),
        "mine" => _ = invoice.add_blocks(number().into()),
        "reorganize" => _ = invoice.add_blocks(-i64::from(number())),
        "bump" => invoice.bump_fee().unwrap(),
        "replace" => drop(invoice.replace().unwrap()),
        "expire" => invoice.expire(at(number().into())).unwrap(),
        "fail" => invoice.fail(),
        _ => panic!("{change}"),
    }
}

const ALL: &str = "0.00030973";

/// The second in which one looks, the status, the confirmations, what arrived, and what happened.
const CASES: &str = "
899 Checking   - 0
900 Failed     - 0
10  Failed     - 0      expire 10, expire 20
900 Checking   - all    pay all
60  Processing 1 all    pay all, mine 1
60  Processing 2 all    pay all, mine 2
60  Completed  3 all    pay all, mine 3
20  Checking   - all    expire 10, pay all
60  Processing 2 all    pay all, mine 3, reorganize 1
60  Checking   - all    pay all, mine 3, reorganize 5
60  Failed     1 all    pay all, mine 1, fail, mine 9
899 Checking   - all    stick all, mine 9
900 Failed     - all    stick all, mine 9
900 Checking   - all    stick all, bump
900 Completed  3 all    stick all, bump, mine 3
60  Completed  3 0.0002 pay 0.0002, mine 3
60  Processing 0 0.0003 pay 0.0002, mine 3, pay 0.0001
60  Checking   - 0.0002 pay 0.0002, pay 0.0001, replace
900 Failed     - 0      pay all, replace
";

#[test]
fn the_status_follows_from_payments_blocks_and_time() {
    for line in CASES.trim().lines() {
        let mut words = line.split_whitespace();
        let mut word = || words.next().unwrap();
        let (second, status, confirmations) = (word().parse().unwrap(), word(), word());
        let received = word().replace("all", ALL);
        let changes = words.collect::<Vec<_>>().join(" ");
        let mut invoice = invoice();
        for change in changes.split(", ").filter(|change| !change.is_empty()) {
            apply(&mut invoice, change);
        }
        let found = format!("{:?}", invoice.status(at(second)));
        assert_eq!(found, status, "{line}");
        let count: Option<u32> = invoice.confirmations();
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
        let mut invoice = invoice();
        apply(&mut invoice, &format!("pay {paid}"));
        let received = invoice.received();
        assert_eq!(received.crypto, amount(paid));
        assert_eq!(received.usd.to_string(), usd);
        assert_eq!(received.local.to_string(), local);
    }
}

#[test]
fn an_invalid_payment_changes_nothing() {
    let mut invoice = invoice();
    let pending = |text| seen(text, TransactionState::Pending);
    for (text, part) in [
        ("0", "nothing to pay"),
        ("0.000000001", "more decimals than the asset has: 8"),
        ("999999999999.99999999", "no exact value"),
    ] {
        let error = format!("{:?}", invoice.pay(pending(text)).unwrap_err());
        assert!(error.contains(part), "{error}");
        assert_eq!(invoice.received(), Received::NOTHING);
    }
    assert_eq!(invoice.replace(), Err(NO_SUCH_PAYMENT));
    assert_eq!(invoice.bump_fee(), Err(NO_SUCH_PAYMENT));
    for _ in 0..MAX_TRANSACTIONS {
        invoice.pay(pending("0.00000001")).unwrap();
    }
    let error = invoice.pay(pending("0.00000001")).unwrap_err();
    assert!(format!("{error:?}").contains("a hundred payments"));
}

#[test]
fn each_change_of_status_is_reported_once_and_the_newest_are_kept() {
    use Status::{Checking, Completed, Failed};
    let mut invoice = invoice();
    assert_eq!(invoice.transition(at(0)), None);
    assert_eq!(invoice.transition(at(900)), Some((Checking, Failed)));
    assert_eq!(invoice.transition(at(901)), None);
    apply(&mut invoice, "pay 0.0002");
    apply(&mut invoice, "mine 3");
    assert_eq!(invoice.transition(at(902)), Some((Failed, Completed)));
    assert_eq!(invoice.history().len(), 3);
    for second in 903..1000 {
        apply(&mut invoice, "reorganize 3");
        invoice.transition(at(second));
        apply(&mut invoice, "mine 3");
        invoice.transition(at(second));
    }
    assert_eq!(invoice.history().len(), MAX_HISTORY);
}

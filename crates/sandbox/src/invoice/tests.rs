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
        minutes: 15,
        hosted: None,
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

enum Change {
    Pay(&'static str),
    PayStuck(&'static str),
    Mine(u32),
    Reorg(u32),
    BumpFee,
    Replace,
    Expire(i64),
    Fail,
}

fn apply(invoice: &mut Invoice, change: &Change) {
    match change {
        Change::Pay(text) => invoice.pay(seen(text, TransactionState::Pending)).unwrap(),
        Change::PayStuck(text) => invoice.pay(seen(text, TransactionState::Stuck)).unwrap(),
        Change::Mine(blocks) => {
            invoice.mine(*blocks);
        }
        Change::Reorg(blocks) => {
            invoice.reorganize(*blocks);
        }
        Change::BumpFee => invoice.bump_fee().unwrap(),
        Change::Replace => drop(invoice.replace().unwrap()),
        Change::Expire(second) => invoice.expire(at(*second)).unwrap(),
        Change::Fail => invoice.fail(),
    }
}

/// What happened, the second in which one looks, the status, the confirmations, and what arrived.
type Case<'a> = (&'a [Change], i64, Status, Option<u32>, &'static str);

#[test]
fn the_status_follows_from_payments_blocks_and_time() {
    use Change::{BumpFee, Expire, Fail, Mine, Pay, PayStuck, Reorg, Replace};
    use Status::{Checking, Completed, Failed, Processing};
    const ALL: &str = "0.00030973";
    let cases: &[Case<'_>] = &[
        (&[], 899, Checking, None, "0"),
        (&[], 900, Failed, None, "0"),
        (&[Expire(10), Expire(20)], 10, Failed, None, "0"),
        (&[Pay(ALL)], 900, Checking, None, ALL),
        (&[Pay(ALL), Mine(1)], 60, Processing, Some(1), ALL),
        (&[Pay(ALL), Mine(2)], 60, Processing, Some(2), ALL),
        (&[Pay(ALL), Mine(3)], 60, Completed, Some(3), ALL),
        (&[Expire(10), Pay(ALL)], 20, Checking, None, ALL),
        (&[Pay(ALL), Mine(3), Reorg(1)], 60, Processing, Some(2), ALL),
        (&[Pay(ALL), Mine(3), Reorg(5)], 60, Checking, None, ALL),
        (
            &[Pay(ALL), Mine(1), Fail, Mine(9)],
            60,
            Failed,
            Some(1),
            ALL,
        ),
        (&[PayStuck(ALL), Mine(9)], 899, Checking, None, ALL),
        (&[PayStuck(ALL), Mine(9)], 900, Failed, None, ALL),
        (&[PayStuck(ALL), BumpFee], 900, Checking, None, ALL),
        (
            &[PayStuck(ALL), BumpFee, Mine(3)],
            900,
            Completed,
            Some(3),
            ALL,
        ),
        (&[Pay("0.0002"), Mine(3)], 60, Completed, Some(3), "0.0002"),
        (
            &[Pay("0.0002"), Mine(3), Pay("0.0001")],
            60,
            Processing,
            Some(0),
            "0.0003",
        ),
        (
            &[Pay("0.0002"), Pay("0.0001"), Replace],
            60,
            Checking,
            None,
            "0.0002",
        ),
        (&[Pay(ALL), Replace], 900, Failed, None, "0"),
    ];
    for (index, (changes, second, status, confirmations, received)) in cases.iter().enumerate() {
        let mut invoice = invoice();
        for change in *changes {
            apply(&mut invoice, change);
        }
        let found = (invoice.status(at(*second)), invoice.confirmations());
        assert_eq!(found, (*status, *confirmations), "case {index}");
        assert_eq!(invoice.received().crypto, amount(received), "case {index}");
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
        apply(&mut invoice, &Change::Pay(paid));
        let received = invoice.received();
        assert_eq!(received.crypto, amount(paid));
        assert_eq!(received.usd.to_string(), usd);
        assert_eq!(received.local.to_string(), local);
    }
}

#[test]
fn an_invalid_change_is_rejected_and_changes_nothing() {
    let mut invoice = invoice();
    let pending = |text| seen(text, TransactionState::Pending);
    for (text, error) in [
        ("0", InvoiceError::ZeroAmount),
        ("0.000000001", InvoiceError::TooManyDecimals { decimals: 8 }),
        (
            "999999999999.99999999",
            InvoiceError::Overflow(AmountError::TooLarge),
        ),
    ] {
        assert_eq!(invoice.pay(pending(text)), Err(error));
    }
    assert_eq!(invoice.received(), Received::NOTHING);
    assert_eq!(invoice.replace(), Err(InvoiceError::NoSuchPayment));
    assert_eq!(invoice.bump_fee(), Err(InvoiceError::NoSuchPayment));
    for _ in 0..100 {
        invoice.pay(pending("0.00000001")).unwrap();
    }
    let more = invoice.pay(pending("0.00000001"));
    assert_eq!(more, Err(InvoiceError::TooManyPayments));
    assert_eq!(invoice.expire(at(30)), Err(InvoiceError::HasPayment));
    invoice.fail();
    assert_eq!(invoice.pay(pending("1")), Err(InvoiceError::HasFailed));
}

#[test]
fn each_change_of_status_is_reported_once_and_the_newest_are_kept() {
    use Status::{Checking, Completed, Failed};
    let mut invoice = invoice();
    assert_eq!(invoice.transition(at(0)), None);
    assert_eq!(invoice.transition(at(900)), Some((Checking, Failed)));
    assert_eq!(invoice.transition(at(901)), None);
    apply(&mut invoice, &Change::Pay("0.0002"));
    apply(&mut invoice, &Change::Mine(3));
    assert_eq!(invoice.transition(at(902)), Some((Failed, Completed)));
    assert_eq!(invoice.history().len(), 3);
    for second in 903..1000 {
        apply(&mut invoice, &Change::Reorg(3));
        invoice.transition(at(second));
        apply(&mut invoice, &Change::Mine(3));
        invoice.transition(at(second));
    }
    assert_eq!(invoice.history().len(), MAX_HISTORY);
}

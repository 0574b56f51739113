use florin_money::AmountText;

use super::*;
use crate::coin::offered;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + second).unwrap()
}

fn amount(text: &str) -> Amount {
    Amount::parse(text).unwrap()
}

/// 0.00030973 BTC for 19.90 USD, 15 minutes.
fn invoice() -> Invoice {
    let text = |text| AmountText::parse(text).unwrap();
    let coin = offered(false)
        .into_iter()
        .find(|coin| coin.code.as_str() == "BTC");
    let opening = Opening {
        id: "inv_1".to_owned(),
        coin: coin.unwrap(),
        terms: Terms {
            crypto: text("0.00030973"),
            usd: text("19.90"),
            local: text("2985"),
        },
        local_currency: Currency::parse("JPY").unwrap(),
        address: "tb1q".to_owned(),
        qr_string: "bitcoin:tb1q".to_owned(),
        expires_at: at(15 * 60),
        email: None,
        hosted: None,
    };
    Invoice::open(opening, at(0))
}

fn seen(text: &str, confirmations: u32) -> Transaction {
    Transaction {
        amount: amount(text),
        hash: "ab".to_owned(),
        seen_at: at(60),
        standing: match confirmations {
            0 => Standing::Waiting,
            count => Standing::InBlock(count),
        },
    }
}

fn paid(text: &str, confirmations: u32) -> Invoice {
    let mut invoice = invoice();
    invoice.pay(seen(text, confirmations)).unwrap();
    invoice
}

#[test]
fn an_invoice_is_checked_until_a_block_holds_the_transaction() {
    assert_eq!(invoice().status(at(0)), Status::Checking);
    let mut invoice = paid("0.00030973", 0);
    assert_eq!(
        (invoice.status(at(60)), invoice.confirmations()),
        (Status::Checking, None)
    );
    for (blocks, status) in [
        (1, Status::Processing),
        (2, Status::Processing),
        (3, Status::Completed),
        (4, Status::Completed),
    ] {
        invoice.mine(1);
        assert_eq!(
            (invoice.status(at(60)), invoice.confirmations()),
            (status, Some(blocks))
        );
    }
}

#[test]
fn an_invoice_fails_when_time_is_up_and_nothing_arrived() {
    assert_eq!(invoice().status(at(899)), Status::Checking);
    assert_eq!(invoice().status(at(900)), Status::Failed);
    assert_eq!(paid("0.00030973", 0).status(at(900)), Status::Checking);
}

#[test]
fn a_late_transaction_revives_an_expired_invoice() {
    let mut invoice = invoice();
    invoice.expire(at(10)).unwrap();
    assert_eq!(invoice.status(at(10)), Status::Failed);
    invoice.pay(seen("0.00030973", 3)).unwrap();
    assert_eq!(invoice.status(at(20)), Status::Completed);
}

#[test]
fn an_invoice_with_a_payment_cannot_run_out() {
    assert_eq!(paid("0.0001", 0).expire(at(10)), Err(Refused::HasPayment));
}

#[test]
fn expiring_twice_keeps_the_first_time() {
    let mut invoice = invoice();
    invoice.expire(at(10)).unwrap();
    invoice.expire(at(20)).unwrap();
    assert_eq!(invoice.expires_at(), at(10));
}

#[test]
fn a_failed_invoice_stays_failed() {
    let mut invoice = paid("0.00030973", 1);
    invoice.fail();
    invoice.mine(10);
    assert_eq!(invoice.status(at(60)), Status::Failed);
    assert_eq!(invoice.confirmations(), Some(1));
    assert_eq!(invoice.pay(seen("1", 0)), Err(Refused::HasFailed));
}

#[test]
fn an_exact_payment_is_worth_exactly_what_was_asked() {
    let received = paid("0.000309730", 0).received();
    assert_eq!(received.crypto.to_string(), "0.00030973");
    assert_eq!(received.usd.to_string(), "19.90");
    assert_eq!(received.local.to_string(), "2985");
}

#[test]
fn a_payment_one_unit_short_is_short_in_every_currency() {
    let received = paid("0.00030972", 0).received();
    assert_eq!(received.crypto.to_string(), "0.00030972");
    assert_eq!(received.usd.to_string(), "19.89");
    assert_eq!(received.local.to_string(), "2984");
}

#[test]
fn more_than_was_asked_is_worth_more() {
    let received = paid("0.00061946", 0).received();
    assert_eq!(received.usd.to_string(), "39.80");
    assert_eq!(received.local.to_string(), "5970");
}

#[test]
fn a_top_up_is_processed_and_completes_with_the_sum() {
    let mut invoice = paid("0.0002", 3);
    assert_eq!(invoice.status(at(60)), Status::Completed);
    assert_eq!(invoice.remaining(), amount("0.00010973"));
    invoice.pay(seen("0.00010973", 0)).unwrap();
    assert_eq!(
        (invoice.status(at(60)), invoice.confirmations()),
        (Status::Processing, Some(0))
    );
    invoice.mine(3);
    assert_eq!(invoice.status(at(60)), Status::Completed);
    assert_eq!(invoice.received().usd.to_string(), "19.90");
    assert_eq!(invoice.remaining(), Amount::ZERO);
}

#[test]
fn an_impossible_payment_is_refused_and_changes_nothing() {
    let mut invoice = invoice();
    assert_eq!(invoice.pay(seen("0", 0)), Err(Refused::Nothing));
    let fine = invoice.pay(seen("0.000000001", 0));
    assert_eq!(fine, Err(Refused::TooFine { decimals: 8 }));
    let huge = invoice.pay(seen("999999999999.99999999", 0));
    assert_eq!(huge, Err(Refused::Incalculable(AmountError::TooLarge)));
    assert_eq!(invoice.received(), Received::NOTHING);
    assert_eq!(invoice.status(at(0)), Status::Checking);
}

#[test]
fn each_end_is_announced_once() {
    let mut invoice = invoice();
    assert_eq!(invoice.announce(at(0)), None);
    assert_eq!(invoice.announce(at(900)), Some(Final::Failed));
    assert_eq!(invoice.announce(at(901)), None);
    invoice.pay(seen("0.0002", 3)).unwrap();
    assert_eq!(invoice.announce(at(902)), Some(Final::Completed));
    assert_eq!(invoice.announce(at(903)), None);
}

#[test]
fn completing_after_a_top_up_is_announced_again() {
    let mut invoice = paid("0.0002", 3);
    assert_eq!(invoice.announce(at(60)), Some(Final::Completed));
    invoice.pay(seen("0.0001", 0)).unwrap();
    assert_eq!(invoice.announce(at(61)), None);
    invoice.mine(3);
    assert_eq!(invoice.announce(at(62)), Some(Final::Completed));
}

#[test]
fn a_low_fee_waits_and_fails_when_time_is_up_until_it_is_raised() {
    let mut invoice = invoice();
    let stuck = Transaction {
        standing: Standing::Stuck,
        ..seen("0.00030973", 0)
    };
    invoice.pay(stuck).unwrap();
    assert!(!invoice.mine(10));
    assert_eq!(invoice.status(at(899)), Status::Checking);
    assert_eq!(invoice.status(at(900)), Status::Failed);
    invoice.unstick().unwrap();
    assert_eq!(invoice.status(at(900)), Status::Checking);
    invoice.mine(3);
    assert_eq!(invoice.status(at(900)), Status::Completed);
    assert_eq!(invoice.unstick(), Err(Refused::NoSuchPayment));
}

#[test]
fn a_reorg_takes_confirmations_back_as_deep_as_it_goes() {
    let mut invoice = paid("0.00030973", 3);
    invoice.reorganize(1);
    assert_eq!(
        (invoice.status(at(60)), invoice.confirmations()),
        (Status::Processing, Some(2))
    );
    invoice.reorganize(5);
    assert_eq!(
        (invoice.status(at(60)), invoice.confirmations()),
        (Status::Checking, None)
    );
    assert_eq!(invoice.received().crypto, amount("0.00030973"));
}

#[test]
fn a_replaced_payment_never_was() {
    let mut invoice = paid("0.0001", 3);
    invoice.pay(seen("0.00020973", 3)).unwrap();
    invoice.replace().unwrap();
    assert_eq!(invoice.received().crypto, amount("0.0001"));
    assert_eq!(invoice.status(at(900)), Status::Completed);
    invoice.replace().unwrap();
    assert_eq!(invoice.received(), Received::NOTHING);
    assert_eq!(invoice.status(at(900)), Status::Failed);
    assert_eq!(invoice.replace(), Err(Refused::NoSuchPayment));
}

#[test]
fn a_hundred_payments_are_enough() {
    let mut invoice = invoice();
    for _ in 0..100 {
        invoice.pay(seen("0.00000001", 0)).unwrap();
    }
    assert_eq!(invoice.pay(seen("0.00000001", 0)), Err(Refused::TooMany));
}

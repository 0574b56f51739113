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

fn seen(text: &str, confirmations: u32) -> Transaction {
    Transaction {
        amount: amount(text),
        hash: "ab".to_owned(),
        seen_at: at(60),
        is_followed: false,
        state: match confirmations {
            0 => TransactionState::Pending,
            count => TransactionState::Confirmed(count),
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
fn an_invoice_expires_without_a_payment_and_a_late_one_revives_it() {
    let mut invoice = invoice();
    assert_eq!(invoice.status(at(899)), Status::Checking);
    assert_eq!(invoice.status(at(900)), Status::Failed);
    invoice.expire(at(10)).unwrap();
    invoice.expire(at(20)).unwrap();
    assert_eq!(invoice.expires_at, at(10));
    assert_eq!(invoice.status(at(10)), Status::Failed);
    invoice.pay(seen("0.00030973", 0)).unwrap();
    assert_eq!(invoice.status(at(20)), Status::Checking);
    assert_eq!(invoice.expire(at(30)), Err(InvoiceError::HasPayment));
    invoice.mine(3);
    assert_eq!(invoice.status(at(900)), Status::Completed);
}

#[test]
fn a_payment_is_worth_its_share_rounded_down() {
    for (paid_amount, usd, local) in [
        ("0.000309730", "19.90", "2985"),
        ("0.00030972", "19.89", "2984"),
        ("0.00061946", "39.80", "5970"),
    ] {
        let received = paid(paid_amount, 0).received();
        assert_eq!(received.crypto, amount(paid_amount));
        assert_eq!(received.usd.to_string(), usd);
        assert_eq!(received.local.to_string(), local);
    }
    let exact = paid("0.000309730", 0).received();
    assert_eq!(exact.crypto.to_string(), "0.00030973", "as it was written");
}

#[test]
fn a_failed_invoice_stays_failed() {
    let mut invoice = paid("0.00030973", 1);
    invoice.fail();
    invoice.mine(10);
    assert_eq!(invoice.status(at(60)), Status::Failed);
    assert_eq!(invoice.confirmations(), Some(1));
    assert_eq!(invoice.pay(seen("1", 0)), Err(InvoiceError::HasFailed));
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
fn an_invalid_payment_is_rejected_and_changes_nothing() {
    let mut invoice = invoice();
    assert_eq!(invoice.pay(seen("0", 0)), Err(InvoiceError::ZeroAmount));
    let fine = invoice.pay(seen("0.000000001", 0));
    assert_eq!(fine, Err(InvoiceError::TooManyDecimals { decimals: 8 }));
    let huge = invoice.pay(seen("999999999999.99999999", 0));
    assert_eq!(huge, Err(InvoiceError::Overflow(AmountError::TooLarge)));
    assert_eq!(invoice.received(), Received::NOTHING);
    assert_eq!(invoice.status(at(0)), Status::Checking);
}

#[test]
fn each_change_of_status_is_reported_once() {
    use Status::{Checking, Completed, Failed, Processing};
    let mut invoice = invoice();
    assert_eq!(invoice.transition(at(0)), None);
    assert_eq!(invoice.transition(at(900)), Some((Checking, Failed)));
    assert_eq!(invoice.transition(at(901)), None);
    invoice.pay(seen("0.0002", 3)).unwrap();
    assert_eq!(invoice.transition(at(902)), Some((Failed, Completed)));
    assert_eq!(invoice.transition(at(903)), None);
    invoice.pay(seen("0.0001", 0)).unwrap();
    assert_eq!(invoice.transition(at(904)), Some((Completed, Processing)));
    invoice.mine(3);
    assert_eq!(invoice.transition(at(905)), Some((Processing, Completed)));
    assert_eq!(invoice.history().len(), 5);
}

#[test]
fn the_history_is_bounded() {
    let mut invoice = paid("0.0002", 3);
    for second in 0..100 {
        invoice.reorganize(3);
        invoice.transition(at(second));
        invoice.mine(3);
        invoice.transition(at(second));
    }
    assert_eq!(invoice.history().len(), MAX_HISTORY);
}

#[test]
fn a_low_fee_is_pending_and_fails_at_expiry_until_it_is_raised() {
    let mut invoice = invoice();
    let stuck = Transaction {
        state: TransactionState::Stuck,
        ..seen("0.00030973", 0)
    };
    invoice.pay(stuck).unwrap();
    assert!(!invoice.mine(10));
    assert_eq!(invoice.status(at(899)), Status::Checking);
    assert_eq!(invoice.status(at(900)), Status::Failed);
    invoice.bump_fee().unwrap();
    assert_eq!(invoice.status(at(900)), Status::Checking);
    invoice.mine(3);
    assert_eq!(invoice.status(at(900)), Status::Completed);
    assert_eq!(invoice.bump_fee(), Err(InvoiceError::NoSuchPayment));
}

#[test]
fn a_reorg_removes_confirmations_down_to_its_depth() {
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
fn a_replaced_payment_does_not_count() {
    let mut invoice = paid("0.0001", 3);
    invoice.pay(seen("0.00020973", 3)).unwrap();
    invoice.replace().unwrap();
    assert_eq!(invoice.received().crypto, amount("0.0001"));
    assert_eq!(invoice.status(at(900)), Status::Completed);
    invoice.replace().unwrap();
    assert_eq!(invoice.received(), Received::NOTHING);
    assert_eq!(invoice.status(at(900)), Status::Failed);
    assert_eq!(invoice.replace(), Err(InvoiceError::NoSuchPayment));
}

#[test]
fn a_hundred_payments_are_the_limit() {
    let mut invoice = invoice();
    for _ in 0..100 {
        invoice.pay(seen("0.00000001", 0)).unwrap();
    }
    assert_eq!(
        invoice.pay(seen("0.00000001", 0)),
        Err(InvoiceError::TooManyPayments)
    );
}

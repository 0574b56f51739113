//! One order of 19.90 dollars, one attempt at it in Bitcoin, and observations of it.

#![expect(
    clippy::unwrap_used,
    reason = "a fixture that does not parse is a broken test"
)]

pub mod life;

use florin_money::{Amount, CryptoCode, Currency};
use jiff::{SignedDuration, Timestamp};
use url::Url;

use crate::{
    Amounts, Attempt, AttemptId, AttemptState, CustomTerms, Destination, Flow, Invoice, InvoiceId,
    InvoiceTerms, NewAttempt, NewOrder, Observation, Order, OrderId, OrderStatus, PriceSource,
    QuotedAmounts, Reference, StoreId,
};

pub const ADDRESS: &str = "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx";

pub fn amount(text: &str) -> Amount {
    Amount::parse(text).unwrap()
}

/// A time in seconds since 1970.
pub fn at(seconds: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds)
}

pub fn terms(reference: &str) -> NewOrder {
    NewOrder {
        store_id: StoreId::parse("demo").unwrap(),
        reference: Reference::parse(reference).unwrap(),
        amount: amount("19.90"),
        currency: Currency::USD,
        price_source: PriceSource::Catalogue,
        title: "An e-book".into(),
        lines: Vec::new(),
        customer_email: None,
        return_url: None,
        cancel_url: None,
        metadata: serde_json::Map::new(),
        assets: Vec::new(),
        flow: Flow::Custom,
        tolerance: Amount::ZERO,
        expires_at: at(86_400),
        traceparent: None,
    }
}

pub fn requested() -> QuotedAmounts {
    let amounts = Amounts {
        crypto: amount("0.00030973"),
        usd: amount("19.90"),
        local: amount("19.90"),
    };
    QuotedAmounts {
        amounts,
        local_currency: Currency::USD,
    }
}

pub fn new_attempt(number: u8) -> NewAttempt {
    NewAttempt {
        id: AttemptId::from_random([number; 16]),
        invoice: InvoiceTerms::Custom(CustomTerms {
            crypto_code: CryptoCode::parse("BTC").unwrap(),
            conversion_id: "conv".into(),
            requested: requested(),
        }),
    }
}

pub fn invoice(number: u8) -> Invoice {
    let destination = Destination::Address {
        address: ADDRESS.into(),
        qr_string: format!("bitcoin:{ADDRESS}?amount=0.00030973"),
        warnings: vec!["Send only BTC.".into()],
    };
    let id = InvoiceId::parse(&format!("inv_{number}")).unwrap();
    Invoice::opened(id, destination, at(0), at(900))
}

pub fn order(status: OrderStatus) -> Order {
    Order {
        id: OrderId::from_random([9; 16]),
        terms: terms("r1"),
        status,
        current_attempt: Some(AttemptId::from_random([1; 16])),
        sequence: 2,
        version: 2,
        created_at: at(0),
        settled_at: None,
        reverted: None,
        cancelled_at: None,
        has_money: false,
        late_payment: None,
        decision: None,
        receipt_email: None,
        late_crypto_code: None,
        refund_address: None,
        refunds: Vec::new(),
    }
}

pub fn attempt(number: u8) -> Attempt {
    Attempt {
        order_id: OrderId::from_random([9; 16]),
        terms: new_attempt(number),
        begun_at: at(0),
        state: AttemptState::Open(Box::new(invoice(number))),
    }
}

/// The invoice of an open attempt.
pub fn invoice_of(attempt: &mut Attempt) -> &mut Invoice {
    let AttemptState::Open(invoice) = &mut attempt.state else {
        panic!("the attempt holds an invoice")
    };
    invoice
}

/// A session on the gateway's page for the same order.
pub fn hosted(number: u8) -> Attempt {
    let url = Url::parse(&format!("https://checkout.example/?id=inv_{number}")).unwrap();
    let id = InvoiceId::parse(&format!("inv_{number}")).unwrap();
    let invoice = Invoice::opened(id, Destination::Page { url }, at(0), at(3600));
    Attempt {
        terms: NewAttempt {
            invoice: InvoiceTerms::Hosted,
            ..new_attempt(number)
        },
        state: AttemptState::Open(Box::new(invoice)),
        ..attempt(number)
    }
}

/// An observation ten seconds after the invoice was opened.
pub fn observed(status: &str) -> Observation {
    let some = |text: &str| Some(text.to_owned());
    Observation {
        observed_at: at(10),
        raw: format!("{{\"data\":{{\"transaction_status\":\"{status}\"}}}}"),
        is_known: true,
        invoice_id: some("inv_1"),
        status: some(status),
        requested: Amounts {
            crypto: some("0.00030973"),
            usd: some("19.90"),
            local: some("19.90"),
        },
        received: Amounts {
            crypto: some("0"),
            usd: some("0"),
            local: some("0"),
        },
        local_currency: some("USD"),
        crypto_code: some("BTC"),
        address: some(ADDRESS),
        confirmations: some(""),
        transaction_hash: some(""),
    }
}

/// An observation with received amounts: in the asset, in dollars, in local currency.
pub fn received(status: &str, crypto: &str, usd: &str, local: &str) -> Observation {
    let some = |text: &str| Some(text.to_owned());
    Observation {
        received: Amounts {
            crypto: some(crypto),
            usd: some(usd),
            local: some(local),
        },
        confirmations: some("1/3"),
        transaction_hash: some("cafe"),
        ..observed(status)
    }
}

pub fn exact(status: &str) -> Observation {
    received(status, "0.00030973", "19.90", "19.90")
}

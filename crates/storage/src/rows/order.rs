//! Orders and attempts.

use florin_money::{Amount, CryptoCode, Currency};
use florin_orders::{
    Aggregate, Amounts, Attempt, AttemptId, AttemptState, CustomTerms, Destination, FinalDecision,
    Flow, Invoice, InvoiceId, InvoiceTerms, NewAttempt, NewOrder, Order, OrderId, Progress,
    QuotedAmounts, Reference, Reverted, StoreId, TraceParent, TransactionHint,
};
use url::Url;

use super::{Record, read, word};
use crate::Result;

const REQUESTED: [&str; 3] = ["requested_crypto", "requested_usd", "requested_local"];

const RECEIVED: [&str; 3] = ["received_crypto", "received_usd", "received_local"];

fn amounts(row: &impl Record, [crypto, usd, local]: [&str; 3]) -> Result<Amounts<Amount>> {
    Ok(Amounts {
        crypto: row.parsed(crypto, Amount::parse)?,
        usd: row.parsed(usd, Amount::parse)?,
        local: row.parsed(local, Amount::parse)?,
    })
}

pub(crate) fn order(row: &impl Record) -> Result<Order> {
    let assets = row.text("assets")?.split_ascii_whitespace();
    let assets = assets.map(CryptoCode::parse).collect();
    let terms = NewOrder {
        store_id: row.parsed("store_id", StoreId::parse)?,
        reference: row.parsed("reference", Reference::parse)?,
        amount: row.parsed("amount", Amount::parse)?,
        currency: row.parsed("currency", Currency::parse_stored)?,
        price_source: row.word("price_source")?,
        title: row.string("title")?,
        lines: row.parsed("lines", serde_json::from_str)?,
        customer_email: row.maybe_string("customer_email")?,
        return_url: row.maybe_string("return_url")?,
        cancel_url: row.maybe_string("cancel_url")?,
        metadata: row.parsed("metadata", serde_json::from_str)?,
        assets: read("assets", assets)?,
        flow: row.word("flow")?,
        tolerance: row.parsed("tolerance", Amount::parse)?,
        expires_at: row.time("expires_at")?,
        traceparent: traceparent(row)?,
    };
    Ok(Order {
        id: row.parsed("id", OrderId::parse)?,
        terms,
        status: row.word("status")?,
        current_attempt: row.maybe_parsed("current_attempt", AttemptId::parse)?,
        sequence: row.number("sequence")?,
        version: row.number("version")?,
        created_at: row.time("created_at")?,
        settled_at: row.maybe_time("settled_at")?,
        reverted: reverted(row)?,
        cancelled_at: row.maybe_time("cancelled_at")?,
        has_money: row.flag("has_money")?,
        late_payment: row.maybe_word("late_payment")?,
        decision: decision(row)?,
        receipt_email: row.maybe_string("receipt_email")?,
        late_crypto_code: row.maybe_parsed("late_crypto_code", CryptoCode::parse)?,
        refund_address: row.maybe_string("refund_address")?,
        // In separate rows.
        refunds: Vec::new(),
    })
}

/// The trace of an order, beside whatever else a row has.
pub(crate) fn traceparent(row: &impl Record) -> Result<Option<TraceParent>> {
    row.maybe_parsed("traceparent", TraceParent::parse)
}

pub(crate) fn aggregate(row: &impl Record, attempts: &[impl Record]) -> Result<Aggregate> {
    Ok(Aggregate {
        order: order(row)?,
        attempts: attempts.iter().map(attempt).collect::<Result<_, _>>()?,
        late_event_at: row.maybe_time("late_event_at")?,
        attention_since: row.maybe_time("attention_since")?,
    })
}

fn decision(row: &impl Record) -> Result<Option<FinalDecision>> {
    let Some(at) = row.maybe_time("decided_at")? else {
        return Ok(None);
    };
    let outcome = row.word("decision")?;
    Ok(Some(FinalDecision { outcome, at }))
}

fn reverted(row: &impl Record) -> Result<Option<Reverted>> {
    let Some(at) = row.maybe_time("reverted_at")? else {
        return Ok(None);
    };
    let payment_state = row.word("reverted_to")?;
    Ok(Some(Reverted { at, payment_state }))
}

pub(crate) fn attempt(row: &impl Record) -> Result<Attempt> {
    let terms = NewAttempt {
        id: row.parsed("id", AttemptId::parse)?,
        invoice: match row.word("flow")? {
            Flow::Custom => InvoiceTerms::Custom(custom_terms(row)?),
            Flow::Hosted => InvoiceTerms::Hosted,
        },
    };
    let state = match row.text("state")? {
        "creating" => AttemptState::Creating,
        "open" => AttemptState::Open(Box::new(invoice(row)?)),
        reason => AttemptState::Abandoned(word(reason)?),
    };
    Ok(Attempt {
        order_id: row.parsed("order_id", OrderId::parse)?,
        terms,
        begun_at: row.time("begun_at")?,
        state,
    })
}

fn custom_terms(row: &impl Record) -> Result<CustomTerms> {
    Ok(CustomTerms {
        crypto_code: row.parsed("crypto_code", CryptoCode::parse)?,
        conversion_id: row.string("conversion_id")?,
        requested: QuotedAmounts {
            amounts: amounts(row, REQUESTED)?,
            local_currency: row.parsed("local_currency", Currency::parse_stored)?,
        },
    })
}

fn destination(row: &impl Record) -> Result<Destination> {
    if let Some(url) = row.maybe_parsed("page_url", Url::parse)? {
        return Ok(Destination::Page { url });
    }
    Ok(Destination::Address {
        address: row.string("address")?,
        qr_string: row.string("qr_string")?,
        warnings: row.parsed("warnings", serde_json::from_str)?,
    })
}

fn invoice(row: &impl Record) -> Result<Invoice> {
    let count = row.maybe_number("confirmations")?;
    let required = row.maybe_number("confirmations_required")?;
    Ok(Invoice {
        id: row.parsed("invoice_id", InvoiceId::parse)?,
        destination: destination(row)?,
        opened_at: row.time("opened_at")?,
        expires_at: row.time("expires_at")?,
        marked_as_paid_at: row.maybe_time("marked_as_paid_at")?,
        transaction_hint: row.maybe_parsed("transaction_hint", TransactionHint::parse)?,
        payment_state: row.word("payment_state")?,
        state_since: row.time("state_since")?,
        progress: Progress {
            received: amounts(row, RECEIVED)?,
            confirmations: count.zip(required),
            transaction_hash: row.maybe_string("transaction_hash")?,
            paid_in: row.maybe_parsed("paid_in", CryptoCode::parse)?,
        },
        was_seen: row.flag("was_detected")?,
        late_amount_notified: row.maybe_parsed("late_amount_notified", Amount::parse)?,
        needs_review: row.flag("needs_review")?,
        observed_at: row.maybe_time("observed_at")?,
        next_poll_at: row.maybe_time("next_poll_at")?,
    })
}
